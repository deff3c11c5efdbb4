"""Errors of the compressed kernel in the report of a fit."""

from __future__ import annotations

import numpy as np

from hssvm.hss import estimate_error, estimate_quadratic_form_error
from hssvm.operators import HSSOperator
from hssvm.solvers import Solution
from hssvm.training.reports.report import FitReport


def estimate_errors(
    report: FitReport, operator: HSSOperator, solution: Solution, n_rows: int, seed: int
) -> None:
    """Report the errors of the compressed kernel K~, estimated from `n_rows` rows of K."""
    matrix, communicator = operator.matrix, operator.communicator
    rng = np.random.default_rng([seed, communicator.rank])
    if matrix.tree.depth > 0 or operator.top is not None:
        report.kernel_error = estimate_error(
            matrix,
            n_rows=n_rows,
            matmul=operator.matmul,
            random_state=rng,
            communicator=communicator,
        )
    if not report.exact_kernel:
        form = estimate_quadratic_form_error(
            matrix,
            solution.Z,
            solution.F,
            n_rows=n_rows,
            random_state=rng,
            communicator=communicator,
        )
        size = np.abs(report.objective)
        report.objective_error = np.abs(form) / 2 / np.where(size > 0, size, 1)
