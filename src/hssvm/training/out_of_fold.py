"""Out-of-fold decision values: an honest test score without a test set.

Besides the model of all rows, a tree trains one model per fold without the rows of the fold: a few
more columns of the same solves. The decision value of a row from the model that has not seen it is
a by-product of the solver. The tree itself depends on the features of all rows, but not on y.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems import Problem
from hssvm.solvers import Solution


def assign_folds(n_rows: int, n_folds: int, seed: int) -> NDArray[np.int64]:
    """Assign rows at random to folds of equal size; the same for all trees."""
    return np.random.default_rng([seed, n_folds]).permutation(n_rows) % n_folds


def with_folds(problem: Problem, fold: NDArray[np.int64], n_folds: int) -> Problem:
    """Return the problem with all rows, followed by the problems without each fold."""
    without_fold = fold[:, None] == np.arange(n_folds)
    return problem.excluding(np.column_stack([np.zeros(problem.n, bool), without_fold]))


def decisions_without_fold(solution: Solution, fold: NDArray[np.int64], k: int) -> Floats:
    """Decision values (n, k), each from the model without the fold of the row."""
    columns = k * (1 + fold[:, None]) + np.arange(k)
    values = np.take_along_axis(solution.F, columns, axis=1)
    return values + solution.intercept[columns].astype(values.dtype)
