"""Fits and predictions over and over: the resident size must not grow once everything was used."""

import gc
import resource
import sys
from pathlib import Path

import numpy as np

from hssvm import SVC, SVR, OneClassSVM
from hssvm.training import config
from soak_parts import Outcome, finish, start_part
from soak_parts.models import draw_estimator, draw_rows, fit

N_CASES, N_ROUNDS = 5, 24
MAX_GROWTH = 2**23
"""Number of bytes by which the resident size may grow after the first third of the rounds."""
MAX_SECONDS = 600


def run(seed, folder, seconds, n_cases=N_CASES, n_rounds=N_ROUNDS):
    """Fit and predict some cases by turns; the number of outcomes is that of fits."""
    ended = finish(start_part("memory", seed, n_cases, n_rounds), MAX_SECONDS)
    if ended.code != 0:
        return Outcome(0, [str(ended)])
    growth = int(ended.out)
    findings = [f"grew by {growth / 2**20:.1f} MiB"] if growth > MAX_GROWTH else []
    return Outcome(n_cases * n_rounds, findings)


def main(seed, n_cases, n_rounds):
    """Run in the child: print the growth in bytes."""
    config.EXACT_ROWS = 0  # compress few rows too
    cases = [draw_case(np.random.default_rng([seed, number]), number) for number in range(n_cases)]
    sizes = []
    for _ in range(n_rounds):
        for model, X, y in cases:
            fit(model, X, y).predict(X)
        gc.collect()
        sizes.append(resident_size())
    print(max(sizes[-3:]) - max(sizes[: n_rounds // 3]))


def draw_case(rng, number):
    """An estimator and its rows."""
    model = draw_estimator(rng)
    if number < 3:  # the most used ones, as they come
        model = [SVC, SVR, OneClassSVM][number](refine=bool(rng.integers(2)), random_state=0)
    return model, *draw_rows(rng, int(rng.integers(100, 1200)))


def resident_size():
    """Bytes of memory that the process has at present."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
