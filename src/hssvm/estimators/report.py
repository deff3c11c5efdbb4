"""What a fit says about itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import estimate_error, estimate_form_error
from hssvm.solvers import Solution
from hssvm.systems import HSSSystem

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class FitReport:
    """How exact a fit is, and what it cost.

    Attributes
    ----------
    n_rows, n_columns : int
        Columns are the classes, or the values of C, that were trained together.
    on_true_kernel : bool
        Whether `gap` and `objective` are those of the true kernel K: the fit was refined, or had
        nothing to compress. If not, they are those of the compressed kernel K~.
    gap : (k,) array
        Duality gap of each column relative to its objective. On the true kernel it bounds the
        distance of the objective to that of LIBSVM's solution.
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
    """

    n_rows: int = 0
    n_columns: int = 0
    on_true_kernel: bool = False
    gap: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    objective: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    status: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    n_iter: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n_factors: int = 0
    n_rounds: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    kernel_error: float = 0.0
    objective_error: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ranks: list[int] = field(default_factory=list)
    matrix_bytes: int = 0
    factor_bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    history: dict[str, list[tuple[int, NDArray[np.float64]]]] = field(
        default_factory=dict, metadata={"saved": False}
    )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage and log its end."""
        start = time.perf_counter()
        yield
        elapsed = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + elapsed
        logger.info("%s: %.2f s", name, elapsed)

    def take_start(self, system: HSSSystem, solution: Solution) -> None:
        """Take the figures of the compression, and of the solution on it."""
        self.n_rows, self.n_columns = solution.Z.shape
        self.n_iter, self.n_factors = solution.n_iter, solution.n_factors
        self.n_rounds, self.objective_error = np.zeros_like(self.n_iter), np.zeros(self.n_columns)
        self.ranks = [int(ranks.max()) for ranks in system.matrix.ranks]
        self.matrix_bytes, self.factor_bytes = system.matrix.nbytes, system.factor.nbytes
        self.history["solve"] = solution.history

    def take(self, solution: Solution, *, on_true_kernel: bool, refined: bool) -> None:
        """Take the figures of the solution that the model keeps."""
        self.on_true_kernel = on_true_kernel
        self.gap, self.objective = solution.gap, solution.primal
        self.status = [status.name for status in solution.status]
        reasons = dict.fromkeys(status.value for status in solution.status)
        self.advice = [*reasons, *self.advice]
        if refined:
            self.n_rounds = solution.n_iter
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
        """All of it as a text of a few lines."""
        exact = len(self.ranks) <= 1
        kernel = (
            "exact, one block" if exact else f"compressed, relative error {self.kernel_error:.2g}"
        )
        lines = [
            f"{self.n_rows:,} rows, {self.n_columns} column{'s' if self.n_columns > 1 else ''}",
            f"kernel     {kernel}",
        ]
        if not exact:
            lines += [
                f"           ranks {' '.join(map(str, self.ranks[1:]))} from the top to the leaves"
            ]
        solver = (
            f"{_range(self.n_iter)} iterations and {self.n_factors} factorisations"
            f" on the {'true' if exact else 'compressed'} kernel"
        )
        if self.n_rounds.any():
            solver += f", {_range(self.n_rounds)} rounds on the true kernel"
        which = "true" if self.on_true_kernel else "compressed"
        lines += [
            f"solver     {solver}",
            f"answer     relative duality gap {_range(self.gap)} on the {which} kernel",
        ]
        if not self.on_true_kernel:
            lines += [
                f"           compression changes the objective by {_range(self.objective_error)} "
                "(estimate; certify measures the gap on the true kernel)",
            ]
        lines += [
            *(f"           {advice}" for advice in self.advice),
            f"memory     {self.matrix_bytes / 1e6:,.1f} MB matrix, "
            f"{self.factor_bytes / 1e6:,.1f} MB factor",
            "seconds    "
            + ", ".join(f"{name} {value:.2f}" for name, value in self.seconds.items())
            + f"; in all {sum(self.seconds.values()):.2f}",
        ]
        return "\n".join(lines)


def _range(values: NDArray[np.float64] | NDArray[np.int64]) -> str:
    form = "d" if values.dtype.kind == "i" else ".2g"
    low, high = f"{values.min():{form}}", f"{values.max():{form}}"
    return low if low == high else f"{low} to {high}"
