"""Out-of-fold decision values: an honest test score without a test set.

Besides the model of all rows, a fit trains models that each leave out a fold. The decision value of
a row from the model that has not seen it is a by-product of the solver. On the compressed kernel,
these models are a few more columns of the same solves, in every tree; the tree depends on the
features of all rows, but not on y. `hssvm.training.routes.exact.folds` is for the exact kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems import Problem
from hssvm.training.plan import FOLDS


def assign_folds(strata: NDArray[np.int64], seed: int, rank: int = 0) -> NDArray[np.int64]:
    """Assign rows at random to folds, (n,); each has an equal share of every stratum.

    The first fold has a row of every stratum. Rows that are alone in their stratum, on this rank,
    belong to no fold, -1.
    """
    order = np.random.default_rng([seed + rank, FOLDS]).permutation(strata.size)
    order = order[np.argsort(strata[order], kind="stable")]
    sizes = np.bincount(strata)
    begins = np.cumsum(sizes) - sizes
    fold = np.empty(strata.size, np.int64)
    fold[order] = (np.arange(strata.size) - begins[strata[order]]) % FOLDS
    fold[sizes[strata] == 1] = -1
    return fold


def with_folds(problem: Problem, fold: NDArray[np.int64], n_folds: int) -> Problem:
    """Return the problem with all rows, followed by problems without each of the first folds."""
    without_fold = fold[:, None] == np.arange(n_folds)
    return problem.excluding(np.column_stack([np.zeros(problem.n, bool), without_fold]))


def decisions_without_fold(
    F: Floats, intercept: NDArray[np.float64], fold: NDArray[np.int64], k: int
) -> Floats:
    """Decision values (n, k), each from the model without the fold of the row.

    Parameters
    ----------
    F : (n, n_folds * k)
    intercept : (n_folds * k,)
    fold : (n,) int64
        NaN is returned for rows of other folds.
    k : int
    """
    held_out = (fold >= 0) & (fold * k < intercept.size)
    columns = k * np.where(held_out, fold, 0)[:, None] + np.arange(k)
    values = np.take_along_axis(F, columns, axis=1) + intercept[columns].astype(F.dtype)
    values[~held_out] = np.nan
    return values
