"""Memory of a fit, counted before it begins.

One account of all stages has two uses: `memory_limit` asks for the peak with the largest ranks and
the largest working set that a fit can have, `forecast` for the peak with those that its samples
suggest. All numbers are bytes beyond the rows that the fit is given. The small arrays of the
compression stay with the process after they are freed, so they count until the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hssvm.hss.error import BLOCK_BYTES
from hssvm.solvers.working_set import AT_ONCE

FIXED, FIXED_PER_THREAD = 3e6, 2e6
"""Bytes of libraries that are used for the first time, and of the stacks and buffers of threads."""

WORKSPACE = 32
"""Bytes per thread for every pair of the points that a node chooses its skeleton from."""

VECTORS = 18
"""Vectors of n float64: labels, weights, the order of the tree, evaluation of one column."""

SOLVE_ARRAYS = 16
"""Arrays of (n, k) numbers while ADMM runs."""

REFINE_ARRAYS, REFINE_DOUBLES = 9, 8
"""Arrays of (n, k) numbers, and of (n, k) float64, during refinement."""

ESTIMATE_COLUMNS = 80
"""Columns of n numbers that estimating the error of the compressed kernel takes."""

SPARE, COPIED, MOST_COPIED = 1.13, 0.15, 0.25
"""Memory of a working set relative to the kernel matrix of its rows: with room for new rows, on
average; what a thread copies of it for a column, on average and at most."""

HEAP = 32e6
"""Freed arrays of up to this size may stay with the process, for later ones."""

MARGIN = 1.1
"""Factor on the largest peak: an allocator wastes some memory."""

MIN_WORKING_ROWS = 1000
"""A smaller working set takes too many rounds."""


@dataclass(frozen=True)
class CompressionMemory:
    """Bytes of the compressed kernel matrix.

    Attributes
    ----------
    matrix, factor : float
    workspace : float
        What compressing takes beyond the matrix.
    """

    matrix: float
    factor: float
    workspace: float


@dataclass(frozen=True)
class FitMemory:
    """What the memory of a fit depends on.

    Attributes
    ----------
    n_rows, n_features, n_columns : int
        Shape of X, and columns that are solved at once.
    row_bytes : float
        Size of X.
    itemsize : int
        Bytes of a number.
    sparse, scaled, refines : bool
        Whether X is sparse, whether scaling copies it, and whether the fit is refined.
    cut_width : int
        Columns of the cuts of the tree.
    ranks : sequence of int
        Largest rank per level, from the root to the leaves.
    surplus : float
        Share of points that a node considers beyond its rank.
    n_threads : int
    n_factors : int
        Factorizations that exist at the same time.
    """

    n_rows: int
    n_features: int
    n_columns: int
    row_bytes: float
    itemsize: int
    sparse: bool
    scaled: bool
    refines: bool
    cut_width: int
    ranks: Sequence[int]
    surplus: float
    n_threads: int
    n_factors: int = 2

    @property
    def compression(self) -> CompressionMemory:
        """Bytes of the compressed kernel matrix if all nodes have the largest rank."""
        depth = len(self.ranks) - 1
        rows = candidates = widest = -(-self.n_rows // 2**depth)
        matrix = factor = below = peak = 0.0
        for level in reversed(range(depth + 1)):
            n_nodes = 2**level
            rank = min(self.ranks[level], rows) if level else 0
            size = min(math.ceil((1 + self.surplus) * rank), candidates)
            beside_basis = size * rank if level == depth else (rows // 2) ** 2
            here = n_nodes * ((rows * rank + beside_basis) * self.itemsize + 8 * size)
            for_parent = n_nodes * (size + rank) * size * 8
            samples = n_nodes * 2 * rank * 8 * 6
            peak = max(peak, matrix + 2 * here + below + for_parent + samples)
            matrix, below = matrix + here, for_parent
            factor += n_nodes * (rows * (rows + 1) // 2 + rows * rank) * self.itemsize
            widest = max(widest, candidates)
            rows, candidates = 2 * rank, 2 * size
        features = (8 if self.sparse else 16 * widest) * self.n_features
        threads = self.n_threads * (WORKSPACE * widest**2 + features)
        return CompressionMemory(matrix, factor, peak - matrix + threads)

    def expected_peak(self, matrix: float, factor: float, working_rows: float) -> float:
        """Bytes at the peak of a fit with such a matrix, factorization and working set."""
        sizes = replace(self.compression, matrix=matrix, factor=factor)
        return max(self._stages(sizes, self._working_set(working_rows, SPARE, COPIED)).values())

    def largest_peak(self, cache: float) -> float:
        """Bytes that a fit may take, with `cache` bytes for the matrix of the working set."""
        working_rows = min((cache / self.itemsize) ** 0.5, self.n_rows)
        working_set = self._working_set(working_rows, 1.0, MOST_COPIED)
        return MARGIN * max(self._stages(self.compression, working_set).values())

    @property
    def min_cache(self) -> float:
        """Bytes of the smallest working set that is of use."""
        return min(MIN_WORKING_ROWS, self.n_rows) ** 2 * self.itemsize

    def cache_within(self, limit: float) -> float:
        """Bytes for the matrix of the working set that keep the fit within a limit."""
        room = (limit / MARGIN - self._stages(self.compression, 0.0)["refine"]) / self.itemsize
        per_square = 1 + MOST_COPIED * min(self.n_threads, self.n_columns)
        half = AT_ONCE / (2 * per_square)  # the room is per_square * rows**2 + AT_ONCE * rows
        working_rows = math.sqrt(half**2 + max(room, 0.0) / per_square) - half
        return max(self.min_cache, working_rows**2 * self.itemsize)

    def _working_set(self, rows: float, square: float, copied: float) -> float:
        copies = min(self.n_threads, self.n_columns)
        return ((square + copied * copies) * rows + AT_ONCE) * rows * self.itemsize

    def _stages(self, sizes: CompressionMemory, working_set: float) -> dict[str, float]:
        n, b, rows = self.n_rows, self.itemsize, self.row_bytes
        block = n * self.n_columns
        base = FIXED + FIXED_PER_THREAD * self.n_threads + 8 * VECTORS * n
        base += (2 ** (len(self.ranks) - 1) - 1) * self.cut_width * b
        base += rows if self.scaled else 0
        hashed = rows if self.cut_width < self.n_features else 0
        variance = 2 * rows + 24 * self.n_features if self.sparse else rows
        compressed = base + sizes.matrix + sizes.workspace
        factored = compressed + sizes.factor
        freed = min((self.n_factors - 1) * sizes.factor, HEAP)
        copies = 1 if self.refines else 3  # support vectors, those of the leaves, for the estimate
        estimate = ESTIMATE_COLUMNS * n * b + max(BLOCK_BYTES, n * b)
        stages = {
            "tree": base + max(hashed + 16 * n, variance),
            "compress": compressed,
            "solve": compressed + self.n_factors * sizes.factor + SOLVE_ARRAYS * block * b,
            "finish": factored + copies * rows + SOLVE_ARRAYS * block * b + estimate,
        }
        if self.refines:
            arrays = (REFINE_ARRAYS * b + REFINE_DOUBLES * 8) * block
            stages["refine"] = factored + max(freed, arrays + 2 * rows) + working_set
        return stages


def require_within(limit: float, memory: FitMemory) -> None:
    """Raise MemoryError for a fit that may take more than `limit` bytes with the least cache."""
    peak = memory.largest_peak(memory.min_cache)
    if peak <= limit:
        return
    fitting = _largest_rank_within(limit, memory)
    lower = "lower max_rank or leaf_size"
    if fitting is not None:
        lower = f"lower max_rank (to {fitting}, say)"
    raise MemoryError(
        f"the fit may take {peak / 1e9:.2g} GB, more than the memory_limit of "
        f"{limit / 1e9:.2g} GB; raise the limit, {lower}, give X in float32, or train on fewer "
        "rows. (`forecast` estimates what it is likely to take.)"
    )


def _largest_rank_within(limit: float, memory: FitMemory) -> int | None:
    """Rank of the leaves with which a fit stays within the limit; None if no rank above 8 does."""
    leaf = memory.ranks[-1]
    for rank in range(leaf - 1, 7, -1):
        ranks = [math.ceil(r * rank / leaf) for r in memory.ranks]
        smaller = replace(memory, ranks=ranks)
        if smaller.largest_peak(smaller.min_cache) <= limit:
            return rank
    return None
