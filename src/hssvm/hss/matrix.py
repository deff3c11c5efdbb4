"""The compressed kernel matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._display import Text
from hssvm._threads import with_serial_blas
from hssvm.hss.coefficients import CoefficientPool
from hssvm.hss.scratch import Scratch
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import LAYOUT, Floats, Kernel, Rows


@dataclass(frozen=True, eq=False)
class HSSLevel(Aligned):
    """The data of the nodes of one level, concatenated in flat arrays.

    Attributes
    ----------
    skeleton_offsets : (n_nodes + 1,) int64
    skeleton : (skeleton_offsets[-1],) int64
        Row indices of X; the indices of node i start at ``skeleton_offsets[i]``.
    ranks : (n_nodes + 1,) int64
        Cumulative sum of the ranks, starting at 0.
    basis :
        U at the leaves, V above them: (m, rank) per node, column-major.
    coupling :
        C of the two children: (rank_a, rank_b) per node, column-major; empty at the leaves.
    expansion :
        P = L^-T Q of a leaf, (skeleton size, rank) per node, column-major: the basis at a new
        point t is ``k(t, J) P``. Empty above the leaves.
    """

    skeleton_offsets: NDArray[np.int64]
    skeleton: NDArray[np.int64]
    ranks: NDArray[np.int64]
    basis: Floats
    coupling: Floats
    expansion: Floats

    def moved(self, scratch: Scratch) -> HSSLevel:
        """Return the level with its large arrays in files."""
        arrays = (self.basis, self.coupling, self.expansion)
        basis, coupling, expansion = (scratch.move(array) for array in arrays)
        return replace(self, basis=basis, coupling=coupling, expansion=expansion)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))


def as_block(B: Any, n: int, dtype: np.dtype[Any]) -> Floats:
    """Convert `B`, (n,) or (n, k), to an (n, k) block of the given dtype for the core."""
    B = np.asarray(B)
    if B.ndim not in (1, 2) or B.shape[0] != n:
        raise ValueError(f"expected shape ({n},) or ({n}, k), got {B.shape}")
    return np.require(B.reshape(n, -1), dtype, LAYOUT)


RootExchange = Callable[[Floats], Floats]
"""Sends the coefficients (rank, k) of a part's root to the levels above and returns their reply."""


def sweep_inner(
    layouts: list[_core.LevelLayout],
    levels: list[HSSLevel],
    c: list[Floats],
    exchange: RootExchange | None = None,
) -> None:
    """Sweep up from the coefficients ``c[-1]`` of the lowest nodes, and down again, in place.

    Afterwards ``c[-1]`` has the contributions of all other nodes.
    """
    inner = range(len(c) - 1)
    for i in reversed(inner):
        _core.matmul_up(layouts[i], levels[i].basis, c[i + 1], c[i])
    if exchange is not None:
        c[0][:] = exchange(c[0])
    for i in inner:
        _core.matmul_down(layouts[i], levels[i].basis, levels[i].coupling, c[i], c[i + 1])


class HSSMatrix:
    """The HSS approximation K~ of a kernel matrix, as returned by `compress`.

    K~ is symmetric, and positive semi-definite with `NestedNystroem`. Vectors are in the order of
    the rows of `X`. The matrix is stored as small blocks per node (see `hssvm.hss`), except for the
    diagonal blocks of the leaves, which are computed from `X` when needed.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
        Not copied.
    tree : ClusterTree
    levels : list of HSSLevel
        Root first.
    projection : bool
        Whether the bases define projections, as with `NestedNystroem`. If not, K~ may be
        indefinite, and does not extend to new points.
    scratch : Scratch, optional
        Where factors of the matrix are stored, if not in memory.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Rows,
        tree: ClusterTree,
        levels: list[HSSLevel],
        projection: bool = True,
        scratch: Scratch | None = None,
    ) -> None:
        self.kernel = kernel
        self.projection = projection
        self.X = X
        self.tree = tree
        self.levels = levels
        self.scratch = scratch
        self.kernel_matrix = kernel.matrix(X)
        self.layouts = [self._layout(level) for level in range(tree.depth + 1)]
        self.coefficients = CoefficientPool([int(level.ranks[-1]) for level in levels], self.dtype)

    def row_offsets(self, level: int) -> NDArray[np.int64]:
        """Offsets of the rows of a level's nodes: points, or coefficients of the children."""
        if level == self.tree.depth:
            return self.tree.offsets(level)
        return np.ascontiguousarray(self.levels[level + 1].ranks[::2])

    def _layout(self, level: int) -> _core.LevelLayout:
        ranks = self.levels[level].ranks
        if level == self.tree.depth:
            return _core.LevelLayout(self.row_offsets(level), ranks, None, self.tree.perm)
        return _core.LevelLayout(self.row_offsets(level), ranks, self.levels[level + 1].ranks, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return HSSMatrix, (self.kernel, self.X, self.tree, self.levels, self.projection)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the entries and of `X`: float32 or float64."""
        dtype: np.dtype[Any] = self.X.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n)``."""
        return self.tree.n, self.tree.n

    @property
    def nbytes(self) -> int:
        """Memory in bytes, without `X` and the tree."""
        return sum(level.nbytes for level in self.levels)

    @property
    def ranks(self) -> list[NDArray[np.int64]]:
        """Ranks of the nodes, one array per level, root first."""
        return [np.diff(level.ranks) for level in self.levels]

    @contextmanager
    def far_field(self, block: Floats, exchange: RootExchange | None = None) -> Iterator[Floats]:
        """Compute the contributions of all other leaves to ``K~ block``, in the basis of each leaf.

        The array is valid within the context only. If the matrix is a part of a larger one, its
        root has a basis too, and `exchange` communicates with the levels above.
        """
        with self.coefficients.borrow(block.shape[1]) as c:
            _core.matmul_up(self.layouts[-1], self.levels[-1].basis, block, c[-1])
            sweep_inner(self.layouts, self.levels, c, exchange)
            yield c[-1]

    def __matmul__(self, B: Any) -> Floats:
        """Product with a vector (n,) or a block of columns (n, k)."""
        return self.matmul(B)

    @with_serial_blas
    def matmul(self, B: Any, exchange: RootExchange | None = None) -> Floats:
        """Return ``K~ B``.

        Parameters
        ----------
        B : (n,) or (n, k)
        exchange : callable, optional
            See `far_field`.

        Returns
        -------
        array of the shape of B
        """
        block = as_block(B, self.tree.n, self.dtype)
        Y = np.empty_like(block)
        leaves, layout = self.levels[-1], self.layouts[-1]
        with self.far_field(block, exchange) as delta:
            _core.matmul_down_leaves(layout, self.kernel_matrix, leaves.basis, delta, block, Y)
        return Y.reshape(np.shape(B))

    @with_serial_blas
    def leaf_weights(self, B: Any, exchange: RootExchange | None = None) -> Floats:
        """Weights of ``K~ b`` as a kernel expansion over the points of each leaf.

        At a point t in leaf I, the function ``f = sum_i k~(., x_i) b_i`` is
        ``f(t) = k(t, X_I) w_I``: the sum over all n points becomes a sum over the leaf's points.

        Parameters
        ----------
        B : (n,) or (n, k)
        exchange : callable, optional
            See `far_field`.

        Returns
        -------
        w : array of the shape of B
        """
        if not self.projection:
            raise ValueError(
                "this compressor does not extend to new points; predict with the exact kernel"
            )
        block = as_block(B, self.tree.n, self.dtype)
        weights = block.copy()
        leaves = self.levels[-1]
        with self.far_field(block, exchange) as delta:
            _core.leaf_weights(
                self.layouts[-1],
                leaves.skeleton_offsets,
                leaves.skeleton,
                leaves.expansion,
                delta,
                weights,
            )
        return weights.reshape(np.shape(B))

    def to_dense(self) -> Floats:
        """Return all n**2 entries, for tests and small n."""
        n = self.tree.n
        dense: Floats = np.empty((n, n), dtype=self.dtype)
        for begin in range(0, n, 256):
            columns = np.eye(n, min(256, n - begin), -begin, dtype=self.dtype)
            dense[:, begin : begin + 256] = self @ columns
        return dense

    def summary(self) -> str:
        """Return a table of sizes, ranks and memory per level, and the ranks of the blocks.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm.hss import compress
        >>> from hssvm.kernels import Gaussian
        >>> X = np.random.default_rng(0).standard_normal((1000, 2))
        >>> print(compress(Gaussian(gamma=0.1), X).summary())  # doctest: +ELLIPSIS
        HSSMatrix of 1,000 x 1,000, float64, Gaussian(gamma=0.1)
        ...
        """
        n = self.tree.n
        share = self.nbytes / (n * n * self.dtype.itemsize)
        lines = [
            f"HSSMatrix of {n:,} x {n:,}, {self.dtype}, {self.kernel}",
            f"{self.nbytes / 1e6:,.1f} MB, {share:.2%} of the dense matrix",
            "",
            "level   nodes      rows  rank: least median largest         MB",
        ]
        for i, (level, ranks) in enumerate(zip(self.levels, self.ranks, strict=True)):
            lines.append(
                f"{i:5d} {2**i:7,d} {-(-n // 2**i):9,d} {ranks.min():12d} "
                f"{int(np.median(ranks)):6d} {ranks.max():7d} {level.nbytes / 1e6:10.2f}"
            )
        if self.tree.depth:
            parts = min(self.tree.depth, 3)
            lines += ["", f"rank of the blocks between {2**parts} parts of the rows"]
            lines += [
                "".join(f"{self._block_label(i, j, parts):>6}" for j in range(2**parts))
                for i in range(2**parts)
            ]
        return Text("\n".join(lines))

    def _block_label(self, i: int, j: int, level: int) -> str:
        """Rank of the block between nodes i and j of a level."""
        if i == j:
            return "dense" if level == self.tree.depth else "..."
        while i ^ 1 != j:
            i, j, level = i // 2, j // 2, level - 1
        ranks = self.ranks[level]
        return str(min(ranks[i], ranks[j]))

    def __repr__(self) -> str:
        largest = max(int(r.max()) for r in self.ranks)
        return (
            f"HSSMatrix(n={self.tree.n}, {self.kernel}, {self.dtype}, depth={self.tree.depth}, "
            f"max rank={largest}, {self.nbytes / 1e6:.1f} MB)"
        )
