"""An operator that stores a compressed K."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from hssvm.comm import SERIAL, Communicator
from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.parts import TopConnection
from hssvm.hss.ulv import factor
from hssvm.kernels.base import Floats, require_no_overflow
from hssvm.kernels.lazy import diagonal_sum
from hssvm.operators.base import Factor, Operator, Shift


class HSSOperator(Operator):
    """Products with K~, and ULV factors of ``K~ + diag(shift)``.

    Parameters
    ----------
    matrix : HSSMatrix
    top : TopConnection, optional
        Connects to the levels above if the matrix is a part of a larger one; see
        `hssvm.hss.parts`. Vectors then have the rows of this part.
    communicator : Communicator
        Connects the parts.

    Notes
    -----
    The matrix does not store the diagonal blocks of its leaves. A product computes them from the
    rows, or reads them from the last factor while it is in use, without evaluating the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.operators import HSSOperator
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> operator = HSSOperator(compress(Gaussian(gamma=0.1), X))
    >>> x = operator.factor(shift=1.0).solve(np.ones(2000))
    >>> bool(np.allclose(operator.matmul(x) + x, 1.0))
    True
    """

    def __init__(
        self,
        matrix: HSSMatrix,
        top: TopConnection | None = None,
        communicator: Communicator = SERIAL,
    ) -> None:
        self.matrix = matrix
        self.top = top
        self.communicator = communicator
        self._last_factor: weakref.ref[HSSFactor] | None = None

    @property
    def n(self) -> int:
        """Number of rows of K~."""
        return self.matrix.tree.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of products and solutions."""
        return self.matrix.dtype

    def matmul(self, B: Any) -> Floats:
        """Return ``K~ B``."""
        exchange = None if self.top is None else self.top.far_field
        last = None if self._last_factor is None else self._last_factor()
        if last is None:
            return self.matrix.matmul(B, exchange)
        B = np.asarray(B, dtype=self.dtype)
        product = last.ulv.multiply(B, exchange)
        product -= (np.asarray(last.shift, self.dtype) * B.T).T
        return product

    def factor(self, shift: Shift) -> HSSFactor:
        """Factor ``K~ + diag(shift)``, without a new compression."""
        new = HSSFactor(self.matrix, shift, self.top)
        self._last_factor = weakref.ref(new)
        return new

    def mean_diagonal(self) -> float:
        """Mean of the diagonal of K, estimated from a sample of rows, or 1 if that is 0."""
        kernel = self.matrix.kernel
        total, count = self.communicator.allreduce(np.array(diagonal_sum(kernel, self.matrix.X)))
        require_no_overflow(total, kernel, self.dtype)
        return float(total / count) if total > 0 else 1.0


class HSSFactor(Factor):
    """The ULV factor of ``K~ + diag(shift)``."""

    def __init__(self, matrix: HSSMatrix, shift: Shift, top: TopConnection | None) -> None:
        self.shift = shift
        self.ulv = factor(matrix, shift)
        self._exchange = None if top is None else top.factor(self.ulv.R)

    def solve(self, B: Any) -> Floats:
        """Solve ``(K~ + diag(shift)) X = B``."""
        return self.ulv.solve(B, self._exchange)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.ulv.nbytes
