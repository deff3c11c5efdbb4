"""A system that holds a compressed K."""

from __future__ import annotations

from typing import Any

import numpy as np

from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.ulv import ULVFactor, factor
from hssvm.kernels.base import Floats
from hssvm.systems.base import System


class HSSSystem(System):
    """ULV factor of ``K~ + shift I``.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.systems import HSSSystem
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> system = HSSSystem(compress(Gaussian(gamma=0.1), X), shift=1.0)
    >>> x = system.solve(np.ones(2000))
    >>> bool(np.allclose(system.matmul(x) + x, 1.0))
    True
    """

    def __init__(self, matrix: HSSMatrix, shift: float) -> None:
        self.matrix = matrix
        self.shift = shift
        self.factor: ULVFactor = factor(matrix, shift)

    @property
    def n(self) -> int:
        """Number of rows of K."""
        return self.matrix.tree.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the solutions."""
        return self.matrix.dtype

    def solve(self, B: Any) -> Floats:
        """Solve ``(K~ + shift I) X = B``."""
        return self.factor.solve(B)

    def matmul(self, B: Any) -> Floats:
        """``K~ B``, without the shift."""
        return self.matrix @ B

    def with_shift(self, shift: float) -> HSSSystem:
        """Return the system of the same K~ with another shift; nothing is compressed again."""
        return HSSSystem(self.matrix, shift)
