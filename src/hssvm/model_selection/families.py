"""Families of candidates: a kernel and a scaling, of which a search chooses gamma and C."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import scipy.sparse

from hssvm.estimators.inputs.kernel import check_kernel_parameter
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.estimators.inputs.points import indexed_kernel
from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.training.data.checks import MIN_CHECKED_ROWS
from hssvm.training.data.scaling import features_differ


class Family(NamedTuple):
    """Candidates with the same kernel and scaling.

    Attributes
    ----------
    kernel : str, Kernel or callable
        A value of the parameter `kernel`.
    scaling : {None, 'standard', 'minmax', 'quantiles', 'learned', 'learned-quantiles'}
    """

    kernel: Any
    scaling: str | None

    def __str__(self) -> str:
        return f"{self.kernel}" if self.scaling is None else f"{self.kernel}, {self.scaling}"


class Candidate(NamedTuple):
    """The parameters of a model; gamma is NaN for kernels without one."""

    family: Family
    gamma: float
    C: float

    def __str__(self) -> str:
        gamma = "" if math.isnan(self.gamma) else f", gamma={self.gamma:.4g}"
        return f"{self.family}, C={self.C:.4g}{gamma}"


def listed(value: Any) -> list[Any]:
    """Return the values of a parameter that accepts one or several."""
    return list(value) if isinstance(value, list | tuple) else [value]


def check_kernels(kernels: Any) -> None:
    """Raise an error unless `kernels` is a kernel, or several kernels of rows of numbers."""
    if not listed(kernels):
        raise InvalidParameterError(
            f"kernel must be a kernel or a non-empty list of kernels, got {kernels!r}"
        )
    for kernel in listed(kernels):
        check_kernel_parameter(kernel)
        if kernel is not kernels and indexed_kernel(kernel) is not None:
            raise InvalidParameterError(
                f"kernel={kernels!r} contains {kernel!r}, whose points are not rows of numbers; "
                f"pass kernel={kernel!r} alone"
            )


def make_families(
    kernels: Any, scalings: Any, X: Rows, make_kernel: Callable[[Any, float], Kernel], searches: Any
) -> list[Family]:
    """Combine kernels and scalings, without repetitions.

    Parameters
    ----------
    kernels, scalings
        Parameters of `SVCCV` or `SVRCV`.
    X : (n, p) array or CSR matrix
        Not scaled.
    make_kernel : callable
        Called with a value of the parameter `kernel`, and gamma.
    searches : callable
        Whether C or gamma of a kernel is searched.
    """
    families = [
        Family(kernel, scaling)
        for kernel in listed(kernels)
        for kind in listed(scalings)
        for scaling in (
            _automatic(X, make_kernel(kernel, 1.0), searches(kernel)) if kind == "auto" else [kind]
        )
    ]
    return [family for i, family in enumerate(families) if family not in families[:i]]


def _automatic(X: Rows, kernel: Kernel, searches: bool) -> list[str | None]:
    """Return the scalings that 'auto' stands for."""
    if not kernel.scale_sensitive:
        return [None]
    if features_differ(X):
        return ["standard"]
    compares = searches and not scipy.sparse.issparse(X) and X.shape[0] >= MIN_CHECKED_ROWS
    return [None, "standard"] if compares else [None]
