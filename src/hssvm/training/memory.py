"""A model of the memory of a fit.

It has two uses: `memory_limit` needs the peak with the maximum ranks and the largest working set,
`estimate_cost` the peak with values expected from its samples. All sizes are in bytes, without the
rows passed to the fit.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hssvm.hss.error import BLOCK_BYTES, n_probes
from hssvm.hss.scratch import SMALL
from hssvm.messages import Message, api
from hssvm.solvers.working_kernel import ADMIT_ROWS

logger = logging.getLogger(__name__)

FIXED, FIXED_PER_THREAD = 3e6, 2e6
"""Bytes of libraries when they are first used, and of the stacks and buffers of each thread."""

WORKSPACE = 32
"""Bytes per thread for each pair of candidates of a node."""

VECTORS = 18
"""Number of float64 vectors of length n: labels, weights, tree order, evaluation of a column."""

SOLVE_ARRAYS = 16
"""Number of (n, k) arrays while ADMM runs."""

REFINE_ARRAYS, REFINE_DOUBLES = 9, 10
"""Number of (n, k) arrays in the precision of X, and in float64, during refinement."""

ESTIMATE_COLUMNS = 5
"""Number of vectors of length n for each random vector of the error estimate."""

SPARE, COPIED, MOST_COPIED = 1.13, 0.15, 0.25
"""Memory relative to the kernel matrix of the working set: its pages, on average; and the
copy that a thread makes for a column, on average and at most."""

HEAP = 32e6
"""Size up to which freed arrays may remain allocated to the process."""

MARGIN = 1.1
"""Factor on the largest peak, for the overhead of the allocator."""

MIN_WORKING_ROWS = 1000
"""Smallest useful working set; a smaller one needs too many rounds."""


@dataclass(frozen=True)
class CompressionMemory:
    """Memory of the compressed kernel matrix in bytes.

    Attributes
    ----------
    matrix, factor : float
    workspace : float
        Temporary memory of the compression.
    """

    matrix: float
    factor: float
    workspace: float


@dataclass(frozen=True)
class FitMemory:
    """The quantities on which the memory of a fit depends.

    Attributes
    ----------
    n_rows, n_features, n_columns : int
        Shape of X, and number of columns that are solved together.
    row_bytes : float
        Size of X in bytes.
    itemsize : int
        Bytes per number.
    sparse, scaled, refines : bool
        Whether X is sparse, whether scaling copies it, and whether the fit is refined.
    cut_width, table_width : int
        Width of the cuts of the tree, and of the tables of the core for sparse rows; see
        `hssvm.hss.hashing` and `hssvm.kernels.wide`.
    ranks : sequence of int
        Maximum rank per level, root first.
    oversampling : float
        See `hssvm.hss.NestedNystroem`.
    n_threads : int
    on_disk : bool
        Whether matrix and factor are in files.
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
    table_width: int
    ranks: Sequence[int]
    oversampling: float
    n_threads: int
    on_disk: bool = False

    @property
    def compression(self) -> CompressionMemory:
        """Memory of the compressed kernel matrix if all nodes have the maximum rank."""
        depth = len(self.ranks) - 1
        rows = candidates = widest = -(-self.n_rows // 2**depth)
        matrix = factor = below = peak = transient = 0.0
        for level in reversed(range(depth + 1)):
            n_nodes = 2**level
            rank = min(self.ranks[level], rows) if level else 0
            size = min(math.ceil((1 + self.oversampling) * rank), candidates)
            beside_basis = size * rank if level == depth else (rows // 2) ** 2
            here = n_nodes * ((rows * rank + beside_basis) * self.itemsize + 8 * size)
            for_parent = n_nodes * (size + rank) * size * 8
            samples = n_nodes * 2 * rank * 8 * 6
            this_level = 2 * here + below + for_parent + samples
            peak, transient = max(peak, matrix + this_level), max(transient, this_level)
            matrix, below = matrix + here, for_parent
            factor += n_nodes * (rows * (rows + 1) // 2 + rows * rank) * self.itemsize
            widest = max(widest, candidates)
            rows, candidates = 2 * rank, 2 * size
        features = 8 * self.table_width if self.sparse else 16 * widest * self.n_features
        threads = self.n_threads * (WORKSPACE * widest**2 + features)
        if self.on_disk:
            in_memory = SMALL * (depth + 1)
            matrix, factor = min(matrix, 3 * in_memory), min(factor, 2 * in_memory)
            return CompressionMemory(matrix, factor, transient + threads)
        return CompressionMemory(matrix, factor, peak - matrix + threads)

    def expected_peak(self, matrix: float, factor: float, working_rows: float) -> float:
        """Peak of a fit, given the bytes of matrix and factor, and the size of the working set."""
        sizes = replace(self.compression, matrix=matrix, factor=factor)
        return max(self._stages(sizes, self._working_set(working_rows, SPARE, COPIED)).values())

    def largest_peak(self, cache: float) -> float:
        """Upper bound of the peak, with `cache` bytes for the matrix of the working set."""
        working_rows = min((cache / self.itemsize) ** 0.5, self.n_rows)
        working_set = self._working_set(working_rows, 1.0, MOST_COPIED)
        return MARGIN * max(self._stages(self.compression, working_set).values())

    def exact_peak(self, rows: int, working_rows: float, cache: float, at_once: int) -> float:
        """Peak of a fit without compression that solves problems of `rows` rows, some at once."""
        own = 2 * rows / self.n_rows * self.row_bytes
        values = min(self._working_set(working_rows, SPARE, COPIED), cache / at_once)
        arrays = (REFINE_ARRAYS * self.itemsize + REFINE_DOUBLES * 8) * self.n_rows
        fixed = FIXED + FIXED_PER_THREAD * self.n_threads + 8 * VECTORS * self.n_rows
        fixed += self.row_bytes if self.scaled else 0
        return fixed + arrays + at_once * (own + values)

    def within(self, limit: float) -> FitMemory | None:
        """Return this, or the same on disk, whichever stays within a limit; None if neither."""
        for memory in (self, replace(self, on_disk=True)):
            if memory.largest_peak(memory.min_cache) <= limit:
                return memory
        return None

    @property
    def min_cache(self) -> float:
        """Bytes of the smallest useful working set."""
        return min(MIN_WORKING_ROWS, self.n_rows) ** 2 * self.itemsize

    def cache_within(self, limit: float) -> float:
        """Bytes available to the matrix of the working set within a limit."""
        left = (limit / MARGIN - self._stages(self.compression, 0.0)["refine"]) / self.itemsize
        per_square = 1 + MOST_COPIED * min(self.n_threads, self.n_columns)
        half = ADMIT_ROWS / (2 * per_square)  # left = per_square * rows**2 + ADMIT_ROWS * rows
        working_rows = math.sqrt(half**2 + max(left, 0.0) / per_square) - half
        return max(self.min_cache, working_rows**2 * self.itemsize)

    def _working_set(self, rows: float, square: float, copied: float) -> float:
        copies = min(self.n_threads, self.n_columns)
        return ((square + copied * copies) * rows + ADMIT_ROWS) * rows * self.itemsize

    def _stages(self, sizes: CompressionMemory, working_set: float) -> dict[str, float]:
        n, b, rows = self.n_rows, self.itemsize, self.row_bytes
        block = n * self.n_columns
        base = FIXED + FIXED_PER_THREAD * self.n_threads + 8 * VECTORS * n
        base += (2 ** (len(self.ranks) - 1) - 1) * self.cut_width * b
        base += rows if self.scaled else 0
        base += rows if self.sparse and self.table_width < self.n_features else 0  # renumbered
        hashed = rows if self.cut_width < self.n_features else 0
        variance = 2 * rows if self.sparse else rows
        variance += 24 * self.n_features if self.sparse and self.scaled else 0
        compressed = base + sizes.matrix + min(sizes.workspace, HEAP)
        freed = min(sizes.factor, HEAP)  # later arrays reuse it
        copies = 1 if self.refines else 3  # support vectors, rows of the leaves, sampled rows
        estimate = ESTIMATE_COLUMNS * n_probes(n) * n * b + max(BLOCK_BYTES, n * b)
        stages = {
            "tree": base + max(hashed + 16 * n, variance),
            "compress": base + sizes.matrix + sizes.workspace,
            "solve": compressed + sizes.factor + SOLVE_ARRAYS * block * b,
            "finish": compressed + max(freed, copies * rows + SOLVE_ARRAYS * block * b + estimate),
        }
        if self.refines:
            arrays = (REFINE_ARRAYS * b + REFINE_DOUBLES * 8) * block
            stages["refine"] = compressed + max(freed, arrays + 2 * rows) + working_set
        return stages


def require_within(limit: float, memory: FitMemory) -> FitMemory:
    """Return the memory of a fit within `limit` bytes, with matrix and factor on disk if necessary.

    Raise MemoryError if it may need more than that even with the smallest cache.
    """
    within = memory.within(limit)
    if within is not None:
        if within.on_disk:
            size = (memory.compression.matrix + memory.compression.factor) / 1e9
            logger.info(
                "up to %.2g GB of compressed matrix and factor are stored in files in %s, to stay "
                "within the memory_limit of %.2g GB",
                size,
                tempfile.gettempdir(),
                limit / 1e9,
            )
        return within
    peak = memory.largest_peak(memory.min_cache)
    fitting = _largest_rank_within(limit, memory)
    lower = f"lower {api:max_rank or leaf_size}"
    if fitting is not None:
        lower = f"lower {api:max_rank} (for example, to {fitting})"
    raise MemoryError(
        Message(
            f"the fit may need {peak / 1e9:.2g} GB, more than the {api:memory_limit} of "
            f"{limit / 1e9:.2g} GB; raise the limit, {lower}, {api:pass X in float32}, or train on "
            "fewer rows (`estimate_cost` predicts the memory that a fit is likely to need)"
        )
    )


def _largest_rank_within(limit: float, memory: FitMemory) -> int | None:
    """Largest rank of the leaves that stays within the limit; None if no rank >= 8 does."""
    leaf = memory.ranks[-1]
    for rank in range(leaf - 1, 7, -1):
        ranks = [math.ceil(r * rank / leaf) for r in memory.ranks]
        smaller = replace(memory, ranks=ranks)
        if smaller.within(limit) is not None:
            return rank
    return None
