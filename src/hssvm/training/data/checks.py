"""Checks for data and parameters that do not fit together, so that a fit converges to a poor model.

Each check returns advice, or None. A few hundred rows are too few for a diagnosis, so the checks
skip them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.messages import Message, api
from hssvm.training.data.scaling import features_differ

MIN_CHECKED_ROWS = 500
"""Number of rows below which nothing is checked."""

ISOLATED, ISOLATION_ROWS = 0.1, 64
"""A row is isolated if the sum of its kernel values with all other rows is below this fraction of
its value with itself. ISOLATION_ROWS random rows are tested."""

ISOLATION_VALUES = 2**18
"""Number of their kernel values that are computed at a time."""

MAX_ISOLATED, MAX_SUPPORT = 0.9, 0.98
"""Fraction of isolated rows, and of support vectors, above which a check fails."""

MAX_AT_BOUND, MAX_RANGE = 0.95, 5.0
"""C is too small for an SVR if a fraction MAX_AT_BOUND of the rows is at the bound C and the
interquartile range of y exceeds MAX_RANGE times C. On six data sets, with y in units of 0.01 to 1e5
standard deviations, these two thresholds separate the fits that failed from the others."""

UNEVEN_FEATURES = Message(
    "The features have very different scales, and the largest ones dominate the kernel; "
    f'fit with {api:scaling="standard"}, or scale them first.'
)
NARROW_KERNEL = Message(
    "The kernel matrix is nearly the identity, because the kernel is too narrow for the distances "
    f"between rows, so the model does not generalize; lower {api:gamma}, or leave it at 'scale'."
)
ALL_FREE = Message(
    "Nearly all rows are support vectors: the model memorizes the training data; "
    f"lower {api:gamma}, or let SVCCV choose C and gamma."
)
ALL_BOUNDED = Message(
    "Nearly all rows are support vectors at the upper bound C: the model is too smooth, "
    f"or the labels hardly depend on the features; raise {api:C}, or let SVCCV choose it."
)
STANDARDIZE = f"{api:, or standardize y (sklearn.compose.TransformedTargetRegressor)}"
WIDE_TUBE = Message(
    "epsilon is larger than the standard deviation of y, so the model is nearly constant; lower "
    f"{api:epsilon}{STANDARDIZE}."
)
LARGE_TARGET = Message(
    f"C is too small for the units of y, and nearly all rows are at the bound; raise {api:C} to "
    f"the order of the standard deviation of y{STANDARDIZE}."
)


def check_features(X: Rows, kernel: Kernel) -> str | None:
    """Check the scales of the features, if the kernel depends on them."""
    if X.shape[0] < MIN_CHECKED_ROWS or not kernel.scale_sensitive:
        return None
    return UNEVEN_FEATURES if features_differ(X) else None


def check_kernel(X: Rows, kernel: Kernel, seed: int) -> str | None:
    """Check whether most rows are isolated, for kernels with a gamma."""
    n = X.shape[0]
    if n < MIN_CHECKED_ROWS or not hasattr(kernel, "gamma"):
        return None
    rows = np.random.default_rng(seed).choice(n, ISOLATION_ROWS, replace=False)
    others = np.zeros(ISOLATION_ROWS)
    step = max(1, ISOLATION_VALUES // ISOLATION_ROWS)
    for begin in range(0, n, step):
        block = kernel.block(X[rows], X[begin : begin + step])
        others += np.abs(block).sum(axis=1, dtype=np.float64)
    own = np.abs(kernel.diag(X[rows]).astype(np.float64))
    isolated = others - own < ISOLATED * own
    return NARROW_KERNEL if isolated.mean() > MAX_ISOLATED else None


def check_support(Z: Floats, bound: Floats) -> str | None:
    """Check whether nearly all rows are support vectors of a classifier.

    Parameters
    ----------
    Z, bound : (n, k)
        Coefficients, and their bounds.
    """
    n_rows = Z.shape[0]
    if n_rows < MIN_CHECKED_ROWS or np.count_nonzero(Z, axis=0).mean() < MAX_SUPPORT * n_rows:
        return None
    return ALL_BOUNDED if at_bound(Z, bound) > n_rows / 2 else ALL_FREE


def check_target(y: Floats, C: float, epsilon: float, n_bounded: float) -> str | None:
    """Check C and epsilon of an SVR against the units of y, given the number of rows at C."""
    if y.size < MIN_CHECKED_ROWS:
        return None
    y = y.astype(np.float64)
    if 0 < y.std() < epsilon:
        return WIDE_TUBE
    low, high = np.quantile(y, [0.25, 0.75])
    beyond = high - low > MAX_RANGE * C and n_bounded > MAX_AT_BOUND * y.size
    return LARGE_TARGET if beyond else None


def check_edge(
    name: str, scores: NDArray[np.float64], best: int, n_rows: int, *, searches: bool = True
) -> str | None:
    """Check whether the best of at least three values is the first or last, beyond chance.

    Parameters
    ----------
    name : str
        Name of the parameter.
    scores : (n_values, n_folds)
        Scores of its values, in ascending order of the values.
    best : int
        Index of the best value.
    n_rows : int
    searches : bool
        Whether the estimator can also search beyond the edge.
    """
    last, n_folds = scores.shape[0] - 1, scores.shape[1]
    if n_rows < MIN_CHECKED_ROWS or n_folds < 2 or last < 2 or 0 < best < last:
        return None
    gain = scores[best] - scores[1 if best == 0 else last - 1]
    if not gain.mean() > gain.std(ddof=1) / n_folds**0.5:
        return None
    size = "smaller" if best == 0 else "larger"
    remedy = f"add {size} values"
    if searches:
        remedy += f", or pass {api:{name}s='auto'}, which extends the search beyond the edge"
    return Message(
        f"The best {name} is at the edge of {api:{name}s}, and a {size} one may be better; "
        f"{remedy}."
    )


def at_bound(Z: Floats, bound: Floats) -> float:
    """Number of coefficients at their bound, averaged over the columns."""
    return float(np.count_nonzero(np.abs(Z) > 0.99 * np.abs(bound)) / Z.shape[1])
