"""Training of least squares: one solve with a factor of the compressed kernel for each tree.

The same factor is the preconditioner of an exact solution. Where none is needed, it also gives the
predictions of all rows by models without them, ``y_i - z_i / d_i``, where d is the diagonal of the
inverse.
"""

from __future__ import annotations

import time

import numpy as np

from hssvm.hss import inverse_diagonal
from hssvm.hss.scratch import Scratch
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.operators import HSSOperator
from hssvm.operators.hss import HSSFactor
from hssvm.predictors import LeafExpansions
from hssvm.problems import LeastSquaresProblem
from hssvm.solvers import ConjugateGradients, Solution, Status
from hssvm.training.data.checks import check_features, check_kernel
from hssvm.training.memory import FitMemory
from hssvm.training.out_of_fold import assign_folds, decisions_without_fold
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.errors import estimate_errors
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.routes.forest.compression import build_tree, compress_kernel
from hssvm.training.routes.forest.forest import Forest, TrainedTree
from hssvm.training.routes.forest.grow import grow
from hssvm.training.routes.forest.route import REPORT_ROWS


def train_least_squares(
    problem: LeastSquaresProblem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    memory: FitMemory,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
    earlier: Forest | None = None,
) -> TrainingResult:
    """Solve the problem on the exact kernel, or on several compressed ones.

    Parameters
    ----------
    problem, kernel, X, plan, memory, report, monitor, start, earlier
        See `hssvm.training.routes.forest.route.train_forest`.

    Returns
    -------
    TrainingResult
    """
    scratch = Scratch() if memory.on_disk else None

    def train_one(
        index: int, report: FitReport, monitor: Monitor, start: Floats | None
    ) -> TrainedTree:
        tree = build_tree(kernel, X, plan, report, index)
        matrix = compress_kernel(kernel, X, tree, plan, report, index, scratch)
        if index == 0 and not plan.scaled:
            monitor.advise(check_features(X, kernel), report)
        trained = _train_tree(HSSOperator(matrix), problem, plan, report, monitor, start)
        if index == 0:
            monitor.advise(check_kernel(X, kernel, plan.seed), report)
        return trained

    max_workers = plan.trees_at_a_time(memory)
    forest = grow(train_one, problem, kernel, X, plan, report, monitor, max_workers, start, earlier)
    return forest.result(problem, kernel, X, plan.seed)


def _train_tree(
    operator: HSSOperator,
    problem: LeastSquaresProblem,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None,
) -> TrainedTree:
    """Solve on the compressed kernel and, if the plan is exact, on the exact one."""
    matrix = operator.matrix
    compressed = matrix.tree.depth > 0
    refines = plan.exact and compressed
    report.tol = plan.tol
    with report.stage("solve"):
        began = time.perf_counter()
        factor = operator.factor(problem.shift)
        seconds = time.perf_counter() - began
        Z = np.where(problem.used, factor.solve(problem.linear), 0).astype(problem.dtype)
        solution = Solution.at(problem, Z, operator.matmul(Z))
    solution.end(np.arange(problem.k), Status.stalled(problem.dtype))
    solution.n_iter[:] = solution.n_factors = 1
    solution.factor_bytes, solution.factor_seconds = factor.nbytes, seconds
    report.add_start(operator, solution)
    solver = ConjugateGradients(plan.tol, plan.max_work, plan.max_iter or np.inf, monitor.stop)
    K = LazyKernelMatrix(matrix.kernel, matrix.X)
    if refines:
        with report.stage("refine", goal=plan.tol):
            solution = solver.solve(problem, K, factor, Z if start is None else start)
    solution.accept(plan.tol)
    report.add_solution(solution, exact_kernel=refines or not compressed, refined=refines)
    out_of_fold = None
    if plan.n_folds and solution.stopped is None:
        with report.stage("folds"):
            if refines:
                out_of_fold = _without_fold(problem, K, factor, solution, solver, plan)
            else:
                out_of_fold = _without_own_row(problem, factor, solution)
    with report.stage("finish"):
        expansions = None
        if matrix.projection and not report.exact_kernel:
            expansions = LeafExpansions.of(matrix, solution.Z, solution.intercept)
        estimate_errors(report, operator, solution, REPORT_ROWS, plan.seed)
    return TrainedTree(solution, expansions, report, out_of_fold)


def _without_own_row(problem: LeastSquaresProblem, factor: HSSFactor, solution: Solution) -> Floats:
    """Predictions of all rows by models without them, (n, k), in closed form."""
    left_out = problem.linear - solution.Z / inverse_diagonal(factor.ulv)[:, None]
    return np.where(problem.used, left_out, solution.F).astype(problem.dtype)


def _without_fold(
    problem: LeastSquaresProblem,
    K: LazyKernelMatrix,
    factor: HSSFactor,
    solution: Solution,
    solver: ConjugateGradients,
    plan: TrainingPlan,
) -> Floats | None:
    """Predictions on the exact kernel, (n, k), by models without a fold; None if it was stopped.

    The closed form would need the diagonal of the inverse on the exact kernel, too.
    """
    k, fold = problem.k, assign_folds(problem.strata, plan.seed)
    folds = problem.excluding(fold[:, None] == np.arange(plan.n_folds))
    solved = solver.solve(folds, K, factor, np.tile(solution.Z, plan.n_folds))
    if solved.stopped is not None:
        return None
    return decisions_without_fold(solved.F, solved.intercept, fold, k)
