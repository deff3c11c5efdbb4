"""Estimates of the time and memory of a fit, from fits on two small samples.

Two samples, one twice the size of the other, give the cost per row and its growth with one
more level of the tree. Ranks may grow up to eight levels above the leaves, and each of these levels
adds the same cost; each further level adds half of the previous one. Refinement computes the kernel
values of all rows with the support vectors, whose number is extrapolated from the samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm._memory import installed_memory
from hssvm.hss.nystroem import GROWING_LEVELS
from hssvm.kernels.base import Kernel, Rows
from hssvm.kernels.cached import n_kept_rows
from hssvm.kernels.indexed import IndexedKernel
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.messages import Message, api
from hssvm.training.approximation import HSS
from hssvm.training.cell_cost import estimate_cells
from hssvm.training.compressed_start import many_support_vectors
from hssvm.training.config import TrainingConfig
from hssvm.training.memory import FitMemory
from hssvm.training.pipeline import train
from hssvm.training.plan import DEFAULT_MEMORY, FOLDS, Route, TrainingPlan
from hssvm.training.planning import plan_problem, plan_task
from hssvm.training.reports.estimate import CostEstimate
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.tasks import Task

TRIAL_ROWS = 8000
"""Number of rows of the larger sample."""

MAX_KERNEL_ERROR = 0.3
"""Relative error of the compressed kernel above which the estimate advises against it."""


def estimate_cost(
    task: Task, X: Rows, y: NDArray[Any] | None, kernel: Kernel, config: TrainingConfig
) -> CostEstimate:
    """Train on samples of the rows, and extrapolate.

    Parameters
    ----------
    task : Task
    X : (n, p) array or CSR matrix
        Scaled, if the fit scales; indices of points for an `IndexedKernel`.
    y : (n,) array or None
    kernel : Kernel
    config : TrainingConfig
        Configuration of a fit on all rows.
    """
    n, exact = X.shape[0], config.is_exact(kernel, X)
    if not exact:
        rough, _ = plan_task(config, task, X, y, np.ones(n), kernel)
        if rough.route is Route.CELLS:
            return _estimate_of_cells(task, X, y, kernel, rough)
    route = Route.REFINED if exact else Route.COMPRESSED
    plan = config.plan(*X.shape, route=route, sparse=scipy.sparse.issparse(X))
    order = np.random.default_rng(0).permutation(n)
    if y is not None:  # stratify the samples by y
        values = y if y.ndim == 1 else task.targets(y).Y[:, 0]
        order = order[np.argsort(values[order], kind="stable")]
    sample = _evenly_spaced(order, min(n, TRIAL_ROWS))
    half = _evenly_spaced(sample, min(sample.size, max(2, -(-sample.size // 2))))
    trial_config = replace(
        config,
        refine=exact,
        tol=plan.tol,
        approximation=HSS(None if exact else 1, plan.leaf_size, compressor=plan.compressor),
        held_out=math.inf if config.held_out else 0,
        memory_limit=None,
        scaled=False,
    )

    def fit(rows: NDArray[np.int64], *, compressed_start: bool) -> TrainingResult:
        own, points = kernel, X[rows]
        if isinstance(kernel, IndexedKernel):
            own = kernel.bind(kernel.select(rows))
            points = own.points().astype(X.dtype, copy=False)
        trial_task, targets = task.of_sample(None if y is None else y[rows])
        problem = trial_task.problem(points, targets, np.ones(rows.size), own, exact=exact)
        own_config = replace(trial_config, compressed_start=compressed_start)
        own_plan = plan_problem(own_config, problem, own, points)
        return train(problem, own, points, own_plan, FitReport(), Monitor())

    # Times come from the second fit, as the first one is a warm-up.
    start = config.starts_compressed(n)
    first, trial = (fit(rows, compressed_start=bool(start)) for rows in (half, sample))
    pairs = trial.problem.n_parts > 1
    if start is None and not pairs and trial.problem.part(0).problem.sparse_solution:
        counts = [np.count_nonzero(result.Z) / result.problem.k for result in (first, trial)]
        if many_support_vectors(counts, (half.size, sample.size), n):
            first, trial = (fit(rows, compressed_start=True) for rows in (half, sample))
    small, large = first.report, trial.report
    ratio = n / large.n_rows
    growth = ratio ** (1 + _power(first.support.size, trial.support.size, small, large))
    folds = growth * plan.n_folds / FOLDS  # the samples leave out all folds
    n_columns = large.n_columns * (1 + plan.n_folds)
    refines = exact and n > plan.leaf_size
    model, cache = plan.memory(X, n_columns), plan.cache(X, n_columns) if refines else 0.0
    if large.n_factors == 0:  # on the exact kernel only
        factors = {"solve": growth, "folds": folds}
        pair_rows = None
        if pairs and y is not None:
            pair_rows = int(np.sort(np.unique(y, return_counts=True)[1])[-2:].sum())
        K = LazyKernelMatrix(kernel, X[:pair_rows])
        memory = _exact_memory(model, cache or DEFAULT_MEMORY, small, large, pair_rows, K)
    else:
        a, b = _bytes(small) / small.n_rows, _bytes(large) / large.n_rows
        factor = ratio * _growth(a, b, small, large, n) / b
        factors = dict.fromkeys(large.seconds, factor)
        factors |= {"refine": growth, "folds": folds, "finish": ratio}
        memory = _memory(model, cache, small, large, factor) * plan.trees_at_a_time(model)
    seconds = {name: value * factors[name] * plan.n_trees for name, value in large.seconds.items()}
    return CostEstimate(
        n,
        large.n_rows,
        seconds,
        memory,
        large.kernel_error,
        large.ranks,
        refines,
        plan.n_trees,
        large.n_columns if pairs else 0,
        0,
        _advice(memory, large.kernel_error, refines),
    )


def _estimate_of_cells(
    task: Task, X: Rows, y: NDArray[Any] | None, kernel: Kernel, plan: TrainingPlan
) -> CostEstimate:
    n_sample, seconds, memory = estimate_cells(task, X, y, kernel, plan)
    return CostEstimate(
        X.shape[0], n_sample, seconds, memory, 0.0, [], False, plan.n_trees, 0, plan.leaf_size,
        _advice(memory, 0.0, refines=False),
    )  # fmt: skip


def _exact_memory(
    model: FitMemory,
    cache: float,
    small: FitReport,
    large: FitReport,
    pair_rows: int | None,
    kernel_matrix: LazyKernelMatrix,
) -> float:
    """Peak of a fit without compression; `pair_rows` is the size of the largest pair of classes."""
    rows, at_once = (model.n_rows, 1) if pair_rows is None else (pair_rows, model.n_threads)
    growth = _power(small.n_working, large.n_working, small, large)
    working_rows = large.n_working * (model.n_rows / large.n_rows) ** growth
    if working_rows == 0 or n_kept_rows(kernel_matrix, cache / at_once) > 0:
        working_rows = rows
    return model.exact_peak(rows, min(rows, working_rows), cache, at_once)


def _memory(
    model: FitMemory, cache: float, small: FitReport, large: FitReport, factor: float
) -> float:
    """Peak of a fit whose matrix is `factor` times the size of the larger sample's matrix."""
    expected = replace(model, ranks=_ranks(large.ranks, model.ranks))
    growth = _power(small.n_working, large.n_working, small, large)
    most = min(model.n_rows, (cache / model.itemsize) ** 0.5)
    working_rows = min(most, large.n_working * (model.n_rows / large.n_rows) ** growth)
    return expected.expected_peak(
        factor * large.matrix_bytes, factor * large.factor_bytes, working_rows
    )


def _ranks(sample: list[int], largest: Sequence[int]) -> list[int]:
    """Expected ranks of the full tree, root first; its lower levels have the ranks of the sample.

    The levels above have the same fraction of their maximum rank as the top level of the sample.
    """
    above = len(largest) - len(sample)
    share = 1.0 if len(sample) == 1 else sample[1] / largest[above + 1]
    return [*(math.ceil(share * rank) for rank in largest[: above + 1]), *sample[1:]]


def _power(small: int, large: int, a: FitReport, b: FitReport) -> float:
    """Exponent p in [0, 1] with which a count grows like ``n**p`` from sample a to sample b."""
    if a.n_rows == b.n_rows:
        return 1.0
    power = math.log(max(1, large) / max(1, small)) / math.log(b.n_rows / a.n_rows)
    return float(np.clip(power, 0, 1))


def _evenly_spaced(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return `count` evenly spaced rows, including the first and the last."""
    return rows[np.linspace(0, rows.size - 1, count).astype(np.int64)]


def _bytes(report: FitReport) -> float:
    return report.matrix_bytes + report.factor_bytes


def _growth(small: float, large: float, a: FitReport, b: FitReport, n: int) -> float:
    """Cost per row of n rows, from the costs per row of two samples whose depths differ by 1."""
    depth = len(b.ranks) - 1
    if depth == len(a.ranks) - 1 or n == b.n_rows:
        return large
    more = math.ceil(math.log2(n / b.n_rows))
    full = max(0, min(more, GROWING_LEVELS - depth))
    return large + (large - small) * (full + (1 if more > full else 0))


def _advice(memory: float, kernel_error: float, refines: bool) -> list[str]:
    advice = []
    installed = installed_memory()
    if installed is not None and memory > 0.8 * installed:
        advice.append(
            f"needs {memory / 1e9:.2g} GB; this machine has {installed / 1e9:.2g} GB: "
            f"{api:pass X in float32}, set a {api:memory_limit}, or train on fewer rows."
        )
    if kernel_error > MAX_KERNEL_ERROR and not refines:
        advice.append(
            f"the compressed kernel is far from the exact one: lower {api:gamma} (a wider kernel "
            f"compresses better), raise {api:max_rank}, or set {api:refine=True} if time permits."
        )
    return [Message(text) for text in advice or ["No problem expected."]]
