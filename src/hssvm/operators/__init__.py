"""Kernel matrices K behind one interface: products with K, and factors of ``K + diag(shift)``.

`DenseOperator` stores all of K, for small n and as the reference in tests. `HSSOperator` stores a
compressed K. Solvers depend only on `Operator` and `Factor`.
"""

from hssvm.operators.base import Factor, Operator
from hssvm.operators.dense import DenseOperator
from hssvm.operators.hss import HSSOperator

__all__ = ["DenseOperator", "Factor", "HSSOperator", "Operator"]
