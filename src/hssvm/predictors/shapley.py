"""Exact Shapley values of predictors whose kernel is a product over the features.

The game of a row x: the players are the features, and a set of them is worth the mean value, over
the background rows z, of the points that have the features of the set from x and the others from z
(interventional Shapley values). For a kernel expansion ``f = sum_i W_i k(., s_i)`` with ``k(x, s) =
prod_j k_j(x_j, s_j)``, the value of feature j is::

    phi_j = sum_z w_z sum_i W_i integral_0^1 (a_j - b_j) prod_{l != j} (t a_l + (1 - t) b_l) dt

with a_l = k_l(x_l, s_il) and b_l = k_l(z_l, s_il): the integral over t is the mean over all orders
in which the features can change from z to x, if each changes at a random time. The integrand is a
polynomial, which Gauss-Legendre rules integrate exactly, or to `TOLERANCE` with fewer nodes. The
values of a row sum to ``f(x) - sum_z w_z f(z)``.

Sums of functions of one feature are explained by ``f_j(x_j) - sum_z w_z f_j(z_j)``, and a sum of
kernels by the sum of the values.

A `LeafwisePredictor` predicts x by the expansions of the leaves that contain x, one in each tree,
and these are explained: all points of the game are evaluated by the expansions of x, although they
may be in other leaves. So the base values depend on the row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels import Kernel
from hssvm.kernels.base import LAYOUT, Floats, Rows, rows_like
from hssvm.kernels.factors import AdditiveKernel, FactorKernel, dense, factor_kernels
from hssvm.predictors.base import Predictor
from hssvm.predictors.expansion import ExpansionPredictor
from hssvm.predictors.leafwise import LeafExpansions, LeafwisePredictor, leaves_of
from hssvm.predictors.nodes import rules_for
from hssvm.predictors.pairwise import PairwisePredictor

SPARSE_ROWS, SPARSE_VALUES = 16, 2**22
"""Number of sparse rows at a time, and of values of support vectors at a time. The columns that
occur in these rows and in the background are made dense."""


class Values(NamedTuple):
    """Shapley values.

    Attributes
    ----------
    values : (m, k, p)
    base : (m, k)
        Mean value of the background, for each row.
    """

    values: NDArray[np.float64]
    base: NDArray[np.float64]


class Background(NamedTuple):
    """Rows whose features replace those that are missing.

    Attributes
    ----------
    X : (n, p) array or CSR matrix
    weight : (n,)
        Their sum is 1.
    """

    X: Rows
    weight: NDArray[np.float64]


def shapley_values(predictor: Predictor, X: Rows, background: Background) -> Values:
    """Shapley values of all columns of a predictor at the rows of `X`.

    Parameters
    ----------
    predictor : Predictor
    X : (m, p) array or CSR matrix
    background : Background

    Raises
    ------
    ValueError
        If the kernel is not a sum of products over the features.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.predictors import ExpansionPredictor
    >>> from hssvm.predictors.shapley import Background, shapley_values
    >>> f = ExpansionPredictor(Gaussian(1.0), np.zeros((1, 2)), np.ones((1, 1)))
    >>> background = Background(np.array([[1.0, 1.0]]), np.ones(1))
    >>> values, base = shapley_values(f, np.array([[0.0, 1.0]]), background)
    >>> (values.round(4), base.round(4), f(np.array([[0.0, 1.0]])).round(4))
    (array([[[0.2325, 0.    ]]]), array([[0.1353]]), array([[0.3679]]))
    """
    X, Z = rows_like(X, predictor.X), rows_like(background.X, predictor.X)
    background = Background(Z, np.require(background.weight, np.float64, LAYOUT))
    if isinstance(predictor, LeafwisePredictor):
        return _of_leaves(predictor, X, background)
    if isinstance(predictor, PairwisePredictor):
        return _of_pairs(predictor, X, background)
    assert isinstance(predictor, ExpansionPredictor)
    return _expansion(predictor.kernel, predictor.X, predictor.Z, X, background)


def _of_pairs(predictor: PairwisePredictor, X: Rows, background: Background) -> Values:
    """Values of the pairs of classes; the coefficients are packed by class."""
    k = predictor.n_columns
    values = np.zeros((X.shape[0], k, X.shape[1]))
    base = np.zeros((X.shape[0], k))
    for own, pairs in predictor.classes():
        part = _expansion(predictor.kernel, predictor.X[own], predictor.Z[own], X, background)
        values[:, pairs] += part.values
        base[:, pairs] += part.base
    return Values(values, base)


def _of_leaves(predictor: LeafwisePredictor, X: Rows, background: Background) -> Values:
    """Mean over the trees of the values of the expansions that predict the rows."""
    values = np.zeros((X.shape[0], predictor.n_columns, X.shape[1]))
    base = np.zeros((X.shape[0], predictor.n_columns))
    for tree in predictor.trees:
        for rows, leaf in leaves_of(predictor.kernel, tree, X):
            part = _of_leaf(predictor, tree, leaf, X[rows], background)
            values[rows] += part.values
            base[rows] += part.base
    return Values(values / len(predictor.trees), base / len(predictor.trees))


def _of_leaf(
    predictor: LeafwisePredictor,
    tree: LeafExpansions,
    leaf: int,
    X: Rows,
    background: Background,
) -> Values:
    own = slice(tree.ends[leaf], tree.ends[leaf + 1])
    S, W = predictor.X[tree.rows[own]], tree.weights[own]
    values, base = _expansion(predictor.kernel, S, W, X, background)
    if tree.constants is None:
        return Values(values, base)
    base = base + tree.constants[leaf]
    return _clipped(values, base, predictor.clip)


def _clipped(values: NDArray[np.float64], base: NDArray[np.float64], clip: float) -> Values:
    """Scale the values where a tree clips, so that they still sum to the prediction."""
    total = values.sum(axis=2)
    limited = np.clip(base, -clip, clip)
    change = np.clip(base + total, -clip, clip) - limited
    clips = (limited != base) | (change != total)
    scale = np.divide(change, total, out=np.ones_like(total), where=clips & (total != 0))
    return Values(values * scale[:, :, None], limited)


def _expansion(kernel: Kernel, S: Rows, W: Floats, X: Rows, background: Background) -> Values:
    """Values of ``sum_i W_i k(., s_i)`` at the rows of `X`."""
    (m, p), k = X.shape, W.shape[1]
    values, base = np.zeros((m, k, p)), np.zeros(k)
    weights: NDArray[np.float64] = np.require(W, np.float64, LAYOUT)
    is_sparse = scipy.sparse.issparse(S)
    if not is_sparse:
        S, X, background = dense(S), dense(X), background._replace(X=dense(background.X))
    for part in factor_kernels(kernel, p):
        if isinstance(part, AdditiveKernel):
            own, mean = _additive(part, S, weights, X, background)
        elif is_sparse:
            own, mean = _sparse_product(part, S, weights, X, background)
        else:
            own, mean = _product(part, S, weights, X, background)
        values += own
        base += mean
    return Values(values, np.tile(base, (m, 1)))


def _product(
    kernel: FactorKernel,
    S: NDArray[np.float64],
    W: NDArray[np.float64],
    X: NDArray[np.float64],
    background: Background,
) -> Values:
    """Values (m, k, p) and base (k,) of a product kernel, of dense rows."""
    features = np.unique(kernel.features)
    values, W = np.zeros((X.shape[0], W.shape[1], X.shape[1])), kernel.scale * W
    if features.size == 0 or S.shape[0] == 0:
        return Values(values, background.weight.sum() * W.sum(axis=0))
    own, base = np.empty((*values.shape[:2], features.size)), np.empty(W.shape[1])
    everything = features.size == X.shape[1]
    S, X, Z = (
        Y if everything else np.ascontiguousarray(Y[:, features]) for Y in (S, X, background.X)
    )
    ends = np.searchsorted(kernel.features, [*features, features[-1] + 1])
    _core.shapley_values(
        rules_for(features.size), ends.astype(np.int64), kernel.kinds, kernel.gammas,
        S, np.ascontiguousarray(W), X, Z, background.weight, own, base,
    )  # fmt: skip
    values[:, :, features] = own
    return Values(values, base)


def _sparse_product(
    kernel: FactorKernel, S: Rows, W: NDArray[np.float64], X: Rows, background: Background
) -> Values:
    """Values of a product kernel, from the columns that occur in the rows and the background.

    In all other columns, the rows and the background are 0, so that their factors are the same:
    they multiply the coefficients.
    """
    values, base = np.zeros((X.shape[0], W.shape[1], X.shape[1])), np.zeros(W.shape[1])
    from_zero = kernel.distances_from_zero(S)
    for begin in range(0, X.shape[0], SPARSE_ROWS):
        rows = slice(begin, begin + SPARSE_ROWS)
        some = X[rows]
        columns = np.unique(np.concatenate([some.indices, background.X.indices, [0]]))
        outside = np.ones(X.shape[1])
        outside[columns] = 0
        common = np.exp(-(from_zero @ outside))[:, None]
        here = _restricted(kernel, columns)
        dense_rows = dense(some[:, columns])
        Z = background._replace(X=dense(background.X[:, columns]))
        total = np.zeros_like(base)
        step = max(1, SPARSE_VALUES // columns.size)
        for first in range(0, S.shape[0], step):
            points = slice(first, first + step)
            part = _product(
                here, dense(S[points][:, columns]), W[points] * common[points], dense_rows, Z
            )
            values[rows][:, :, columns] += part.values
            total += part.base
        base = total  # the same for all rows
    return Values(values, base)


def _restricted(kernel: FactorKernel, columns: NDArray[np.int64]) -> FactorKernel:
    """Return the factors of some columns, renumbered."""
    kept = np.isin(kernel.features, columns)
    features = np.searchsorted(columns, kernel.features[kept])
    return FactorKernel(kernel.scale, features, kernel.kinds[kept], kernel.gammas[kept])


def _additive(
    kernel: AdditiveKernel, S: Rows, W: NDArray[np.float64], X: Rows, background: Background
) -> Values:
    """Values of a sum of functions of one feature."""
    values, S, W = np.zeros((X.shape[0], W.shape[1], X.shape[1])), S[:, kernel.columns], W
    W = kernel.scale * W
    X, Z = dense(X[:, kernel.columns]), dense(background.X[:, kernel.columns])
    if kernel.minimum:
        S = dense(S)
        at_x, at_z = (_sums_of_minima(Y, S, W) for Y in (X, Z))
    else:
        slopes = np.asarray((S.T @ W).T, np.float64)
        at_x, at_z = X[:, None] * slopes, Z[:, None] * slopes
    mean = np.einsum("z,zkp->kp", background.weight, at_z)
    values[:, :, kernel.columns] = at_x - mean
    return Values(values, mean.sum(axis=1))


def _sums_of_minima(
    X: NDArray[np.float64], S: NDArray[np.float64], W: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``sum_i W_i min(x_j, s_ij)`` for every row and feature, (m, k, p)."""
    sums = np.empty((X.shape[0], W.shape[1], X.shape[1]))
    for i, x in enumerate(X):
        sums[i] = W.T @ np.minimum(x, S)
    return sums
