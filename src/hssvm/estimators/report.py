"""What a fit says about itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import HSSMatrix, estimate_error, estimate_form_error
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
    gap : (k,) array
        Duality gap of each column relative to its objective, of the problem on the compressed
        kernel K~.
    objective : (k,) array
        Primal objective on K~.
    status : list of str
        ``"CONVERGED"``, or why not.
    advice : list of str
        What to do about it, without repetition.
    n_iter : (k,) array
    n_factors : int
    kernel_error : float
        Estimate of ``|K - K~|_F / |K|_F`` from random rows of the true kernel matrix K.
    objective_error : (k,) array
        Estimate of ``1/2 z'(K - K~)z`` relative to the objective, at the solution z: the bound of
        Cipolla and Gondzio on what compression changes. Large values are a warning, not a verdict:
        accuracy on new data often hardly changes.
    ranks : list of int
        Largest rank per level, root first.
    matrix_bytes, factor_bytes : int
    seconds : dict
        By stage.
    """

    n_rows: int = 0
    n_columns: int = 0
    gap: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    objective: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    status: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    n_iter: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    n_factors: int = 0
    kernel_error: float = 0.0
    objective_error: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ranks: list[int] = field(default_factory=list)
    matrix_bytes: int = 0
    factor_bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage and log its end."""
        start = time.perf_counter()
        yield
        elapsed = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + elapsed
        logger.info("%s: %.2f s", name, elapsed)

    def fill(
        self, matrix: HSSMatrix, system: HSSSystem, solution: Solution, n_rows: int, seed: int
    ) -> None:
        """Take the figures from the parts of a fit; errors of K~ are estimated from `n_rows`."""
        self.n_rows, self.n_columns = solution.Z.shape
        self.gap, self.objective, self.n_iter = solution.gap, solution.primal, solution.n_iter
        self.status = [status.name for status in solution.status]
        self.advice = list(dict.fromkeys(status.value for status in solution.status))
        self.n_factors = solution.n_factors
        self.ranks = [int(ranks.max()) for ranks in matrix.ranks]
        self.matrix_bytes, self.factor_bytes = matrix.nbytes, system.factor.nbytes
        self.objective_error = np.zeros(self.n_columns)
        if matrix.tree.depth > 0:
            self.kernel_error = estimate_error(
                matrix, n_rows=n_rows, matmul=system.matmul, random_state=seed
            )
            form = estimate_form_error(
                matrix, solution.Z, solution.F, n_rows=n_rows, random_state=seed
            )
            self.objective_error = (
                np.abs(form) / 2 / np.where(self.objective > 0, self.objective, 1)
            )

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
                f"           objective on the true kernel within {_range(self.objective_error)} "
                "(estimate)",
                f"           ranks {' '.join(map(str, self.ranks[1:]))} from the top to the leaves",
            ]
        lines += [
            f"solver     relative duality gap {_range(self.gap)} after {_range(self.n_iter)} "
            f"iterations and {self.n_factors} factorisations",
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
