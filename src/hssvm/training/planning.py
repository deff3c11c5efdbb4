"""The plan of a fit: the decisions that the user has left open, made once.

Some depend on the size of the data, see `TrainingConfig`. Whether an exact solution starts on the
compressed kernel may have to be measured, see `hssvm.training.compressed_start`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.messages import Message, api
from hssvm.problems import BaseProblem, LeastSquaresProblem
from hssvm.training.compressed_start import compressed_start_pays
from hssvm.training.config import TrainingConfig, is_one_leaf
from hssvm.training.plan import Route, TrainingPlan
from hssvm.training.tasks import Task
from hssvm.training.warm_start import LastFit


def plan_task(
    config: TrainingConfig,
    task: Task,
    X: Rows,
    y: NDArray[Any] | None,
    weight: Floats,
    kernel: Kernel,
    last: LastFit | None = None,
) -> tuple[TrainingPlan, BaseProblem]:
    """Return the plan and the problem of a task, for rows (n, p), targets and weights (n,).

    With the `last` fit, for a warm start, the plan keeps its trees if it can.
    """
    exact = config.is_exact(kernel, X)
    problem = task.problem(X, y, weight, kernel, exact=exact)
    return _plan(config, problem, kernel, X, last, exact=exact), problem


def plan_problem(
    config: TrainingConfig, problem: BaseProblem, kernel: Kernel, X: Rows
) -> TrainingPlan:
    """Return the plan for a problem; pairs of classes need an exact solution."""
    exact = problem.n_parts > 1 or config.is_exact(kernel, X)
    return _plan(config, problem, kernel, X, None, exact=exact)


def _plan(
    config: TrainingConfig,
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    last: LastFit | None,
    *,
    exact: bool,
) -> TrainingPlan:
    single = problem.part(0).problem
    if exact:
        compressed = _starts_compressed(config, problem, kernel, X)
        route = Route.REFINED if compressed else Route.EXACT
    else:
        route = config.approximate_route(local=single.local)
    plan = config.plan(
        *X.shape,
        route=route,
        sparse=scipy.sparse.issparse(X),
        value_cost=kernel.value_cost(X),
        least_squares=isinstance(single, LeastSquaresProblem),
    )
    if route is Route.CELLS:
        if last is not None and not config.chooses_cells:
            plan = last.keep_cells(plan, problem, kernel, X)
        plan = _within_memory(plan, X, problem.k, chosen=config.chooses_cells)
    return plan


def _starts_compressed(
    config: TrainingConfig, problem: BaseProblem, kernel: Kernel, X: Rows
) -> bool:
    """Whether an exact solution starts on the compressed kernel."""
    if problem.n_parts > 1 or is_one_leaf(problem.n, config.approximation):
        return False
    single = problem.part(0).problem
    if not single.sparse_solution:
        return True
    known = config.starts_compressed(problem.n)
    return compressed_start_pays(single, kernel, X, config.seed) if known is None else known


def _within_memory(plan: TrainingPlan, X: Rows, n_columns: int, *, chosen: bool) -> TrainingPlan:
    """Return the plan of a fit of cells, with smaller ones if one does not fit in a memory limit.

    Raise MemoryError if they would be too small, or if the user has `chosen` their size.
    """
    if plan.memory_limit is None:
        return plan
    memory, limit = plan.cell_memory(X, n_columns * (1 + plan.n_folds)), plan.memory_limit
    if memory.peak(plan.leaf_size) <= limit:
        return plan
    size = memory.largest_size(limit)
    if size > 0 and not chosen:
        return replace(plan, leaf_size=size)
    smaller = f"set the {api:size} of cells to {size} or less, " if size > 0 else ""
    raise MemoryError(
        Message(
            f"the fit may need {memory.peak(plan.leaf_size) / 1e9:.2g} GB, more than the "
            f"{api:memory_limit} of {limit / 1e9:.2g} GB; {smaller}raise the limit, "
            f"{api:pass X in float32}, or train on fewer rows"
        )
    )
