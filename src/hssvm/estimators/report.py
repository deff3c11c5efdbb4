"""What a fit says about itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.display import ShownAsText
from hssvm.hss import HSSMatrix, estimate_error, estimate_form_error
from hssvm.solvers import Solution
from hssvm.systems import HSSSystem

logger = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class FitReport(ShownAsText):
    """How exact a fit is, and what it cost; shown as the text of `summary`.

    Attributes
    ----------
    task : str
        ``"classification"``, ``"regression"`` or ``"novelty detection"``.
    n_rows, n_columns : int
        Columns are the classes, or the values of C, that were trained together.
    n_features, n_classes, n_support : int
        Features of the rows; classes, 0 if the task has none; support vectors.
    on_true_kernel : bool
        Whether `gap` and `objective` are those of the true kernel K: the fit was refined, or had
        nothing to compress. If not, they are those of the compressed kernel K~.
    gap : (k,) array
        Duality gap of each column relative to its objective. On the true kernel it bounds the
        distance of the objective to that of LIBSVM's solution. Where the objective of a one-class
        model is close to 0, as with a linear kernel on centered rows, the gap is relative to
        ``1/2 sum z_i^2 k(x_i, x_i)``.
    objective : (k,) array
        Primal objective.
    status : list of str
        ``"CONVERGED"``, or why not.
    advice : list of str
        What to do about it, without repetition, and about data that do not suit the parameters.
    n_iter : (k,) array
        Iterations of ADMM on K~.
    n_factors : int
    n_rounds : (k,) array
        Rounds of refinement on K.
    n_working : int
        Rows whose kernel matrix refinement has held in memory.
    kernel_error : float
        Estimate of ``|K - K~|_F / |K|_F`` from random rows of K.
    objective_error : (k,) array
        Estimate of ``1/2 z'(K - K~)z`` relative to the objective, at the solution z: the bound of
        Cipolla and Gondzio on what compression changes; 0 on the true kernel. Large values are a
        warning, not a verdict: accuracy on new data often hardly changes. `SVC.certify` measures
        the gap on the true kernel.
    ranks : list of int
        Largest rank per level, root first.
    matrix_bytes, factor_bytes : int
    seconds : dict
        By stage.
    history : dict
        Of "solve" and "refine", lists of (iteration, gaps): the gap on K~, and on K. Not saved.
    leaf_ends : (n_leaves + 1,) array
        Ends of the leaves in tree order. Not saved, and empty on Dask.
    node_ranks : list of arrays
        Rank of every node of every level, root first. Not saved, and empty on Dask.
    """

    task: str = ""
    n_rows: int = 0
    n_columns: int = 0
    n_features: int = 0
    n_classes: int = 0
    n_support: int = 0
    on_true_kernel: bool = False
    gap: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    objective: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    status: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    n_iter: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n_factors: int = 0
    n_rounds: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
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
    leaf_ends: NDArray[np.int64] = field(
        default_factory=lambda: np.empty(0, np.int64), metadata={"saved": False}
    )
    node_ranks: list[NDArray[np.int64]] = field(default_factory=list, metadata={"saved": False})

    @contextmanager
    def stage(self, name: str, goal: float | None = None) -> Iterator[None]:
        """Time a stage, and log its begin and end; `goal` is the gap it aims for.

        `hssvm.estimators.progress` reads these records.
        """
        start = time.perf_counter()
        logger.debug("%s begins", name, extra={"stage": name, "goal": goal})
        yield
        elapsed = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + elapsed
        logger.info("%s: %.2f s", name, elapsed, extra={"stage": name, "seconds": elapsed})

    def take_start(self, system: HSSSystem, solution: Solution) -> None:
        """Take the figures of the compression, and of the solution on it."""
        self.n_rows, self.n_columns = solution.Z.shape
        self.n_features = system.matrix.X.shape[1]
        self.n_iter, self.n_factors = solution.n_iter, solution.n_factors
        self.n_rounds, self.objective_error = np.zeros_like(self.n_iter), np.zeros(self.n_columns)
        self.ranks = [int(ranks.max()) for ranks in system.matrix.ranks]
        self.matrix_bytes, self.factor_bytes = system.matrix.nbytes, system.factor.nbytes
        self.history["solve"] = solution.history

    def take_blocks(self, matrix: HSSMatrix) -> None:
        """Take the sizes and ranks of all blocks."""
        self.leaf_ends, self.node_ranks = matrix.tree.offsets(matrix.tree.depth), matrix.ranks

    def take(self, solution: Solution, *, on_true_kernel: bool, refined: bool) -> None:
        """Take the figures of the solution that the model keeps."""
        self.on_true_kernel = on_true_kernel
        self.n_support = int(solution.Z.any(axis=1).sum())
        self.gap, self.objective = solution.gap, solution.primal
        self.status = [status.name for status in solution.status]
        reasons = dict.fromkeys(status.value for status in solution.status)
        self.advice = [*reasons, *self.advice]
        if refined:
            self.n_rounds, self.n_working = solution.n_iter, solution.n_working
            self.history["refine"] = solution.history

    def estimate(self, system: HSSSystem, solution: Solution, n_rows: int, seed: int) -> None:
        """Estimate the errors of K~ from `n_rows` rows of K."""
        matrix = system.matrix
        if matrix.tree.depth > 0:
            self.kernel_error = estimate_error(
                matrix, n_rows=n_rows, matmul=system.matmul, random_state=seed
            )
        if not self.on_true_kernel:
            form = estimate_form_error(
                matrix, solution.Z, solution.F, n_rows=n_rows, random_state=seed
            )
            size = np.abs(self.objective)
            self.objective_error = np.abs(form) / 2 / np.where(size > 0, size, 1)

    def summary(self) -> str:
        """Return the report as a text of a few lines."""
        lines = [f"data       {self._data()}"]
        if self.task:
            share = f" ({self.n_support / self.n_rows:.1%} of the rows)" if self.n_rows else ""
            lines.append(f"model      {counted(self.n_support, 'support vector')}{share}")
        if self.gap.size:
            lines += self._solution()
        lines += [
            f"memory     {self.matrix_bytes / 1e6:,.1f} MB matrix, "
            f"{self.factor_bytes / 1e6:,.1f} MB factor",
            f"seconds    {sum(self.seconds.values()):.2f} in all: "
            + ", ".join(f"{name} {value:.2f}" for name, value in self.seconds.items()),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def _data(self) -> str:
        parts = [counted(self.n_rows, "row")]
        if self.n_features:
            parts.append(counted(self.n_features, "feature"))
        if self.n_classes:
            parts.append(counted(self.n_classes, "class", "classes"))
        elif self.task:
            parts.append(self.task)
        return ", ".join(parts)

    def _solution(self) -> list[str]:
        """Lines on the answer, the kernel it belongs to, and how it was found."""
        compressed = len(self.ranks) > 1
        which = "exact" if self.on_true_kernel else "compressed"
        lines = [f"solved     on the {which} kernel, relative duality gap {_range(self.gap)}"]
        if not self.on_true_kernel:
            lines.append(
                f"           compression changes the objective by {_range(self.objective_error)} "
                "(estimate; certify measures the gap on the exact kernel)"
            )
        lines += [f"           {advice}" for advice in self.advice]
        solver = (
            f"{_range(self.n_iter)} iterations, {counted(self.n_factors, 'factorization')}"
            f" on the {'compressed' if compressed else 'exact'} kernel"
        )
        if self.n_rounds.any():
            solver += f"; {_range(self.n_rounds)} rounds on the exact kernel"
        lines.append(f"solver     {solver}")
        if compressed:
            lines += [
                ("start" if self.on_true_kernel else "kernel").ljust(11)
                + f"compressed kernel, relative error {self.kernel_error:.2g}",
                f"           ranks {' '.join(map(str, self.ranks[1:]))} from the top to the leaves",
            ]
        return lines


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number and its noun: ``1 row``, ``3,000 rows``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _range(values: NDArray[np.float64] | NDArray[np.int64]) -> str:
    form = "d" if values.dtype.kind == "i" else ".2g"
    low, high = f"{values.min():{form}}", f"{values.max():{form}}"
    return low if low == high else f"{low} to {high}"
