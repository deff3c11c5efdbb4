"""Kernels that are functions of the Euclidean distance ``d = |x - y|``; all are 1 at d = 0.

The gradient of such a kernel is ``k'(d) / d (x - y)``, and that of the kernel of the L1 distance
``k'(d) sign(x - y)``. So the gradients of an expansion are sums of differences, or of their signs,
with weights that follow from kernel values.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import (
    CoreKernel,
    Floats,
    Rows,
    as_rows,
    match_formats,
    require_positive,
    unit_diagonal,
)
from hssvm.kernels.gradients import blocks, sum_differences
from hssvm.kernels.wide import renumbered


@dataclass(frozen=True)
class RadialKernel(CoreKernel):
    """Base class of the functions of a distance, which have one parameter, `gamma`."""

    gamma: float

    def __post_init__(self) -> None:
        require_positive(gamma=self.gamma)

    def diag(self, X: Rows) -> Floats:
        """Ones, (n,)."""
        return unit_diagonal(X)

    @abstractmethod
    def slopes(self, X: Rows, Y: Rows) -> Floats:
        """``k'(d) / d``, or ``k'(d)`` for the L1 distance, (m, n).

        It is finite at d = 0, where ``x - y`` and its signs are 0.
        """

    @abstractmethod
    def weighted_directions(self, V: Floats, X: Rows, Y: Rows) -> Floats:
        """``sum_i V[x, i] (x - y_i)`` for every row x of `X`, or the sum of signs, (m, p)."""

    def gradients(self, X: Rows, Y: Rows, W: Floats) -> NDArray[np.float64]:
        """Gradients of the functions ``f(x) = sum_i W_i k(x, y_i)`` at the rows of `X`.

        Where the kernel has no derivative in a feature, the term counts as 0.

        Parameters
        ----------
        X, Y : (m, p) and (n, p) array or CSR matrix
        W : (n, k)
            Weights of k functions.

        Returns
        -------
        (m, k, p) array of float64

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm.kernels import Gaussian
        >>> X = np.array([[0.0, 1.0]])
        >>> Gaussian(1.0).gradients(X, np.zeros((1, 2)), np.ones((1, 1))).round(4)
        array([[[-0.    , -0.7358]]])
        """
        X, Y = match_formats(*(as_rows(Z).astype(np.float64, copy=False) for Z in (X, Y)))
        return self._gradients(X, Y, W).astype(np.float64, copy=False)

    def _gradients(self, X: Rows, Y: Rows, W: Floats) -> Floats:
        """Gradients in the precision of the rows."""
        slopes = self.slopes(X, Y)
        gradients = np.empty((X.shape[0], W.shape[1], X.shape[1]), slopes.dtype)
        for column, weights in enumerate(W.T.astype(slopes.dtype)):
            gradients[:, column] = self.weighted_directions(slopes * weights, X, Y)
        return gradients

    def squared_gradients(
        self, X: Rows, Y: Rows, W: Floats, sample_weight: Floats | None = None
    ) -> NDArray[np.float64]:
        """Mean over the rows of `X` of the squared `gradients`, summed over the columns of `W`.

        Terms of float32 rows are computed in float32, with few digits if rows nearly coincide.

        Parameters
        ----------
        X, Y : (m, p) and (n, p) array or CSR matrix
        W : (n, k)
        sample_weight : (m,), optional
            Weights of the rows of `X` in the mean.

        Returns
        -------
        (p,) array of float64

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm.kernels import Gaussian
        >>> X = np.array([[0.0, 1.0], [0.0, -1.0]])
        >>> Gaussian(1.0).squared_gradients(X, np.zeros((1, 2)), np.ones((1, 1))).round(4)
        array([0.    , 0.5413])
        """
        X, Y = match_formats(as_rows(X), as_rows(Y))
        mean, columns = np.zeros(X.shape[1]), np.arange(X.shape[1])
        if scipy.sparse.issparse(X):
            columns = np.unique(np.concatenate([X.indices, Y.indices]))
            X, Y = renumbered(X, columns), renumbered(Y, columns)
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        total = np.zeros(X.shape[1])
        for some in blocks(X.shape[0], max(Y.shape[0], W.shape[1] * X.shape[1])):
            gradients = self._gradients(X[some], Y, W)
            total += np.einsum("i,ikj,ikj->j", weight[some], gradients, gradients)
        mean[columns] = total[: columns.size] / weight.sum()
        return mean


class EuclideanKernel(RadialKernel):
    """Base class of the functions of the Euclidean distance."""

    name: ClassVar[str]

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel(self.name, self.gamma)

    def weighted_directions(self, V: Floats, X: Rows, Y: Rows) -> Floats:
        """``sum_i V[x, i] (x - y_i)`` for every row x of `X`, (m, p)."""
        return sum_differences(V, X, Y)


class Gaussian(EuclideanKernel):
    """``exp(-gamma d**2)``. For the form ``exp(-d**2 / (2 h**2))``, set gamma = 1 / (2 h**2).

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> Gaussian(gamma=0.5).block(np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    name = "gaussian"

    def slopes(self, X: Rows, Y: Rows) -> Floats:
        """``-2 gamma k(d)``, (m, n)."""
        return -2 * self.gamma * self.block(X, Y)


class Exponential(EuclideanKernel):
    """``exp(-gamma d)``, the Matern kernel of order 1/2.

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Exponential
    >>> Exponential(gamma=0.5).block(np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name = "exponential"

    def slopes(self, X: Rows, Y: Rows) -> Floats:
        """``-gamma k(d) / d``, and 0 at d = 0, (m, n)."""
        values = self.block(X, Y)
        with np.errstate(divide="ignore"):
            log = np.log(values)  # -gamma d
        log[log >= 0] = -np.inf
        values *= self.gamma**2
        values /= log
        return values


class Matern32(EuclideanKernel):
    """``(1 + a) exp(-a)`` with ``a = sqrt(3) gamma d``; gamma = 1 / length scale.

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Matern32
    >>> Matern32(gamma=0.5).block(np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.4834],
           [0.4834, 1.    ]])
    """

    name = "matern32"

    def slopes(self, X: Rows, Y: Rows) -> Floats:
        """``-3 gamma**2 exp(-a)``, (m, n)."""
        return -3 * self.gamma**2 * Exponential(3**0.5 * self.gamma).block(X, Y)


class Matern52(EuclideanKernel):
    """``(1 + a + a**2 / 3) exp(-a)`` with ``a = sqrt(5) gamma d``; gamma = 1 / length scale.

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Matern52
    >>> Matern52(gamma=0.5).block(np.array([[0.0], [2.0]])).round(4)
    array([[1.   , 0.524],
           [0.524, 1.   ]])
    """

    name = "matern52"

    def slopes(self, X: Rows, Y: Rows) -> Floats:
        """``-5 / 3 gamma**2 (1 + a) exp(-a)``, (m, n)."""
        return -5 / 3 * self.gamma**2 * Matern32((5 / 3) ** 0.5 * self.gamma).block(X, Y)
