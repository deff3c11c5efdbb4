"""Plots of kernel matrices, their compression, and fitted models.

Each Display stores numbers, and its ``plot`` method draws them with matplotlib, which nothing else
needs. `singular_values` shows why the kernel matrix as a whole does not have low rank,
`kernel_matrix` the effect of ordering its rows by the cluster tree, `ranks` the compressed matrix,
`score_grid` the scores over the parameters, `boundary` the decision function in a plane,
`calibration` how far probabilities can be trusted, `importances` the features with the largest
learned scales or Shapley values, `explanation` how the features of a row make its prediction.
"""

from hssvm.plotting.boundary import BoundaryDisplay
from hssvm.plotting.calibration import CalibrationDisplay
from hssvm.plotting.explanation import ExplanationDisplay
from hssvm.plotting.importances import ImportanceDisplay
from hssvm.plotting.kernel_matrix import KernelMatrixDisplay
from hssvm.plotting.ranks import RankDisplay
from hssvm.plotting.score_grid import ScoreGridDisplay
from hssvm.plotting.singular_values import SingularValueDisplay

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ExplanationDisplay",
    "ImportanceDisplay",
    "KernelMatrixDisplay",
    "RankDisplay",
    "ScoreGridDisplay",
    "SingularValueDisplay",
]
