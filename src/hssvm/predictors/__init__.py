"""Predictors: evaluation of ``f = sum_i k(., x_i) z_i`` at new points.

`LeafwisePredictor` uses the compressed kernels k~ that the model was trained with; a point costs as
many kernel values as its leaves have points, independent of n. `ExpansionPredictor` uses the exact
kernel and all support vectors, `PairwisePredictor` those of each pair of classes.
"""

from hssvm.predictors.base import Predictor
from hssvm.predictors.expansion import ExpansionPredictor
from hssvm.predictors.leafwise import LeafExpansions, LeafwisePredictor
from hssvm.predictors.pairwise import PairwisePredictor, expansion_predictor

__all__ = [
    "ExpansionPredictor",
    "LeafExpansions",
    "LeafwisePredictor",
    "PairwisePredictor",
    "Predictor",
    "expansion_predictor",
]
