"""Kernels: small immutable objects with ``block(X, Y)``, ``diag(X)`` and ``matrix(X)``.

All kernels are positive semi-definite, and the rest of the package relies on it. `base` defines the
interface and the accepted data (dense or CSR, float32 or float64); `radial` has functions of the
distance, `inner` functions of the inner product; `wrapped` turns any Python function into a kernel.
"""

from hssvm.kernels.base import Kernel, as_rows
from hssvm.kernels.inner import Linear, Polynomial
from hssvm.kernels.radial import Gaussian, Laplacian, Matern32, Matern52
from hssvm.kernels.wrapped import CallableKernel

__all__ = [
    "CallableKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Polynomial",
    "as_rows",
]
