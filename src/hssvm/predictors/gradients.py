"""Gradients of predictors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Rows, rows_like
from hssvm.kernels.derivatives import expansion_gradients
from hssvm.predictors.base import Predictor
from hssvm.predictors.expansion import ExpansionPredictor
from hssvm.predictors.leafwise import LeafwisePredictor, leaves_of
from hssvm.predictors.pairwise import PairwisePredictor


def predictor_gradients(predictor: Predictor, X: Rows) -> NDArray[np.float64]:
    """Gradients of all columns of a predictor at the rows of `X`, (m, k, p).

    Those of a `LeafwisePredictor` are the gradients of the expansions that predict a row, without
    the jumps between leaves; where a tree clips its values, its gradient is 0.

    Parameters
    ----------
    predictor : Predictor
    X : (m, p) array or CSR matrix

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.predictors import ExpansionPredictor
    >>> from hssvm.predictors.gradients import predictor_gradients
    >>> f = ExpansionPredictor(Gaussian(1.0), np.zeros((1, 2)), np.ones((1, 1)))
    >>> predictor_gradients(f, np.array([[0.0, 1.0]])).round(4)
    array([[[-0.    , -0.7358]]])
    """
    X = rows_like(X, predictor.X)
    if isinstance(predictor, LeafwisePredictor):
        return _of_leaves(predictor, X)
    if isinstance(predictor, PairwisePredictor):
        total = np.zeros((X.shape[0], predictor.n_columns, X.shape[1]))
        for own, pairs in predictor.classes():
            S, Z = predictor.X[own], predictor.Z[own]
            total[:, pairs] += expansion_gradients(predictor.kernel, X, S, Z)
        return total
    assert isinstance(predictor, ExpansionPredictor)
    return expansion_gradients(predictor.kernel, X, predictor.X, predictor.Z)


def _of_leaves(predictor: LeafwisePredictor, X: Rows) -> NDArray[np.float64]:
    total = np.zeros((X.shape[0], predictor.n_columns, X.shape[1]))
    for tree in predictor.trees:
        for rows, leaf in leaves_of(predictor.kernel, tree, X):
            own = slice(tree.ends[leaf], tree.ends[leaf + 1])
            S, W = predictor.X[tree.rows[own]], tree.weights[own]
            gradients = expansion_gradients(predictor.kernel, X[rows], S, W)
            if tree.constants is not None:
                values = predictor.kernel.product(X[rows], S, W) + tree.constants[leaf]
                gradients[np.abs(values) >= predictor.clip] = 0
            total[rows] += gradients
    return total / len(predictor.trees)
