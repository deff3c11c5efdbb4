"""Systems ``(K + diag(shift)) x = b`` behind one interface, so that solvers need not know how.

`DenseSystem` holds all of K and is the oracle of the tests and the choice for small n; `HSSSystem`
holds a compressed K.
"""

from hssvm.systems.base import System
from hssvm.systems.dense import DenseSystem
from hssvm.systems.hss import HSSSystem

__all__ = ["DenseSystem", "HSSSystem", "System"]
