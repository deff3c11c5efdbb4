"""A system that holds all n**2 entries of K."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hssvm.hss.matrix import as_block
from hssvm.kernels.base import Floats, require_positive
from hssvm.systems.base import Shift, System


class DenseSystem(System):
    """Cholesky of ``K + diag(shift)``.

    Parameters
    ----------
    K : (n, n) array, float32 or float64
        Symmetric positive semi-definite.
    shift : float or (n,) array

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.systems import DenseSystem
    >>> system = DenseSystem(np.array([[1.0, 0.5], [0.5, 1.0]]), shift=1.0)
    >>> system.solve(np.array([2.5, 2.5]))
    array([1., 1.])
    """

    def __init__(self, K: Floats, shift: Shift) -> None:
        require_positive(shift=shift)
        K = np.asarray(K)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"K must be a square matrix, its shape is {K.shape}")
        self.K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
        self.shift = shift
        shifted = self.K.copy()
        shifted[np.diag_indices(self.n)] += shift
        try:
            self._cholesky = scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            raise RuntimeError(
                "K + shift I is not positive definite to working precision: raise shift, or use "
                "float64"
            ) from None

    @property
    def n(self) -> int:
        """Number of rows of K."""
        return int(self.K.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the solutions."""
        return self.K.dtype

    def solve(self, B: Any) -> Floats:
        """Solve ``(K + diag(shift)) X = B``."""
        block = as_block(B, self.n, self.dtype)
        X = np.ascontiguousarray(scipy.linalg.cho_solve(self._cholesky, block))
        return X.reshape(np.shape(B))

    def matmul(self, B: Any) -> Floats:
        """``K B``, without the shift."""
        product: Floats = self.K @ as_block(B, self.n, self.dtype)
        return product.reshape(np.shape(B))

    def with_shift(self, shift: Shift) -> DenseSystem:
        """Return the system of the same K with another shift."""
        return DenseSystem(self.K, shift)
