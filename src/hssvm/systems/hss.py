"""A system that holds a compressed K."""

from __future__ import annotations

from typing import Any

import numpy as np

from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.ulv import ULVFactor, factor
from hssvm.kernels.base import Floats
from hssvm.systems.base import Shift, System


class HSSSystem(System):
    """ULV factor of ``K~ + diag(shift)``.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array

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

    def __init__(self, matrix: HSSMatrix, shift: Shift) -> None:
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
        """Solve ``(K~ + diag(shift)) X = B``."""
        return self.factor.solve(B)

    def matmul(self, B: Any) -> Floats:
        """``K~ B``, without the shift; by the factor, which costs no kernel values."""
        B = np.asarray(B, dtype=self.dtype)
        product = self.factor @ B
        product -= (np.asarray(self.shift, self.dtype) * B.T).T
        return product

    def with_shift(self, shift: Shift) -> HSSSystem:
        """Return the system of the same K~ with another shift; nothing is compressed again."""
        return HSSSystem(self.matrix, shift)
