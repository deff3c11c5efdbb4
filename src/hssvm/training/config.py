"""The user's choices, and what follows from them and from the size of the data."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal

from hssvm import costs
from hssvm.hss import NestedNystroem
from hssvm.kernels.base import Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.training.approximation import HSS, Approximation, Cells
from hssvm.training.plan import FOLDS, Route, TrainingPlan, cell_rows

logger = logging.getLogger(__name__)

EXACT_ROWS = 2000
"""Number of rows up to which all rows form one leaf: nothing is compressed, iterations are cheap,
and the solution is exact, regardless of `tol`."""

TOL, LEAF_SIZE, RANK = 1e-3, 256, 72
"""Default tolerance, number of rows of a leaf, and maximum rank of the leaves if there is one
tree."""

FOREST_TREES, FOREST_TOL, FOREST_LEAF_SIZE, FOREST_RANK = 4, 5e-2, 512, 32
"""Defaults of a fit that is not refined: the number of trees, and the tolerance, leaf size and
maximum rank of each. Averaging several rough trees is more accurate than one accurate tree, and
takes less time."""

WIDE_FEATURES, SMALL_ROWS, LARGE_LEAF_SIZE = 256, 20_000, 1024
"""Number of dense features above which, and of rows below which, the leaves of a forest are larger:
on images, the neighbors of a point are spread over more leaves; with few rows, it costs little."""

LARGE_FOREST_RANK, LARGE_FOREST_TOL = 24, 1.5e-2
"""Maximum rank and tolerance of the trees of a forest with `MANY_ROWS` rows or more. The rank
matters less there, while the gap matters more: on 500,000 noisy synthetic rows, a tolerance of 5e-2
costs half a point of accuracy."""

SPARSE_RANK = 64
"""Maximum rank of the trees of a forest on sparse rows, whose far field compresses badly."""

CELL_TREES, MEAN_TREES, CELL_TOL = 4, 8, 1e-2
"""Default number of trees of cells, of a model and, roughly, of all members of a mean, and
tolerance. A smaller tolerance does not change scores; a tolerance of 0.1 costs half a point of
accuracy on noisy data."""

SMALL_CELL, LARGE_CELL, MIN_CELLS = 2000, 8000, 4
"""Smallest and largest number of rows of a cell that is chosen from the data, and the smallest
number of cells, unless they are small."""

START_RANK = 32
"""Maximum rank if the solution on the compressed kernel is only the start for the exact kernel."""

RIDGE_TOL, RIDGE_LEAF_SIZE, RIDGE_RANK, RIDGE_START_RANK = 1e-2, 1024, 64, 128
"""Defaults of least squares: its solution is a single solve, so an accurate factor is worth its
time, above all as the preconditioner of an exact solution, where the rank is RIDGE_START_RANK. The
gap bounds the error by its largest possible share: scores hardly change below 0.1."""

RIDGE_EXACT_ROWS = 5000
"""Number of rows up to which an exact solution of least squares factors the whole kernel matrix."""

START_ROWS = 20_000
"""Number of rows up to which exact classifiers never start on the compressed kernel; see
`hssvm.training.compressed_start`."""

MANY_ROWS = 100_000
"""Number of rows from which exact solutions always start on the compressed kernel, with full rank:
the cost of the start is linear in n, and it saves refinement, whose cost is n times the number of
support vectors. Forests, too, have other defaults from there on."""


@dataclass(frozen=True)
class TrainingConfig:
    """Parameters of the training that are independent of the problem; `SVC` documents them.

    Attributes
    ----------
    tol : float or None
    max_iter : int or None
    solver : {'admm', 'paper'}
    refine : bool or 'auto'
    limit_work : bool
        Whether refinement stops after a fixed amount of work, as documented for refine='auto'.
    compressed_start : bool or None
        Whether exact classifiers start from a solution on the compressed kernel instead of 0; None
        means if it pays off; see `hssvm.training.compressed_start`. Other problems always do.
    approximation : Cells, HSS or None
        What is trained if the solution is not exact; not None means that it is not, unless
        `refine` is True. None means cells, or HSS if `coupled`.
    coupled : bool
        Whether one model of all rows is needed, which cells are not.
    max_time : float or None
        Limits the size of cells.
    max_cell : int
        Largest number of rows of a cell, unless `approximation` has a size.
    held_out : float
        Approximate number of rows for which out-of-fold decision values are needed.
    exact_prediction : bool
        Whether the model predicts with the exact kernel; no forest is trained then.
    n_passes : int
        Number of passes over the kernel matrix that an exact solution needs.
    memory_limit : float or None
        Bytes.
    scaled : bool
        Whether the rows are a scaled copy, which counts toward the memory limit.
    seed : int
    """

    tol: float | None = None
    max_iter: int | None = None
    solver: Literal["admm", "paper"] = "admm"
    refine: bool | Literal["auto"] = "auto"
    limit_work: bool = True
    compressed_start: bool | None = None
    approximation: Approximation | None = None
    coupled: bool = False
    max_time: float | None = None
    max_cell: int = LARGE_CELL
    held_out: float = 0
    exact_prediction: bool = False
    n_passes: int = 1
    memory_limit: float | None = None
    scaled: bool = False
    seed: int = 0

    def is_exact(self, kernel: Kernel, X: Rows, n_rows: int | None = None) -> bool:
        """Whether the solution is on the exact kernel; 'auto' means if that is affordable.

        With `approximation`, the user has asked for another one.

        Parameters
        ----------
        kernel : Kernel
        X : (n, p) array or CSR matrix
            All rows, or the rows of a part.
        n_rows : int, optional
            Total number of rows, if they are in parts; even a few rows are compressed then.
        """
        n = n_rows or X.shape[0]
        if self.solver == "paper":
            return False
        if n_rows is None and is_one_leaf(n, self.approximation):
            return True
        if self.refine != "auto":
            return bool(self.refine)
        work = self.n_passes * n**2 * LazyKernelMatrix(kernel, X).value_cost
        logger.debug("passes over the kernel matrix: %.2g s (nominal)", work)
        return work < costs.AFFORDABLE_PASS and self.approximation is None

    def approximate_route(self, *, local: bool) -> Route:
        """Return the route of a solution that is not exact; `local` problems may have cells."""
        if isinstance(self.approximation, Cells):
            return Route.CELLS
        coupled = self.coupled or isinstance(self.approximation, HSS) or not local
        return Route.COMPRESSED if coupled else Route.CELLS

    def plan(
        self,
        n_rows: int,
        n_features: int = 1,
        *,
        route: Route,
        sparse: bool = False,
        value_cost: float = costs.SECONDS_PER_VALUE,
        least_squares: bool = False,
    ) -> TrainingPlan:
        """Choose the parameters that the user has left open.

        Parameters
        ----------
        n_rows, n_features : int
        route : Route
        sparse : bool
            Whether the rows are sparse.
        value_cost : float
            Nominal seconds per kernel value.
        least_squares : bool
            Whether the problem is one of least squares.
        """
        hss = self.hss
        n_trees = self._n_trees(n_rows, route)
        tol, leaf_size, rank = TOL, LEAF_SIZE, RANK
        if route is Route.CELLS:
            size = self._cell_size(n_rows, n_trees, value_cost)
            tol, leaf_size = CELL_TOL, cell_rows(n_rows, size)
        elif least_squares:
            tol, leaf_size = RIDGE_TOL, RIDGE_LEAF_SIZE
            rank = RIDGE_RANK if route is Route.COMPRESSED else RIDGE_START_RANK
        elif n_trees > 1:
            large = n_rows < SMALL_ROWS or (n_features > WIDE_FEATURES and not sparse)
            leaf_size = LARGE_LEAF_SIZE if large else FOREST_LEAF_SIZE
            tol, rank = FOREST_TOL, FOREST_RANK
            if n_rows >= MANY_ROWS:
                tol, rank = LARGE_FOREST_TOL, LARGE_FOREST_RANK
            rank = SPARSE_RANK if sparse else rank
        elif route is not Route.COMPRESSED and n_rows < MANY_ROWS:
            rank = START_RANK
        if route is not Route.CELLS:
            leaf_size = hss.leaf_size or leaf_size
            dense = least_squares and route is not Route.COMPRESSED and hss.leaf_size is None
            most = RIDGE_EXACT_ROWS if dense else EXACT_ROWS
            leaf_size = n_rows if leaf_size < n_rows <= most else leaf_size
        return TrainingPlan(
            route=route,
            tol=self.tol or tol,
            max_iter=self.max_iter,
            solver=self.solver,
            limit_work=self.limit_work,
            n_trees=n_trees,
            n_folds=self._n_folds(n_rows),
            leaf_size=leaf_size,
            compressor=hss.compressor or NestedNystroem(max_rank=hss.max_rank or rank),
            memory_limit=self.memory_limit,
            scaled=self.scaled,
            seed=self.seed,
        )

    @property
    def chooses_cells(self) -> bool:
        """Whether the user has chosen the size of cells."""
        return isinstance(self.approximation, Cells) and self.approximation.size is not None

    @property
    def hss(self) -> HSS:
        """The parameters of compressed kernels."""
        return self.approximation if isinstance(self.approximation, HSS) else HSS()

    def starts_compressed(self, n_rows: int) -> bool | None:
        """Whether an exact classifier starts on the compressed kernel; None if it is measured."""
        if self.compressed_start is not None or START_ROWS < n_rows < MANY_ROWS:
            return self.compressed_start
        return n_rows >= MANY_ROWS

    def _n_folds(self, n_rows: int) -> int:
        """Number of models that leave out a fold."""
        if not self.held_out:
            return 0
        return max(1, round(FOLDS * min(1, self.held_out / n_rows)))

    def _n_trees(self, n_rows: int, route: Route) -> int:
        """Number of trees; one is enough for a start, and if nothing is compressed."""
        if route is Route.CELLS:
            asked = self.approximation.n_trees if self.approximation is not None else None
            return asked or CELL_TREES
        if route is not Route.COMPRESSED or n_rows <= EXACT_ROWS:
            return 1
        single = self.solver == "paper" or self.exact_prediction
        default = 1 if single or not self.hss.extends_to_new_points else FOREST_TREES
        return self.hss.n_trees or default

    def _cell_size(self, n_rows: int, n_trees: int, value_cost: float) -> int:
        """Maximum number of rows of a cell: as many as the time permits."""
        if isinstance(self.approximation, Cells) and self.approximation.size is not None:
            return self.approximation.size
        seconds = costs.CELL_BUDGET
        if self.max_time is not None:
            folds = 1 + costs.CELL_FOLD_SHARE * self._n_folds(n_rows)
            seconds = min(seconds, self.max_time / (costs.CELL_SLOWDOWN * folds))
        size = int(seconds / (n_rows * n_trees * value_cost))
        return min(max(size, SMALL_CELL), max(n_rows // MIN_CELLS, SMALL_CELL), self.max_cell)


def is_one_leaf(n_rows: int, approximation: Approximation | None) -> bool:
    """Whether all rows form one leaf, so that the solution is exact."""
    if isinstance(approximation, Cells) and approximation.size is not None:
        return n_rows <= approximation.size
    leaf_size = approximation.leaf_size if isinstance(approximation, HSS) else None
    return n_rows <= max(EXACT_ROWS, leaf_size or 0)
