"""The clock of the benchmarks."""

import time

import numpy as np


def timed(f):
    """Return ``f()`` and its seconds."""
    start = time.perf_counter()
    result = f()
    return result, time.perf_counter() - start


class Fastest(dict):
    """Seconds of the fastest of several calls, by key."""

    def time(self, key, f):
        """Return ``f()``; keep its seconds if no call under this key was faster."""
        result, seconds = timed(f)
        self.add(key, seconds)
        return result

    def add(self, key, seconds):
        """Keep seconds that were measured elsewhere, if none under this key are fewer."""
        self[key] = min(seconds, self.get(key, np.inf))


def fit_and_predict(repeats, makers, X, y, X_test):
    """Best seconds of fits and predictions, and the predictions, of models that take turns.

    `makers` are functions without arguments that make a model, by name. Returns a dictionary of
    "fit" and "predict" by name, and the last predictions by name.
    """
    fits, predicts, predicted = Fastest(), Fastest(), {}
    for _ in range(repeats):
        for name, make in makers.items():
            model = make()
            fits.time(name, lambda: model.fit(X, y))
            predicted[name] = predicts.time(name, lambda: model.predict(X_test))
    return {name: {"fit": fits[name], "predict": predicts[name]} for name in makers}, predicted
