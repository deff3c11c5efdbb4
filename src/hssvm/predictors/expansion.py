"""Prediction with the exact kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows, rows_like
from hssvm.predictors.base import LeafArrays, Predictor


class ExpansionPredictor(Predictor):
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

    kind = "expansion"

    counts: NDArray[np.int64] | None = None
    """Number of support vectors of each class, if the coefficients belong to pairs of classes."""

    def __init__(self, kernel: Kernel, X: Rows, Z: Floats) -> None:
        self.kernel = kernel
        self.X = X
        self.Z = np.ascontiguousarray(Z)

    def __call__(self, X: Rows) -> Floats:
        """Values at the rows of `X`, (m, k), in the precision of the training rows."""
        few = self._values_of_few(X)
        return self.kernel.product(rows_like(X, self.X), self.X, self.Z) if few is None else few

    @property
    def exact(self) -> ExpansionPredictor:
        """The predictor itself."""
        return self

    @property
    def weights(self) -> Floats:
        """Weights of the rows, (n, k)."""
        return self.Z

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, besides the rows."""
        return {"W": self.Z}

    def decisions(self, X: Rows, intercept: NDArray[np.float64]) -> Floats:
        """Decision values, (m, k)."""
        return self(X) + intercept.astype(self.X.dtype)

    @property
    def n_columns(self) -> int:
        """Number of columns, k."""
        return int(self.Z.shape[1])

    @property
    def n_leaves(self) -> int:
        """1: all points are in one leaf."""
        return 1

    def leaf_arrays(self) -> Iterator[LeafArrays]:
        """Yield the arrays of one tree, without cuts."""
        n, p = self.X.shape
        no_cuts = np.empty((0, p), self.X.dtype), np.empty(0, self.X.dtype)
        yield LeafArrays(np.arange(n), np.array([0, n]), self.Z, *no_cuts)
