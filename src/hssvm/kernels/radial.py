"""Kernels that are functions of the Euclidean distance ``d = |x - y|``; all are 1 at d = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hssvm import _core
from hssvm.kernels.base import CoreKernel, Floats, Rows, require_positive, unit_diagonal


@dataclass(frozen=True)
class RadialKernel(CoreKernel):
    """Base class of the radial kernels, which have one parameter, `gamma`."""

    gamma: float
    name: ClassVar[str]

    def __post_init__(self) -> None:
        require_positive(gamma=self.gamma)

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel(self.name, self.gamma)

    def diag(self, X: Rows) -> Floats:
        """Ones, (n,)."""
        return unit_diagonal(X)


class Gaussian(RadialKernel):
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


class Exponential(RadialKernel):
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


class Matern32(RadialKernel):
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


class Matern52(RadialKernel):
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
