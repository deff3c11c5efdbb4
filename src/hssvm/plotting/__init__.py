"""Pictures of the kernel matrix, of its compression, and of the choice of parameters.

Each Display holds numbers; its ``plot`` draws them with matplotlib, which is needed for nothing
else. `singular_values` shows why the whole matrix has no low rank, `kernel_matrix` what ordering
the rows by the cluster tree does about it, `ranks` the compressed matrix that comes of it, and
`score_grid` the scores over the parameters, `path` over C alone. `convergence` shows how the gap of
a fit fell, `boundary` its decision function in a plane.
"""

from hssvm.plotting.boundary import BoundaryDisplay
from hssvm.plotting.convergence import ConvergenceDisplay
from hssvm.plotting.kernel_matrix import KernelMatrixDisplay
from hssvm.plotting.path import PathDisplay
from hssvm.plotting.ranks import RankDisplay
from hssvm.plotting.score_grid import ScoreGridDisplay
from hssvm.plotting.singular_values import SingularValueDisplay

__all__ = [
    "BoundaryDisplay",
    "ConvergenceDisplay",
    "KernelMatrixDisplay",
    "PathDisplay",
    "RankDisplay",
    "ScoreGridDisplay",
    "SingularValueDisplay",
]
