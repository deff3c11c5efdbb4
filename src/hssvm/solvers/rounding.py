"""Duality gaps that rounding errors do not blur."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.problems.base import Problem
from hssvm.problems.objective import Objective
from hssvm.solvers.lazy_product import LazyProduct
from hssvm.solvers.optimality import violations

BLUR = 0.1
"""Largest rounding error of a reported gap, relative to the larger of the gap and the tolerance."""

ROUNDING_SAMPLE = 64
"""Number of rows at which rounding errors are measured."""

CAUTION = 4.0
"""Assumed ratio of the largest rounding error to the largest one in the sample."""


def evaluate(
    problem: Problem, product: LazyProduct, tol: float, last: NDArray[np.bool_]
) -> Objective:
    """Evaluate the objectives on all rows, in float64 where the gap of a column depends on it.

    A row that the gradient holds at a bound contributes nothing to the gap, whatever the rounding
    error of its gradient. So F is recomputed at the other rows only, and only if a column may have
    reached the tolerance or ends anyway.

    Parameters
    ----------
    problem : Problem
    product : LazyProduct
    tol : float
        Relative duality gap at which a column has converged.
    last : (k,) bool
        Columns that end at this point, converged or not.

    Returns
    -------
    Objective
    """
    product.refresh()
    values = problem.evaluate(product.Z, product.F)
    if product.Z.dtype == np.float64:
        return values
    every_row, gradient = np.arange(problem.n), problem.gradient(product.Z, product.F)
    violation, max_violation, _ = violations(problem, every_row, product.Z, gradient)
    # the intercepts of the gap and of the violations differ by at most half the largest violation
    held_by = -violation - np.maximum(max_violation, 0) / 2
    error = np.sqrt(product.variance)
    typical, largest = _measured_errors(product, held_by < error)
    open_rows = held_by < CAUTION * largest * error
    lower, upper = problem.box(every_row)
    farthest = np.maximum(upper - product.Z, product.Z - lower)
    if problem.ridge is not None:  # the losses ask for a z near the present one
        near = (np.maximum(violation, 0) + error) / problem.ridge[:, None]
        farthest = np.minimum(farthest, near)
    total = np.einsum("ij,ij->j", farthest, error * open_rows)
    error_of_gap = typical * problem.communicator.allreduce(total) / values.size
    blurred = error_of_gap > BLUR * np.maximum(values.gap, tol)
    needed = blurred & (last | (values.gap - error_of_gap <= tol))
    if not needed.any():
        return values
    product.recompute(np.flatnonzero(open_rows[:, needed].any(axis=1)))
    return problem.evaluate(product.Z, product.F)


def _measured_errors(
    product: LazyProduct, open_rows: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Root mean square and maximum, per column, of the errors of F relative to their estimates.

    The estimates assume kernel values that are correctly rounded and at most 1. Values of rows far
    from their mean, or of polynomial kernels, can be worse by orders of magnitude.
    """
    rows = np.flatnonzero(open_rows.any(axis=1))
    if rows.size == 0:
        rows = np.arange(product.Z.shape[0])
    rows = np.random.default_rng(0).permutation(rows)[:ROUNDING_SAMPLE]
    error, estimate = np.abs(product.exact(rows) - product.F[rows]), product.variance[rows] ** 0.5
    ratio = np.divide(error, estimate, out=np.ones_like(error), where=estimate > 0)
    communicator = product.kernel_matrix.communicator
    squares, count = communicator.allreduce(
        np.stack([(ratio**2).sum(axis=0), np.full(ratio.shape[1], rows.size)])
    )
    largest = communicator.allreduce(ratio.max(axis=0), "max")
    return np.maximum(1, (squares / count) ** 0.5), np.maximum(1, largest)
