"""The blocks of a compressed matrix and their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import HSSMatrix
from hssvm.plotting._figure import axes_or_new, font_size, size_in_points, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class RankDisplay:
    """The blocks of an `HSSMatrix`, in tree order.

    The blocks on the diagonal are those of the leaves, and dense. Every other belongs to two
    siblings: the block between their rows has the rank of the smaller of their bases.

    Parameters
    ----------
    leaf_ends : (n_leaves + 1,) array
        Ends of the leaves.
    blocks : (n_blocks, 4) array
        First row, end of the rows, first column and end of the columns of every off-diagonal
        block, the largest first.
    ranks : (n_blocks,) array

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    leaves_ : matplotlib PolyCollection
        The dense blocks.
    blocks_ : matplotlib PolyCollection
        The off-diagonal blocks; its array are the ranks.
    texts_ : list of matplotlib Text
        Ranks in those blocks that are large enough.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm.hss import ClusterTree, compress
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.plotting import RankDisplay
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> H = compress(Gaussian(gamma=0.1), X, ClusterTree.build(X, leaf_size=250))
    >>> display = RankDisplay.from_matrix(H).plot()
    >>> display.blocks[:2]
    array([[   0,  500,  500, 1000],
           [ 500, 1000,    0,  500]])
    >>> display.ranks.shape
    (6,)
    """

    leaf_ends: NDArray[np.int64]
    blocks: NDArray[np.int64]
    ranks: NDArray[np.int64]

    @classmethod
    def from_matrix(cls, H: HSSMatrix) -> RankDisplay:
        """Read the blocks off a compressed matrix.

        Parameters
        ----------
        H : HSSMatrix
        """
        blocks, ranks = [np.empty((0, 4), np.int64)], [np.empty(0, np.int64)]
        for level in range(1, H.tree.depth + 1):
            ends = H.tree.offsets(level)
            node = np.arange(2**level)
            sibling = node ^ 1
            blocks.append(
                np.stack([ends[node], ends[node + 1], ends[sibling], ends[sibling + 1]], axis=1)
            )
            ranks.append(np.minimum(H.ranks[level], H.ranks[level][sibling]))
        leaf_ends = H.tree.offsets(H.tree.depth)
        return cls(leaf_ends, np.concatenate(blocks), np.concatenate(ranks))

    def plot(self, ax: Axes | None = None) -> RankDisplay:
        """Draw the blocks, coloured by their rank.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Of a new figure if not given.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 5))
        self.figure_ = ax.figure
        from matplotlib.collections import PolyCollection

        begin, end = self.leaf_ends[:-1], self.leaf_ends[1:]
        self.leaves_ = PolyCollection(
            _corners(np.stack([begin, end, begin, end], axis=1)),
            facecolors="0.75",
            edgecolors="white",
        )
        self.blocks_ = PolyCollection(
            _corners(self.blocks), array=self.ranks, cmap="viridis", edgecolors="white"
        )
        ax.add_collection(self.leaves_)
        ax.add_collection(self.blocks_)
        if self.ranks.size:
            self.blocks_.set_clim(0, max(1, int(self.ranks.max())))
            self.figure_.colorbar(self.blocks_, ax=ax, label="rank of the block")
        n = int(end[-1])
        ax.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xlabel="column", ylabel="row")
        ax.set_title("rows in tree order\ngrey: dense leaf blocks")

        point = min(size_in_points(ax)) / n
        sides = point * (self.blocks[:, 1] - self.blocks[:, 0])
        # Small blocks would be all edge.
        self.leaves_.set(linewidth=np.minimum(1, 0.1 * point * (end - begin)))
        self.blocks_.set(linewidth=np.minimum(1, 0.1 * sides))
        self.texts_ = []
        for block, rank, side in zip(self.blocks, self.ranks, sides, strict=True):
            top, bottom, left, right = block
            fontsize = font_size(str(rank), side, side)
            if fontsize is not None:
                middle = (left + right) / 2, (top + bottom) / 2
                self.texts_.append(write(ax, middle, str(rank), fontsize, self.blocks_, rank))
        return self


def _corners(blocks: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Corners of every block as points of the plane, (4, 2)."""
    top, bottom, left, right = blocks.T
    x = np.stack([left, right, right, left], axis=1)
    y = np.stack([top, top, bottom, bottom], axis=1)
    return list(np.stack([x, y], axis=2))
