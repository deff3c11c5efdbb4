"""LightGBM with parameters searched by Optuna in a given time."""

import time
from importlib import import_module

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.tables.data import CLASSIFICATION

MAX_TREES, PATIENCE = 2000, 50
DEFAULTS = {
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 20,
    "colsample_bytree": 1.0,
    "subsample": 1.0,
    "reg_alpha": 1e-8,
    "reg_lambda": 1e-8,
}


class SearchedLightGBM:
    """The best trial on a held-out fifth of the rows, trained again on all of them.

    The first trial has the defaults. Every trial adds trees until its loss on the held-out rows has
    not fallen for 50 of them, or only the time for the last training is left.

    Parameters
    ----------
    task : str
    split : int
        Seed of the sampler and of the held-out rows.
    n_threads : int
    seconds : float
        Time limit of `fit`.

    Attributes
    ----------
    n_trials_ : int
    """

    def __init__(self, task, split, n_threads, seconds):
        self.task, self.split, self.n_threads, self.seconds = task, split, n_threads, seconds

    def fit(self, X, y):
        """Search, and train on all rows."""
        end = time.perf_counter() + self.seconds
        optuna = import_module("optuna")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=self.split))
        study.enqueue_trial(DEFAULTS)
        frequent = self.task == CLASSIFICATION and np.bincount(y).min() > 1
        rows = train_test_split(
            X, y, test_size=0.2, random_state=self.split, stratify=y if frequent else None
        )
        last_training = 0.0
        while not study.trials or time.perf_counter() < end - last_training:
            self._run(study.ask(suggestions(optuna)), study, rows, end - last_training)
            last_training = study.best_trial.user_attrs["last_training"]
        self.n_trials_ = len(study.trials)
        best = study.best_trial
        self.model = self._model(best.user_attrs["n_trees"], **best.params).fit(X, y)
        return self

    def _run(self, trial, study, rows, end):
        """Fit a trial on four fifths, and tell the study its loss."""
        X, X_held_out, y, y_held_out = rows
        start = time.perf_counter()
        model = self._model(MAX_TREES, **trial.params)
        early = import_module("lightgbm").early_stopping(PATIENCE, verbose=False)
        held_out = [(X_held_out, y_held_out)]
        model.fit(X, y, eval_set=held_out, callbacks=[early, stop_at(end)])
        seconds = time.perf_counter() - start
        trial.set_user_attr("n_trees", model.best_iteration_)
        trial.set_user_attr("last_training", 1.25 * seconds)
        (losses,) = model.best_score_.values()
        study.tell(trial, next(iter(losses.values())))

    def _model(self, n_trees, **parameters):
        lightgbm = import_module("lightgbm")
        make = lightgbm.LGBMClassifier if self.task == CLASSIFICATION else lightgbm.LGBMRegressor
        return make(
            n_estimators=n_trees,
            subsample_freq=1,
            n_jobs=self.n_threads,
            random_state=self.split,
            verbose=-1,
            **parameters,
        )

    def predict(self, X):
        """Return classes or values."""
        return self.model.predict(X)

    def predict_proba(self, X):
        """Return (n, n_classes)."""
        return self.model.predict_proba(X)


def suggestions(optuna):
    """The distributions of the parameters."""
    real, whole = optuna.distributions.FloatDistribution, optuna.distributions.IntDistribution
    return {
        "learning_rate": real(0.01, 0.3, log=True),
        "num_leaves": whole(4, 256, log=True),
        "min_child_samples": whole(1, 100, log=True),
        "colsample_bytree": real(0.4, 1.0),
        "subsample": real(0.4, 1.0),
        "reg_alpha": real(1e-8, 10.0, log=True),
        "reg_lambda": real(1e-8, 10.0, log=True),
    }


def stop_at(end):
    """Return a callback of LightGBM that adds no further tree when the time is over."""

    def stop(state):
        if time.perf_counter() > end:
            exception = import_module("lightgbm").callback.EarlyStopException
            raise exception(state.iteration, state.evaluation_result_list)

    return stop
