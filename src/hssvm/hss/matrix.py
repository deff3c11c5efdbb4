"""The compressed kernel matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.coefficients import CoefficientPool
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import LAYOUT, Floats, Kernel, Rows


@dataclass(frozen=True, eq=False)
class Level:
    """What the nodes of one level keep, node after node in flat arrays.

    Attributes
    ----------
    skeleton_ends : (n_nodes + 1,) int64
    skeleton : (skeleton_ends[-1],) int64
        Rows of X; those of node i lie between ends i and i + 1.
    ranks : (n_nodes + 1,) int64
        Running sum of the ranks.
    basis :
        U at the leaves, V above: (m, rank) per node, in column order.
    coupling :
        C of the two children: (rank_a, rank_b) per node, in column order; empty at the leaves.
    expansion :
        P = L^-T Q of a leaf, (skeleton size, rank) per node, in column order: its basis at a new
        point t is ``k(t, J) P``. Empty above the leaves.
    """

    skeleton_ends: NDArray[np.int64]
    skeleton: NDArray[np.int64]
    ranks: NDArray[np.int64]
    basis: Floats
    coupling: Floats
    expansion: Floats

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))


def as_block(B: Any, n: int, dtype: np.dtype[Any]) -> Floats:
    """`B`, (n,) or (n, k), as an (n, k) block that the core reads, of the given dtype."""
    B = np.asarray(B)
    if B.ndim not in (1, 2) or B.shape[0] != n:
        raise ValueError(f"expected shape ({n},) or ({n}, k), got {B.shape}")
    return np.require(B.reshape(n, -1), dtype, LAYOUT)


Above = Callable[[Floats], Floats]
"""What the rest of the tree makes of the coefficients (rank, k) of a part's root: what it adds."""


def sweep_inner(
    shapes: list[_core.Level], levels: list[Level], c: list[Floats], above: Above | None = None
) -> None:
    """Up from the coefficients ``c[-1]`` of the lowest nodes, and down to what others add there."""
    inner = range(len(c) - 1)
    for i in reversed(inner):
        _core.matmul_up(shapes[i], levels[i].basis, c[i + 1], c[i])
    if above is not None:
        c[0][:] = above(c[0])
    for i in inner:
        _core.matmul_down(shapes[i], levels[i].basis, levels[i].coupling, c[i], c[i + 1])


class HSSMatrix:
    """The HSS approximation of a kernel matrix; made by `compress`.

    Symmetric, and positive semi-definite if nested Nystroem. Products take and give vectors in the
    order of the rows of `X`; the matrix is stored as small blocks per node (see `hssvm.hss`), the
    diagonal blocks of the leaves not at all: they are computed from `X` when needed.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
        Referred to, not copied.
    tree : ClusterTree
    levels : list of Level
        Root first.
    projection : bool
        Whether the bases are projections, as those of `NestedNystroem`. If not, the matrix may be
        indefinite, and has no values at new points.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Rows,
        tree: ClusterTree,
        levels: list[Level],
        projection: bool = True,
    ) -> None:
        self.kernel = kernel
        self.projection = projection
        self.X = X
        self.tree = tree
        self.levels = levels
        self.kernel_matrix = kernel.matrix(X)
        self.shapes = [self._shape_of(level) for level in range(tree.depth + 1)]
        self.coefficients = CoefficientPool([int(level.ranks[-1]) for level in levels], self.dtype)

    def row_ends(self, level: int) -> NDArray[np.int64]:
        """Running sum of the rows of a level's nodes: points, or coefficients of the children."""
        if level == self.tree.depth:
            return self.tree.offsets(level)
        return np.ascontiguousarray(self.levels[level + 1].ranks[::2])

    def _shape_of(self, level: int) -> _core.Level:
        ranks = self.levels[level].ranks
        if level == self.tree.depth:
            return _core.Level(self.row_ends(level), ranks, None, self.tree.perm)
        return _core.Level(self.row_ends(level), ranks, self.levels[level + 1].ranks, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return HSSMatrix, (self.kernel, self.X, self.tree, self.levels, self.projection)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries, float32 or float64: that of `X`."""
        dtype: np.dtype[Any] = self.X.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n)``."""
        return self.tree.n, self.tree.n

    @property
    def nbytes(self) -> int:
        """Bytes held, without `X` and the tree."""
        return sum(level.nbytes for level in self.levels)

    @property
    def ranks(self) -> list[NDArray[np.int64]]:
        """Ranks of the nodes, one array per level, root first."""
        return [np.diff(level.ranks) for level in self.levels]

    @contextmanager
    def far_field(self, block: Floats, above: Above | None = None) -> Iterator[Floats]:
        """Coefficients, in the basis of its leaf, of what all other leaves add to ``K~ block``.

        They are lent for the time of the context. Where the matrix is a part of a larger one, its
        root has a basis too, and `above` answers for the rest.
        """
        with self.coefficients.borrow(block.shape[1]) as c:
            _core.matmul_up(self.shapes[-1], self.levels[-1].basis, block, c[-1])
            sweep_inner(self.shapes, self.levels, c, above)
            yield c[-1]

    @with_serial_blas
    def __matmul__(self, B: Any) -> Floats:
        """Product with a vector (n,) or a block of columns (n, k)."""
        block = as_block(B, self.tree.n, self.dtype)
        Y = np.empty_like(block)
        leaves, shape = self.levels[-1], self.shapes[-1]
        with self.far_field(block) as delta:
            _core.matmul_down_leaves(shape, self.kernel_matrix, leaves.basis, delta, block, Y)
        return Y.reshape(np.shape(B))

    @with_serial_blas
    def leaf_weights(self, B: Any, above: Above | None = None) -> Floats:
        """Coefficients of ``K~ b`` as a kernel expansion over the points of one leaf.

        The function ``f = sum_i k~(., x_i) b_i`` of a point t in leaf I is
        ``f(t) = k(t, X_I) w_I``: the sum over all n points in as many terms as the leaf has.

        Parameters
        ----------
        B : (n,) or (n, k)
        above : callable, optional
            See `far_field`.

        Returns
        -------
        w : array of the shape of B
        """
        if not self.projection:
            raise ValueError(
                "this compression has no values at new points; predict with the true kernel"
            )
        block = as_block(B, self.tree.n, self.dtype)
        weights = block.copy()
        leaves = self.levels[-1]
        with self.far_field(block, above) as delta:
            _core.leaf_weights(
                self.shapes[-1],
                leaves.skeleton_ends,
                leaves.skeleton,
                leaves.expansion,
                delta,
                weights,
            )
        return weights.reshape(np.shape(B))

    def to_dense(self) -> Floats:
        """All n**2 entries. For tests and small n."""
        n = self.tree.n
        dense: Floats = np.empty((n, n), dtype=self.dtype)
        for begin in range(0, n, 256):
            columns = np.eye(n, min(256, n - begin), -begin, dtype=self.dtype)
            dense[:, begin : begin + 256] = self @ columns
        return dense

    def summary(self) -> str:
        """Sizes, ranks and memory per level, and a picture of the block structure.

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
        return "\n".join(lines)

    def _block_label(self, i: int, j: int, level: int) -> str:
        """Rank of the block between nodes i and j of a level, where the tree separates them."""
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
