"""The background of explanations: a few weighted training rows that stand for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.factors import dense
from hssvm.kernels.inner import squared_norms
from hssvm.kernels.wide import renumbered
from hssvm.persistence.archive import has_form, require
from hssvm.persistence.predictors import Arrays, pack_csr, unpack_csr
from hssvm.training.data.scaling import Scaling

N_BACKGROUND = 20
"""Number of background rows, if there are not more classes."""

SAMPLE, STEPS = 1000, 5
"""Number of training rows to choose from, and of steps of k-means."""

MAX_CENTER_VALUES = 2**22
"""Number of values of the centers up to which sparse rows are clustered."""


def choose_background(
    X: Rows, strata: NDArray[np.int64], weight: Floats, scaling: Scaling, seed: int
) -> tuple[Rows, NDArray[np.float64]]:
    """Choose rows that stand for all: those next to the centers of clusters.

    Every stratum has clusters in proportion to its weight, but at least one, and the weight of a
    row is that of its cluster. So the means of functions over the background are about those over
    all rows.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
    strata : (n,) int64
        Groups of rows: classes, or similar targets.
    weight : (n,)
    scaling : Scaling
        The clusters are those of the scaled rows.
    seed : int

    Returns
    -------
    (m, p) array or CSR array
    (m,) array
        Weights, whose sum is 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.estimators.models.background import choose_background
    >>> from hssvm.training.data.scaling import Scaling
    >>> X = np.array([[0.0], [0.0], [1.0], [5.0]])
    >>> choose_background(X, np.array([0, 0, 0, 1]), np.ones(4), Scaling(), 0)
    (array([[0.],
           [1.],
           [5.]]), array([0.5 , 0.25, 0.25]))
    """
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(weight > 0)
    if rows.size > SAMPLE:
        rows = np.sort(rng.choice(rows, SAMPLE, replace=False))
    here = strata[rows]
    groups = np.flatnonzero(np.bincount(here))
    totals = np.bincount(strata, weight)[groups]
    totals = totals / totals.sum()
    counts = np.maximum(1, np.round(N_BACKGROUND * totals)).astype(np.int64)
    Y = scaling(X[rows])
    Y = _float64(Y)
    chosen, weights = [], []
    for group, total, count in zip(groups, totals, counts, strict=True):
        own = np.flatnonzero(here == group)
        shares = weight[rows[own]].astype(np.float64)
        centers, of_center = _centers(Y[own], total * shares / shares.sum(), int(count), rng)
        chosen.append(own[centers])
        weights.append(of_center)
    background = X[rows[np.concatenate(chosen)]]
    if scipy.sparse.issparse(background):
        background = scipy.sparse.csr_array(background)
    return background, np.concatenate(weights)


def _float64(Y: Rows) -> Rows:
    """Convert rows to float64, without the columns that do not occur if they are sparse."""
    if scipy.sparse.issparse(Y):
        Y = renumbered(Y, np.unique(Y.indices))
    return Y.astype(np.float64, copy=False)


def _centers(
    Y: Rows, shares: Floats, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows next to the centers of clusters, and the shares of the clusters."""
    n, p = Y.shape
    norms = squared_norms(Y)
    centers = _distant_rows(Y, norms, shares, min(count, n), rng)
    if not (scipy.sparse.issparse(Y) and centers.size * p > MAX_CENTER_VALUES):
        means = dense(Y[centers])
        for _ in range(STEPS):
            nearest = (squared_norms(means) - 2 * (Y @ means.T)).argmin(axis=1)
            members = np.zeros((n, len(means)))
            members[np.arange(n), nearest] = shares
            members = members[:, members.any(axis=0)]
            means = np.ascontiguousarray((Y.T @ members / members.sum(axis=0)).T)
        centers = np.unique((norms[:, None] - 2 * (Y @ means.T)).argmin(axis=0))
    products = Y @ Y[centers].T
    products = products.toarray() if scipy.sparse.issparse(products) else products
    nearest = (norms[centers] - 2 * products).argmin(axis=1)
    weights = np.bincount(nearest, shares, minlength=centers.size).astype(np.float64)
    used = weights > 0  # of equal rows, only the first is
    return centers[used], weights[used]


def _distant_rows(
    Y: Rows, norms: Floats, shares: Floats, count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw rows far from each other, with the probabilities of k-means++."""
    chosen, far = list[int](), np.ones(norms.size)
    while len(chosen) < count and far.any():
        total = np.cumsum(shares * far)
        new = min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), far.size - 1)
        y = Y[[new]].toarray()[0] if scipy.sparse.issparse(Y) else Y[new]
        distances = norms + norms[new] - 2 * (Y @ y)
        distances[distances <= 1e-9 * (norms + norms[new])] = 0
        far = np.minimum(far, distances) if chosen else distances
        chosen.append(new)
    return np.unique(np.array(chosen))


def target_strata(y: Floats, n_strata: int = 5) -> NDArray[np.int64]:
    """Group rows by quantiles of their targets.

    Parameters
    ----------
    y : (n,)
    n_strata : int, default=5

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.estimators.models.background import target_strata
    >>> target_strata(np.array([5.0, 1.0, 3.0, 2.0, 4.0]))
    array([4, 0, 2, 1, 3])
    """
    y = y.astype(np.float64)
    cuts = np.quantile(y, np.arange(1, n_strata) / n_strata)
    return np.searchsorted(cuts, y, side="left")


def pack_background(X: Rows | None, weight: NDArray[np.float64] | None) -> Arrays:
    """Return the arrays of a model file."""
    if X is None or weight is None:
        return {}
    rows = pack_csr(X, "background") if scipy.sparse.issparse(X) else {"background": X}
    return {**rows, "background_weight": weight}


def unpack_background(
    arrays: Arrays, n_features: int
) -> tuple[Rows | None, NDArray[np.float64] | None]:
    """Remove the background from the arrays of a file; ValueError if it is invalid."""
    weight: Any = arrays.pop("background_weight", None)
    if weight is None:
        return None, None
    if "background" in arrays:
        X: Rows = arrays.pop("background")
    else:
        X = unpack_csr(scipy.sparse.csr_array, n_features, arrays, "background")
    values = X.data if scipy.sparse.issparse(X) else X
    valid = X.ndim == 2 and X.shape[1] == n_features and values.dtype.kind == "f"
    require(valid and np.isfinite(values).all(), "background is invalid")
    valid = has_form(weight, np.float64, (X.shape[0],)) and X.shape[0] > 0
    valid = valid and bool(np.all(weight > 0)) and abs(weight.sum() - 1) < 1e-6
    require(valid, "background_weight is invalid")
    return X, weight
