"""An operator that stores all n**2 entries of K."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from hssvm.hss.matrix import as_block
from hssvm.kernels.base import Floats, require_positive
from hssvm.operators.base import Factor, Operator, Shift


class DenseOperator(Operator):
    """A kernel matrix in memory.

    Parameters
    ----------
    K : (n, n) array, float32 or float64
        Symmetric positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.operators import DenseOperator
    >>> operator = DenseOperator(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> operator.matmul(np.array([2.0, 0.0]))
    array([2., 1.])
    >>> operator.factor(shift=1.0).solve(np.array([2.5, 2.5]))
    array([1., 1.])
    """

    def __init__(self, K: Floats) -> None:
        K = np.asarray(K)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {K.shape}")
        self.K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)

    @property
    def n(self) -> int:
        """Number of rows of K."""
        return int(self.K.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of products and solutions."""
        return self.K.dtype

    def matmul(self, B: Any) -> Floats:
        """Return ``K B``."""
        product: Floats = self.K @ as_block(B, self.n, self.dtype)
        return product.reshape(np.shape(B))

    def factor(self, shift: Shift) -> CholeskyFactor:
        """Factor ``K + diag(shift)``."""
        return CholeskyFactor(self.K, shift)

    def mean_diagonal(self) -> float:
        """Mean of the diagonal of K, or 1 if that is 0."""
        mean = float(self.K.diagonal().mean(dtype=np.float64))
        return mean if mean > 0 else 1.0


class CholeskyFactor(Factor):
    """The Cholesky factor of ``K + diag(shift)``."""

    def __init__(self, K: Floats, shift: Shift) -> None:
        require_positive(shift=shift)
        self.shift = shift
        shifted = K.copy()
        shifted[np.diag_indices(len(K))] += shift
        try:
            self._cholesky = scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            raise RuntimeError(
                "K + shift I is not positive definite to working precision; raise shift or use "
                "float64"
            ) from None

    def solve(self, B: Any) -> Floats:
        """Solve ``(K + diag(shift)) X = B``."""
        matrix = self._cholesky[0]
        block = as_block(B, len(matrix), matrix.dtype)
        X = np.ascontiguousarray(scipy.linalg.cho_solve(self._cholesky, block))
        return X.reshape(np.shape(B))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return int(self._cholesky[0].nbytes)
