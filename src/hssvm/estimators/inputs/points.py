"""Points of kernels that are not functions of rows of numbers: precomputed matrices, objects."""

from __future__ import annotations

from copy import copy
from typing import Any

from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.kernels.base import Floats
from hssvm.kernels.indexed import IndexedKernel
from hssvm.kernels.precomputed import Precomputed


def indexed_kernel(kernel: Any) -> IndexedKernel | None:
    """Return the kernel that the parameter `kernel` stands for, if its points are not rows."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return Precomputed()
    return kernel if isinstance(kernel, IndexedKernel) else None


def require_rows_of_numbers(kernel: Any) -> None:
    """Raise ValueError if the points of a kernel are not rows, which a cluster could divide."""
    if indexed_kernel(kernel) is not None:
        raise InvalidParameterError(
            f"kernel={kernel!r} is not available on a cluster, whose workers divide rows of "
            "numbers; use the estimators of hssvm itself"
        )


def require_unscaled(scaling: Any, kernel: IndexedKernel) -> None:
    """Raise ValueError if `scaling` is set for a kernel whose points have no features."""
    if scaling not in (None, "auto"):
        raise InvalidParameterError(
            f"scaling={scaling!r} scales features, and points of {kernel!r} have none; leave it out"
        )


def bind_points(kernel: Any, X: Any, scaling: Any) -> IndexedKernel | None:
    """Return the kernel of the training points `X`; None if these are rows of numbers.

    Parameters
    ----------
    kernel, scaling
        Parameters of an estimator.
    X
        As passed to `fit`.
    """
    unbound = indexed_kernel(kernel)
    if unbound is None:
        return None
    require_unscaled(scaling, unbound)
    return unbound.bind(X)


def predict_points(predictor: Any, kernel: IndexedKernel, X: Any) -> Floats:
    """Evaluate a predictor at new points."""
    here = copy(predictor)
    here.kernel = kernel.at(X)
    values: Floats = here(here.kernel.points())
    return values
