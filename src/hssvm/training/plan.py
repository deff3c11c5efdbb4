"""The parameters of the training of one data set, with nothing left open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

import numpy as np
import scipy.sparse

from hssvm import _core, costs
from hssvm._memory import installed_memory
from hssvm.hss import Compressor
from hssvm.hss.hashing import cut_width
from hssvm.hss.tree import depth_for
from hssvm.kernels.base import Rows
from hssvm.kernels.wide import table_width
from hssvm.solvers import ADMM, FixedIterationADMM
from hssvm.training.cell_memory import CellMemory
from hssvm.training.memory import FitMemory
from hssvm.training.reports.monitor import Monitor

EXACT_SHARE = 0.1
"""Exact solutions stop at this fraction of `tol`: it hardly costs more, and with the default tol
the dual objective then agrees with LIBSVM's to five digits."""

START_TOL, START_ITER = 1e-2, 100
"""Tolerance and number of iterations if the solution on the compressed kernel is only the start for
the exact kernel."""

DEFAULT_MEMORY = 2e9
"""Bytes for the kernel values of a refinement, the columns of a cross-validation, or the trees that
are trained at a time, if memory_limit is not set."""

CELLS_SHARE = 0.25
"""Share of the memory of the machine, if that is more, for the kernel values of the cells that are
solved at a time. It does not change the model."""

DEFAULT_ITER, PAPER_ITER = 1000, 10

FOLDS = 5
"""Number of folds; models without some or all of them are trained for out-of-fold values."""

FOLD_TOL_FACTOR = 4.0
"""Tolerance of the models that leave out a fold, relative to `tol`. A smaller one does not change
their scores."""


class Route(Enum):
    """The way from a problem to a model."""

    EXACT = "on the exact kernel"
    REFINED = "on the exact kernel, from a solution on the compressed one"
    COMPRESSED = "on one or several compressed kernels"
    CELLS = "on the exact kernel, within the cells of one or several trees"


@dataclass(frozen=True)
class TrainingPlan:
    """The choices of a `TrainingConfig`, and the decisions for a data set; `SVC` documents them.

    Attributes
    ----------
    route : Route
    tol : float
    max_iter : int or None
    solver : {'admm', 'paper'}
    limit_work : bool
    n_trees, leaf_size : int
        The leaves may be cells; then `leaf_size` is their number of rows, see `cell_rows`.
    n_folds : int
        Number of models that leave out a fold, at most FOLDS.
    compressor : Compressor
    memory_limit : float or None
    scaled : bool
    seed : int
    """

    route: Route
    tol: float
    max_iter: int | None
    solver: Literal["admm", "paper"]
    limit_work: bool
    n_trees: int
    n_folds: int
    leaf_size: int
    compressor: Compressor
    memory_limit: float | None
    scaled: bool
    seed: int

    @property
    def exact(self) -> bool:
        """Whether the solution is on the exact kernel."""
        return self.route in (Route.EXACT, Route.REFINED)

    @property
    def exact_tol(self) -> float:
        """Gap of a solution on the exact kernel."""
        return self.tol * EXACT_SHARE

    @property
    def max_work(self) -> float:
        """Work limit of a solution on the exact kernel, in nominal seconds."""
        return costs.MAX_PASSES * costs.AFFORDABLE_PASS if self.limit_work else np.inf

    def tree_seed(self, tree: int) -> int:
        """Seed of a tree of the forest, independent of the number of trees."""
        return int(np.random.SeedSequence([self.seed, tree]).generate_state(1)[0])

    def first_solver(self, monitor: Monitor, n_columns: int) -> ADMM | FixedIterationADMM:
        """Return the solver on the compressed kernel.

        Parameters
        ----------
        monitor : Monitor
        n_columns : int
            Number of columns of the problem, including columns that leave out a fold.
        """
        if self.solver == "paper":
            return FixedIterationADMM(self.max_iter or PAPER_ITER)
        tol, max_iter = self.tol, self.max_iter or DEFAULT_ITER
        if self.exact:
            tol, max_iter = max(tol, START_TOL), min(max_iter, START_ITER)
        all_rows = n_columns // (1 + self.n_folds)
        tols = np.repeat([tol, FOLD_TOL_FACTOR * tol], [all_rows, n_columns - all_rows])
        return ADMM(tols, max_iter, stop=monitor.stop, checkpoint=monitor.checkpoint)

    def memory(self, X: Rows, n_columns: int) -> FitMemory:
        """Return the memory model of a fit with the maximum ranks."""
        n, p = X.shape
        depth = depth_for(n, self.leaf_size)
        sparse = scipy.sparse.issparse(X)
        ranks = [self.compressor.largest_rank(depth, level) for level in range(1, depth + 1)]
        return FitMemory(
            n_rows=n,
            n_features=p,
            n_columns=n_columns,
            row_bytes=X.data.nbytes + X.indices.nbytes + 8 * n if sparse else X.nbytes,
            itemsize=X.dtype.itemsize,
            sparse=sparse,
            scaled=self.scaled,
            refines=self.exact and n > self.leaf_size,
            cut_width=cut_width(X),
            table_width=table_width(X) if sparse else p,
            ranks=[0, *ranks],
            oversampling=getattr(self.compressor, "oversampling", 0.0),
            n_threads=_core.thread_count(),
        )

    def cell_memory(self, X: Rows, n_columns: int) -> CellMemory:
        """Return the memory model of a fit of cells, with all its columns, including folds."""
        return CellMemory.of(X, n_columns, self.n_folds, self.n_trees, scaled=self.scaled)

    def trees_at_a_time(self, memory: FitMemory) -> int:
        """Number of trees that are trained at a time, limited by threads and memory."""
        limit = DEFAULT_MEMORY if self.memory_limit is None else self.memory_limit
        fitting = int(limit / memory.largest_peak(memory.min_cache))
        return max(1, min(self.n_trees, memory.n_threads, fitting))

    def cache(self, X: Rows, n_columns: int) -> float:
        """Bytes for kernel values during refinement, or of the cells that are solved at a time.

        They are the default, or the rest of the limit; but at least one cell is solved.
        """
        if self.route is Route.CELLS:
            cells = self.cell_memory(X, n_columns)
            if self.memory_limit is not None:
                return cells.cache_within(self.memory_limit, self.leaf_size)
            share = CELLS_SHARE * (installed_memory() or 0)
            return max(DEFAULT_MEMORY, share, cells.values(self.leaf_size))
        if self.memory_limit is None:
            return DEFAULT_MEMORY
        memory = replace(self.memory(X, n_columns), refines=True)
        return (memory.within(self.memory_limit) or memory).cache_within(self.memory_limit)


def cell_rows(n_rows: int, size: int) -> int:
    """Return the number of rows of the largest cell, if no cell may have more than `size` rows.

    All leaves of a tree have the same level, so cells may be half as large.

    Examples
    --------
    >>> from hssvm.training.plan import cell_rows
    >>> cell_rows(30_000, 8000), cell_rows(30_000, 7000)
    (7500, 3750)
    """
    return max(2, -(-n_rows // 2 ** depth_for(n_rows, size)))
