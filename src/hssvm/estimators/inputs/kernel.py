"""Conversion of the parameters kernel, gamma, degree and coef0 to a `Kernel`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.kernels import (
    CallableKernel,
    Cosine,
    Exponential,
    Gaussian,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    MinMax,
    Polynomial,
    Precomputed,
    Tanimoto,
)
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel
from hssvm.training.data.widths import scale_gamma

RADIAL: dict[str, type[RadialKernel]] = {
    "rbf": Gaussian,
    "laplacian": Laplacian,
    "exponential": Exponential,
    "matern32": Matern32,
    "matern52": Matern52,
}
"""Kernels whose only parameter is gamma, by name."""

WITHOUT_PARAMETERS: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "cosine": Cosine,
    "tanimoto": Tanimoto,
    "minmax": MinMax,
    "intersection": HistogramIntersection,
    "precomputed": Precomputed,
}
"""Kernels without parameters, by name."""

KERNELS = (*RADIAL, "poly", *WITHOUT_PARAMETERS)

OTHER_NAMES = {"gaussian": "rbf", "polynomial": "poly"}
"""Names of kernels elsewhere."""


def make_kernel(kernel: Any, gamma: Callable[[], float], degree: int, coef0: float) -> Kernel:
    """Return the kernel; `gamma` is called only if the kernel has one."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    if kernel in WITHOUT_PARAMETERS:
        return WITHOUT_PARAMETERS[kernel]()
    if kernel == "poly":
        return Polynomial(gamma(), float(coef0), int(degree))
    return RADIAL[kernel](gamma())


def has_gamma(kernel: Any) -> bool:
    """Whether this kernel uses the parameter gamma."""
    return isinstance(kernel, str) and kernel in (*RADIAL, "poly")


def check_kernel_parameter(kernel: Any) -> None:
    """Raise an error if `kernel` is not an accepted kernel."""
    if isinstance(kernel, str):
        accepted = kernel in KERNELS
    else:
        accepted = callable(kernel) or isinstance(kernel, Kernel)
    if not accepted or isinstance(kernel, type):
        raise InvalidParameterError(
            f"kernel must be one of {', '.join(map(repr, KERNELS))}, a Kernel such as "
            "hssvm.kernels.Gaussian(0.5), or a function of two sets of rows, got "
            f"{kernel!r}{_hint(kernel)}"
        )


def _hint(kernel: Any) -> str:
    """What to pass instead of a value that is not accepted."""
    if isinstance(kernel, list | tuple):
        return "; hssvm.SVCCV and SVRCV choose between several"
    name = kernel.lower() if isinstance(kernel, str) else ""
    known = OTHER_NAMES.get(name, name)
    if known in KERNELS:
        return f"; use kernel={known!r}"
    return "; that kernel is not positive semi-definite" if name == "sigmoid" else ""


def radial_type(kernel: Any) -> type[RadialKernel] | None:
    """Return the class of a radial kernel, given by name or as an object; None for others."""
    if isinstance(kernel, str):
        return RADIAL.get(kernel)
    return type(kernel) if isinstance(kernel, RadialKernel) else None


def resolve_gamma(gamma: float | str, n_features: int, scale: Callable[[], float]) -> float:
    """Convert 'scale' and 'auto' to numbers; `scale` returns the value of 'scale'."""
    if gamma == "auto":
        return 1.0 / n_features
    return scale() if gamma == "scale" else float(gamma)


def gamma_of_rows(kernel: Any, gamma: float | str, X: Rows, sample_weight: Floats) -> float:
    """Convert 'scale' and 'auto' to numbers for the given rows."""
    scale = partial(scale_gamma, radial_type(kernel), X, sample_weight)
    return resolve_gamma(gamma, X.shape[1], scale)
