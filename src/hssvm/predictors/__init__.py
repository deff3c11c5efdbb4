"""Predictors: evaluation of ``f = sum_i k(., x_i) z_i`` at new points.

`LeafwisePredictor` uses the compressed kernels k~ that the model was trained with; a prediction
needs one kernel value per point of the leaves it uses, independent of n. `ExpansionPredictor` uses
the exact kernel and all support vectors, `PairwisePredictor` the support vectors of each pair of
classes. `shapley` computes how much each feature adds to a prediction, `gradients` how a prediction
changes with it.
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
