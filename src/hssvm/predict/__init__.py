"""Values at new points of ``f = sum_i k(., x_i) z_i``.

`LeafwisePredictor` uses the compressed kernel k~ that the model was trained with; a value costs as
many kernel values as a leaf has points, whatever n is. `ExpansionPredictor` uses the true kernel
and all points with a coefficient.
"""

from hssvm.predict.expansion import ExpansionPredictor
from hssvm.predict.leafwise import LeafwisePredictor

__all__ = ["ExpansionPredictor", "LeafwisePredictor"]
