"""Data and parameters that do not go together: the fit converges, to a poor model.

Each check returns the advice to give, or None. Samples of a few hundred rows say too little, so
none of the checks looks at them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.report import FitReport
from hssvm.estimators.scaling import features_differ
from hssvm.estimators.warn import warn
from hssvm.exceptions import DataWarning
from hssvm.kernels import CallableKernel, Kernel
from hssvm.kernels.base import Floats, Rows

FEW_ROWS = 500
"""Fewer rows are not checked."""

ISOLATED, CHECKED_ROWS = 0.1, 64
"""A row is isolated if its kernel values with all others sum to less than this share of the one
with itself. CHECKED_ROWS random rows are sampled."""

MOST, NEARLY_ALL = 0.9, 0.98
"""Share of isolated rows, and of support vectors, that is too much."""

OUTSIDE, SPREAD = 0.95, 5.0
"""An SVR cannot reach y if a share OUTSIDE of its rows is at the bound C and y has a spread above
SPREAD times C. On six data sets, with y in units of 0.01 to 1e5 standard deviations, these two
bounds separate the fits that failed from those that did not."""

UNEVEN_FEATURES = (
    "The features have very different sizes, and the kernel sees only the largest: "
    'fit with scaling="standard", or scale them first.'
)
NARROW_KERNEL = (
    "The kernel matrix is nearly the identity: rows are far apart for this kernel, and nothing is "
    "learned about new ones; lower gamma, or leave it at 'scale'."
)
ALL_FREE = (
    "Nearly all rows are support vectors: the model remembers rows rather than learns from them; "
    "lower gamma, or let SVCCV choose C and gamma."
)
ALL_BOUNDED = (
    "Nearly all rows are support vectors with the largest coefficient, C: the model is too smooth, "
    "or features and labels have little to do with each other; raise C, or let SVCCV choose it."
)
WIDE_TUBE = (
    "epsilon is larger than the standard deviation of y, so the model is nearly constant: lower "
    "epsilon, or standardize y (sklearn.compose.TransformedTargetRegressor)."
)
LARGE_TARGET = (
    "C is too small for the units of y, and nearly all rows are at the bound: raise C to the order "
    "of the spread of y, or standardize y (sklearn.compose.TransformedTargetRegressor)."
)


def warn_about(advice: str | None, report: FitReport) -> None:
    """Warn, and add the advice to the report, if there is any."""
    if advice is not None:
        report.advice.append(advice)
        warn(advice, DataWarning)


def check_features(X: Rows, kernel: Kernel) -> str | None:
    """Whether some features are too small to matter; a function of the user's may not mind."""
    if X.shape[0] < FEW_ROWS or isinstance(kernel, CallableKernel):
        return None
    return UNEVEN_FEATURES if features_differ(X) else None


def check_kernel(X: Rows, kernel: Kernel, seed: int) -> str | None:
    """Whether most rows have no other row near them, for kernels with a gamma to change."""
    n = X.shape[0]
    if n < FEW_ROWS or not hasattr(kernel, "gamma"):
        return None
    rows = np.random.default_rng(seed).choice(n, CHECKED_ROWS, replace=False)
    others = np.zeros(CHECKED_ROWS)
    step = max(1, 2**22 // CHECKED_ROWS)
    for begin in range(0, n, step):
        block = kernel.block(X[rows], X[begin : begin + step])
        others += np.abs(block).sum(axis=1, dtype=np.float64)
    own = np.abs(kernel.diag(X[rows]).astype(np.float64))
    isolated = others - own < ISOLATED * own
    return NARROW_KERNEL if isolated.mean() > MOST else None


def check_support(Z: Floats, bound: Floats, n_rows: int) -> str | None:
    """Whether nearly all rows are support vectors of a classifier.

    Parameters
    ----------
    Z, bound : (n_support, k)
        Coefficients, and the largest that they may be.
    n_rows : int
    """
    if n_rows < FEW_ROWS or np.count_nonzero(Z, axis=0).mean() < NEARLY_ALL * n_rows:
        return None
    return ALL_BOUNDED if at_bound(Z, bound) > n_rows / 2 else ALL_FREE


def check_target(y: Floats, C: float, epsilon: float, n_bounded: float) -> str | None:
    """Whether C and epsilon of an SVR fit the units of y, whose rows at the bound are counted."""
    if y.size < FEW_ROWS:
        return None
    y = y.astype(np.float64)
    if 0 < y.std() < epsilon:
        return WIDE_TUBE
    low, high = np.quantile(y, [0.25, 0.75])
    beyond = high - low > SPREAD * C and n_bounded > OUTSIDE * y.size
    return LARGE_TARGET if beyond else None


def check_edge(name: str, scores: NDArray[np.float64], best: int, n_rows: int) -> str | None:
    """Whether the best of at least three values is the first or the last, beyond chance.

    Parameters
    ----------
    name : str
        Of the parameter.
    scores : (n_values, n_folds)
        Of its values, ascending.
    best : int
        Index of the best.
    n_rows : int
    """
    last, n_folds = scores.shape[0] - 1, scores.shape[1]
    if n_rows < FEW_ROWS or n_folds < 2 or last < 2 or 0 < best < last:
        return None
    gain = scores[best] - scores[1 if best == 0 else last - 1]
    if not gain.mean() > gain.std(ddof=1) / n_folds**0.5:
        return None
    size = "smaller" if best == 0 else "larger"
    return (
        f"The best {name} is at the edge of {name}s, and a {size} one may be better: add {size} "
        f"values, or give {name}s='auto', which searches beyond any edge."
    )


def at_bound(Z: Floats, bound: Floats) -> float:
    """How many coefficients are as large as they may be, on average over the columns."""
    return float(np.count_nonzero(np.abs(Z) > 0.99 * np.abs(bound)) / Z.shape[1])
