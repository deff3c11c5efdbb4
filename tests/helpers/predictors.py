"""Predictors of one tree."""

import numpy as np

from hssvm.predictors import LeafExpansions, LeafwisePredictor


def leafwise(matrix, Z, exchange=None):
    """Return a predictor of ``K~ Z`` at new points."""
    tree = LeafExpansions.of(matrix, Z, np.zeros(Z.shape[1]), exchange)
    return LeafwisePredictor.of(matrix.kernel, matrix.X, [tree])
