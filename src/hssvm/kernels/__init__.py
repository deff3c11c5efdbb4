"""Kernels: small immutable objects with ``block(X, Y)``, ``diag(X)`` and ``matrix(X)``.

All of them are positive semi-definite, which everything above relies on. `base` has the interface
and the rules for data (dense or CSR, float32 or float64); `radial` the functions of the distance;
`inner` the functions of the inner product; `wrapped` any Python function.
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
