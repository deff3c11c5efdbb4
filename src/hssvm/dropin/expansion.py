"""Models in the layout of LIBSVM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.dropin.exact import UnsolvedError
from hssvm.kernels.base import Floats
from hssvm.problems import Problem


@dataclass(frozen=True, eq=False)
class Expansion:
    """A kernel expansion as LIBSVM stores it.

    Attributes
    ----------
    support : (n_support,) int32
        Indices of the support vectors, grouped by class.
    n_support : (n_classes,) int32
        Number of support vectors of each class; without classes, their number twice.
    dual_coef : (n_columns, n_support)
        One row for regression, n_classes - 1 for classification; the first class of a pair is
        positive.
    intercept : (n_columns or n_pairs,)
    n_iter : (n_columns or n_pairs,) int32
    """

    support: NDArray[np.int32]
    n_support: NDArray[np.int32]
    dual_coef: Floats
    intercept: NDArray[np.float64]
    n_iter: NDArray[np.int32]

    @classmethod
    def of_classes(
        cls,
        Z: Floats,
        codes: NDArray[np.int64],
        n_classes: int,
        intercept: NDArray[np.float64],
        n_iter: NDArray[np.int64],
    ) -> Expansion:
        """Return a classifier with packed coefficients (n, n_classes - 1)."""
        support = np.flatnonzero(Z.any(axis=1))
        support = support[np.argsort(codes[support], kind="stable")]
        counts = np.bincount(codes[support], minlength=n_classes)
        return cls._of(Z, support, counts, intercept, n_iter)

    @classmethod
    def of_column(cls, z: Floats, intercept: float, n_iter: int) -> Expansion:
        """Return a model with coefficients (n,)."""
        support = np.flatnonzero(z)
        counts = np.full(2, support.size)
        return cls._of(z[:, None], support, counts, np.array([intercept]), np.array([n_iter]))

    @classmethod
    def _of(
        cls,
        Z: Floats,
        support: NDArray[np.int64],
        counts: NDArray[np.int64],
        intercept: NDArray[np.float64],
        n_iter: NDArray[np.int64],
    ) -> Expansion:
        coefficients = np.ascontiguousarray(Z[support].T, np.float64)
        int32 = (array.astype(np.int32) for array in (support, counts, np.maximum(n_iter, 1)))
        support32, counts32, n_iter32 = int32
        return cls(support32, counts32, coefficients, intercept, n_iter32)


def libsvm_intercept(problem: Problem, Z: Floats, F: Floats, tol: float) -> float:
    """Return the intercept as LIBSVM computes it, for a single column and ``F = K Z``.

    It is the mean of the intercepts that the free coefficients imply. If there are none, it is the
    middle of the interval that the others allow. Unless all are 0, `between` requires the interval
    to be short.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.dropin.expansion import libsvm_intercept
    >>> from hssvm.problems import SVCProblem
    >>> problem = SVCProblem(np.array([[2.0], [-2.0]]))
    >>> libsvm_intercept(problem, np.array([[0.5], [-0.5]]), np.array([[1.5], [-0.5]]), 1e-3)
    -0.5
    """
    z, slope = Z[:, 0], (F - problem.linear)[:, 0]
    free = problem.free(Z)[:, 0]
    if free.any():
        return -float((slope[free] + problem.l1_weight[0] * np.sign(z[free])).mean())
    lower, upper = (side[:, 0] for side in problem.box(np.arange(problem.n)))
    l1 = problem.l1_weight[0]
    rise = (slope + np.where(z >= 0, l1, -l1))[z < upper].min(initial=np.inf)
    fall = (slope - np.where(z <= 0, l1, -l1))[z > lower].max(initial=-np.inf)
    return -between(fall, rise, tol if z.any() else np.inf)


def between(low: float, high: float, tol: float) -> float:
    """Return the middle of an interval of slopes without free coefficients.

    The coefficients of LIBSVM miss their bounds by rounding errors, for example with balanced class
    weights and a small C. It treats such a coefficient as free, and returns its slope, an end of
    the interval. So if the interval is longer than `tol`, only LIBSVM itself can find the same
    model.
    """
    if not np.isfinite(low + high):
        raise UnsolvedError("all coefficients are at the same bound; there is no finite intercept")
    if high - low > tol:
        raise UnsolvedError("the intercept is not unique, and rounding errors of LIBSVM decide it")
    return float((low + high) / 2)
