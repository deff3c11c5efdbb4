"""Kernels: small immutable objects with ``block(X, Y)``, ``diag(X)`` and ``matrix(X)``.

All kernels are positive semi-definite, and the rest of the package relies on it. `base` defines the
interface and the accepted data (dense or CSR, float32 or float64); `radial` has functions of the
distance, `inner` functions of the inner product, `similarities` kernels for fingerprints, counts
and histograms; `wrapped` turns any Python function into a kernel. `indexed` is about points
without coordinates: `precomputed` matrices and Python `objects`; `composite` combines kernels.
`factors` knows which kernels are products over the features, and `derivatives` the gradients.
"""

from hssvm.kernels.base import Kernel, as_rows
from hssvm.kernels.composite import ColumnsKernel, Constant, ProductKernel, SumKernel
from hssvm.kernels.inner import Linear, Polynomial
from hssvm.kernels.laplacian import Laplacian
from hssvm.kernels.objects import ObjectKernel
from hssvm.kernels.precomputed import Precomputed
from hssvm.kernels.radial import Exponential, Gaussian, Matern32, Matern52
from hssvm.kernels.similarities import (
    Categorical,
    ChiSquared,
    Cosine,
    HistogramIntersection,
    MinMax,
    Tanimoto,
)
from hssvm.kernels.wrapped import CallableKernel

__all__ = [
    "CallableKernel",
    "Categorical",
    "ChiSquared",
    "ColumnsKernel",
    "Constant",
    "Cosine",
    "Exponential",
    "Gaussian",
    "HistogramIntersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "MinMax",
    "ObjectKernel",
    "Polynomial",
    "Precomputed",
    "ProductKernel",
    "SumKernel",
    "Tanimoto",
    "as_rows",
]
