"""Prediction with the exact kernel."""

from __future__ import annotations

import numpy as np

from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Kernel, Rows, rows_like


class ExpansionPredictor(Aligned):
    """Evaluates ``sum_i k(., x_i) z_i`` at new points, for the columns z of `Z`.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
    Z : (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear
    >>> from hssvm.predictors import ExpansionPredictor
    >>> f = ExpansionPredictor(Linear(), np.eye(2), np.array([[1.0], [2.0]]))
    >>> f(np.array([[1.0, 1.0]]))
    array([[3.]])
    """

    def __init__(self, kernel: Kernel, X: Rows, Z: Floats) -> None:
        self.kernel = kernel
        self.X = X
        self.Z = np.ascontiguousarray(Z)

    def __call__(self, X: Rows) -> Floats:
        """Values at the rows of `X`, (m, k), in the precision of the training rows."""
        return self.kernel.product(rows_like(X, self.X), self.X, self.Z)
