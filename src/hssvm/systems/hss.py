"""A system that holds a compressed K."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.ulv import ULVFactor, factor
from hssvm.kernels.base import Floats
from hssvm.systems.base import Shift, System


class Rest(Protocol):
    """The rest of a matrix in parts, as one part reaches it; see `hssvm.hss.parts`.

    Every part must make the same calls in the same order.
    """

    def factor(self, R: Floats) -> int:
        """Factor the top from the R of all parts; return the number of this factor."""
        ...

    def solve(self, number: int, c: Floats) -> Floats:
        """What a solve with that factor adds to the coefficients (rank, k) of the part's root."""
        ...

    def far_field(self, c: Floats) -> Floats:
        """What a product with K~ adds to the coefficients (rank, k) of the part's root."""
        ...


class HSSSystem(System):
    """ULV factor of ``K~ + diag(shift)``.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array
    rest : Rest, optional
        Where the matrix is a part of a larger one. Vectors are then those of this part.

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

    def __init__(self, matrix: HSSMatrix, shift: Shift, rest: Rest | None = None) -> None:
        self.matrix = matrix
        self.shift = shift
        self.rest = rest
        self.factor: ULVFactor = factor(matrix, shift)
        self._number = 0 if rest is None else rest.factor(self.factor.R)

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
        rest = self.rest
        above = None if rest is None else lambda c: rest.solve(self._number, c)
        return self.factor.solve(B, above)

    def matmul(self, B: Any) -> Floats:
        """``K~ B``, without the shift; by the factor, which costs no kernel values."""
        B = np.asarray(B, dtype=self.dtype)
        product = self.factor.multiply(B, None if self.rest is None else self.rest.far_field)
        product -= (np.asarray(self.shift, self.dtype) * B.T).T
        return product

    def with_shift(self, shift: Shift) -> HSSSystem:
        """Return the system of the same K~ with another shift; nothing is compressed again."""
        return HSSSystem(self.matrix, shift, self.rest)
