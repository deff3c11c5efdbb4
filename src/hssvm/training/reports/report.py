"""The report of a fit: its accuracy and its cost."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from hssvm._display import ShownAsText, Text
from hssvm.comm import Communicator
from hssvm.kernels.base import Floats
from hssvm.operators import HSSOperator
from hssvm.progress import StageBegan, StageEnded, emit
from hssvm.solvers import Solution, Status
from hssvm.training.reports.summary import summarize


@dataclass(eq=False, repr=False)
class FitReport(ShownAsText):
    """Accuracy and cost of a fit; displayed as the text of `summary`.

    Attributes
    ----------
    task : str
        ``"classification"``, ``"regression"`` or ``"novelty detection"``.
    n_rows, n_columns : int
        Number of rows, and of columns: the classes, pairs of classes, or values of C that were
        trained together. `n_rows` is 0 for models from LIBSVM files, whose training is unknown,
        and for reduced ones.
    n_features, n_classes, n_support, n_members : int
        `n_classes` is 0 for tasks without classes. A mean of `n_members` models has the columns of
        all of them side by side.
    reduced_from : int
        Number of support vectors before `reduce`, or 0.
    exact_kernel : bool
        Whether `gap` and `objective` refer to the exact kernel K, because the fit was refined or
        nothing was compressed. Otherwise they refer to the compressed kernel K~.
    gap : (k,) array
        Duality gap of each column, relative to the larger of its primal and dual objective in
        absolute value. On the exact kernel, it bounds the distance between this objective and the
        objective of LIBSVM. If the objective of a one-class model is close to 0, as with a linear
        kernel on centered rows, the gap is relative to ``1/2 sum z_i^2 k(x_i, x_i)``.
    tol : float
        Relative duality gap at which training stops.
    objective : (k,) array
        Primal objective.
    status : list of str
        ``"CONVERGED"``, or the reason why the column stopped.
    advice : list of str
        What to do about a status, and about data that do not suit the parameters.
    n_iter : (k,) array
        Number of ADMM iterations on K~.
    n_factors : int
        Number of factorizations.
    n_cells : int
        Number of cells of each tree, which have their own exact models; 0 if there are none. `gap`
        and `objective` are of all cells together.
    n_trees : int
        Number of trees whose decision values are averaged. `n_factors` is the sum over the trees,
        `n_iter` and `gap` are the largest, `objective` is the mean; `kernel_error`,
        `objective_error` and the fields that are not saved come from the first tree.
    out_of_fold_score : float
        Accuracy, R^2 or D^2 (what `score` returns) of the out-of-fold decision values: an estimate
        of the score on new data. NaN without `out_of_fold` and `probability`, except for exact
        models of `SVCCV` and `SVRCV`.
    spread : (k,) array
        Root mean square of the standard deviation of the decision values between the trees, at
        10,000 training rows: what compression changes in a single tree. The error of their mean is
        smaller, at best by the square root of `n_trees`. 0 for one tree.
    disagreement : (k,) array
        Fraction of these rows for which the trees disagree on the sign of the decision value.
    n_scale_rows, n_scale_steps : int
        Number of rows from which scales were learned, and of steps that were kept; 0 steps means
        that all features count equally. Both are 0 unless `scaling` is learned.
    scale_errors : list of float
        Squared error of kernel ridge regression on held-out rows after 0, 1, ... steps, relative to
        the variance of the targets; empty if there were too few rows.
    n_rounds : (k,) array
        Number of rounds on K: of the working-set solver or, with few rows, of SMO and active-set
        steps.
    n_steps : (k,) array
        Number of steps on K in all rounds: of SMO, of the active-set method, and of the
        interior-point method.
    n_working : int
        Number of rows in the working set of the refinement.
    kernel_error : float
        Estimate of ``|K - K~|_F / |K|_F`` from random rows of K.
    objective_error : (k,) array
        Estimate of ``1/2 z'(K - K~)z`` relative to the objective, at the solution z: the bound of
        Cipolla and Gondzio on the effect of compression; 0 on the exact kernel. The bound is
        pessimistic: even if it is large, the accuracy on new data often hardly changes.
        `SVC.certify` computes the gap on the exact kernel.
    ranks : list of int
        Largest rank per level, root first.
    matrix_bytes, factor_bytes : int
    seconds : dict
        Seconds by stage.
    history : dict
        Lists of (iteration, gaps) for "solve", on K~, and "refine", on K. Not saved.
    leaf_offsets : (n_leaves + 1,) array
        Offsets of the leaves in tree order. Not saved, and empty on Dask.
    node_ranks : list of arrays
        Rank of every node of every level, root first. Not saved, and empty on Dask.
    """

    task: str = ""
    n_rows: int = 0
    n_columns: int = 0
    n_features: int = 0
    n_classes: int = 0
    n_support: int = 0
    reduced_from: int = 0
    n_members: int = field(default=1, metadata={"saved": False})
    exact_kernel: bool = False
    gap: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    tol: float = 0.0
    objective: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    status: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    n_iter: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n_factors: int = 0
    n_cells: int = 0
    n_trees: int = 1
    out_of_fold_score: float = math.nan
    spread: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    disagreement: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    n_scale_rows: int = 0
    n_scale_steps: int = 0
    scale_errors: list[float] = field(default_factory=list)
    n_rounds: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n_steps: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n_working: int = 0
    kernel_error: float = 0.0
    objective_error: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ranks: list[int] = field(default_factory=list)
    matrix_bytes: int = 0
    factor_bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    history: dict[str, list[tuple[int, NDArray[np.float64]]]] = field(
        default_factory=dict, metadata={"saved": False}
    )
    leaf_offsets: NDArray[np.int64] = field(
        default_factory=lambda: np.empty(0, np.int64), metadata={"saved": False}
    )
    node_ranks: list[NDArray[np.int64]] = field(default_factory=list, metadata={"saved": False})

    @contextmanager
    def stage(self, name: str, goal: float | None = None) -> Iterator[None]:
        """Time a stage, and emit its start and end; `goal` is its target gap."""
        start = time.perf_counter()
        emit(StageBegan(name, goal), "%s begins", name)
        yield
        elapsed = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + elapsed
        emit(StageEnded(name, elapsed), "%s: %.2f s", name, elapsed)

    def split_factor_time(self, stage: str, solution: Solution) -> None:
        """Report the time of factorizations separately from the stage that made them."""
        rest = self.seconds.pop(stage) - solution.factor_seconds
        self.seconds["factor"] = self.seconds.get("factor", 0.0) + solution.factor_seconds
        self.seconds[stage] = rest

    def add_start(self, operator: HSSOperator, solution: Solution) -> None:
        """Record the compression, and the solution on the compressed kernel."""
        matrix = operator.matrix
        self.n_rows, self.n_columns = solution.Z.shape
        self.n_features = matrix.X.shape[1]
        self.n_iter, self.n_factors = solution.n_iter, solution.n_factors
        self.n_rounds, self.n_steps = np.zeros_like(self.n_iter), np.zeros_like(self.n_iter)
        self.objective_error = np.zeros(self.n_columns)
        self.spread, self.disagreement = np.zeros(self.n_columns), np.zeros(self.n_columns)
        self.ranks = [int(ranks.max()) for ranks in matrix.ranks]
        self.matrix_bytes, self.factor_bytes = matrix.nbytes, solution.factor_bytes
        self.history["solve"] = solution.history
        self.split_factor_time("solve", solution)
        if operator.top is None:
            self.leaf_offsets, self.node_ranks = (
                matrix.tree.offsets(matrix.tree.depth),
                matrix.ranks,
            )

    def add_solution(self, solution: Solution, *, exact_kernel: bool, refined: bool) -> None:
        """Record the final solution."""
        self.exact_kernel = exact_kernel
        self.n_support = int(solution.Z.any(axis=1).sum())
        self._add_objective(solution)
        self.status = [status.name for status in solution.status]
        reasons = dict.fromkeys(status.value for status in solution.status)
        self.advice = [*reasons, *self.advice]
        if refined:
            self.n_rounds, self.n_steps = solution.n_rounds, solution.n_iter
            self.n_working = solution.n_working
            self.history["refine"] = solution.history

    def add_exact(self, solution: Solution, n_features: int, tol: float) -> None:
        """Record a solution on the exact kernel; for pairs of classes, Z is packed."""
        self.n_rows, self.n_features, self.tol = solution.Z.shape[0], n_features, tol
        self.exact_kernel, self.n_support = True, int(solution.Z.any(axis=1).sum())
        self._add_objective(solution)
        self.n_rounds, self.n_steps = solution.n_rounds, solution.n_iter
        self.n_columns = k = self.gap.size
        self.n_iter, self.objective_error = np.zeros_like(self.n_rounds), np.zeros(k)
        self.spread, self.disagreement = np.zeros(k), np.zeros(k)
        self.n_working = solution.n_working
        self.status = [status.name for status in solution.status]
        self.advice = [*dict.fromkeys(status.value for status in solution.status), *self.advice]
        self.history["refine"] = solution.history

    def add_cells(self, solution: Solution, n_features: int, n_cells: int, tol: float) -> None:
        """Record the solution on the cells of a tree."""
        self.add_exact(solution, n_features, tol)
        self.exact_kernel, self.n_cells = False, n_cells
        self.history.clear()

    def _add_objective(self, solution: Solution) -> None:
        self.gap = np.maximum(solution.gap, 0.0)  # rounding errors can leave it below 0
        self.objective = solution.primal

    def keep_columns(self, k: int) -> None:
        """Keep the first k columns; the others are models without a fold."""
        self.n_columns, self.status = k, self.status[:k]
        for name in ("gap", "objective", "n_iter", "n_rounds", "n_steps", "objective_error",
                     "spread", "disagreement"):  # fmt: skip
            setattr(self, name, getattr(self, name)[:k])
        for steps in self.history.values():
            steps[:] = [(iteration, gap[:k]) for iteration, gap in steps]

    def add_tree(self, tree: FitReport) -> None:
        """Combine with the report of another tree of the same forest."""
        self.n_trees += 1
        self.gap = np.maximum(self.gap, tree.gap)
        self.objective = self.objective + (tree.objective - self.objective) / self.n_trees
        self.n_iter = np.maximum(self.n_iter, tree.n_iter)
        self.n_factors += tree.n_factors
        self.ranks = [max(pair) for pair in zip_longest(self.ranks, tree.ranks, fillvalue=0)]
        self.matrix_bytes = max(self.matrix_bytes, tree.matrix_bytes)
        self.factor_bytes = max(self.factor_bytes, tree.factor_bytes)
        converged = Status.CONVERGED.name
        self.status = [
            theirs if ours == converged else ours
            for ours, theirs in zip(self.status, tree.status, strict=True)
        ]
        self.advice = list(dict.fromkeys([*self.advice, *tree.advice]))
        for name, seconds in tree.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def add_scales(self, n_rows: int, n_steps: int, errors: list[float]) -> None:
        """Record what learned scales have gained."""
        self.n_scale_rows, self.n_scale_steps, self.scale_errors = n_rows, n_steps, errors

    def lacks_trees(self) -> None:
        """Record that the fit was stopped before all trees were trained."""
        self.status = [Status.FEWER_TREES.name] * self.n_columns
        others = [advice for advice in self.advice if advice != Status.CONVERGED.value]
        self.advice = [Status.FEWER_TREES.value, *others]

    def resume(self) -> None:
        """Undo `lacks_trees`, as the missing trees are about to be trained."""
        if Status.FEWER_TREES.value not in self.advice:
            return
        self.advice.remove(Status.FEWER_TREES.value)
        known = [status for status in Status if status.value in self.advice]
        reason = known[0] if known else Status.CONVERGED
        self.status = [
            Status.CONVERGED.name if gap <= self.tol else reason.name for gap in self.gap
        ]
        if Status.CONVERGED.name in self.status:
            self.advice = [Status.CONVERGED.value, *self.advice]

    def compare_trees(self, decisions: Floats, communicator: Communicator) -> None:
        """Record the differences between the decision values (n_trees, m, k) of the trees."""
        squares = decisions.var(axis=0, ddof=1, dtype=np.float64).sum(axis=0)
        positive = decisions > 0
        differ = (positive.any(axis=0) & ~positive.all(axis=0)).sum(axis=0)
        counts = np.full(squares.shape, decisions.shape[1])
        squares, differ, counts = communicator.allreduce(np.stack([squares, differ, counts]))
        self.spread, self.disagreement = np.sqrt(squares / counts), differ / counts

    def reduce(self, communicator: Communicator) -> None:
        """Combine the reports of all ranks; times come from the slowest rank."""
        sums = [self.n_rows, self.matrix_bytes, self.factor_bytes, self.n_support]
        self.n_rows, self.matrix_bytes, self.factor_bytes, self.n_support = (
            int(total) for total in communicator.allreduce(np.array(sums))
        )
        self.ranks = [int(rank) for rank in communicator.allreduce(np.array(self.ranks), "max")]
        slowest = communicator.allreduce(np.array(list(self.seconds.values())), "max")
        self.seconds = dict(zip(self.seconds, slowest.tolist(), strict=True))

    def summary(self) -> str:
        """Return the report as text of a few lines."""
        return Text(summarize(self))

    def __str__(self) -> str:
        return self.summary()
