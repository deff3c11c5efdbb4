"""The blocks of a compressed matrix, and their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import HSSMatrix
from hssvm.plotting._figure import axes_or_new, font_size, size_in_points, write
from hssvm.plotting._pipeline import final_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class RankDisplay:
    """The blocks of an `HSSMatrix`, in tree order.

    The diagonal blocks belong to the leaves, and are dense. Every other block couples two siblings;
    its rank is the smaller of the ranks of their bases.

    Parameters
    ----------
    leaf_offsets : (n_leaves + 1,) array
        Offsets of the leaves.
    blocks : (n_blocks, 4) array
        First row, end of the rows, first column and end of the columns of every off-diagonal
        block, the largest blocks first.
    ranks : (n_blocks,) array

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    leaves_ : matplotlib PolyCollection
        The dense blocks.
    blocks_ : matplotlib PolyCollection
        The off-diagonal blocks; its array contains the ranks.
    texts_ : list of matplotlib Text
        Ranks in the blocks that are large enough.

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

    leaf_offsets: NDArray[np.int64]
    blocks: NDArray[np.int64]
    ranks: NDArray[np.int64]

    @classmethod
    def from_matrix(cls, H: HSSMatrix) -> RankDisplay:
        """Create the display from a compressed matrix.

        Parameters
        ----------
        H : HSSMatrix
        """
        return cls._from_nodes(H.tree.offsets(H.tree.depth), H.ranks)

    @classmethod
    def from_estimator(cls, estimator: Any) -> RankDisplay:
        """Create the display from the compressed matrix of a model; for a forest, the first.

        Parameters
        ----------
        estimator : SVC, SVCCV, SVR or OneClassSVM, or a pipeline that ends with one
            Fitted in this process: model files, and models from Dask, do not store all ranks.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import HSS, SVC
        >>> from hssvm.plotting import RankDisplay
        >>> X = np.random.default_rng(0).standard_normal((3000, 2))
        >>> model = SVC(approximation=HSS(leaf_size=256), random_state=0)
        >>> RankDisplay.from_estimator(model.fit(X, np.hypot(*X.T) < 1)).blocks.shape
        (30, 4)
        """
        report = final_step(estimator).fit_report_
        if not report.node_ranks:
            raise ValueError(
                "the model does not store the ranks of blocks, because it was trained on the exact "
                "kernel alone, in cells, or on Dask, or was loaded from a file; fit it here with "
                "approximation=HSS(), or compress its rows and use from_matrix"
            )
        return cls._from_nodes(report.leaf_offsets, report.node_ranks)

    @classmethod
    def _from_nodes(
        cls, leaf_offsets: NDArray[np.int64], node_ranks: Sequence[NDArray[np.int64]]
    ) -> RankDisplay:
        """Compute the blocks of all siblings from the ranks of the nodes of every level."""
        blocks, ranks = [np.empty((0, 4), np.int64)], [np.empty(0, np.int64)]
        depth = len(node_ranks) - 1
        for level in range(1, depth + 1):
            ends = leaf_offsets[:: 2 ** (depth - level)]
            node = np.arange(2**level)
            sibling = node ^ 1
            blocks.append(
                np.stack([ends[node], ends[node + 1], ends[sibling], ends[sibling + 1]], axis=1)
            )
            ranks.append(np.minimum(node_ranks[level], node_ranks[level][sibling]))
        return cls(leaf_offsets, np.concatenate(blocks), np.concatenate(ranks))

    def plot(self, ax: Axes | None = None) -> RankDisplay:
        """Draw the blocks, colored by their rank.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 5))
        self.figure_ = ax.figure
        from matplotlib.collections import PolyCollection

        begin, end = self.leaf_offsets[:-1], self.leaf_offsets[1:]
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
        ax.set_title("rows in tree order\ngray: dense leaf blocks")

        point = min(size_in_points(ax)) / n
        sides = point * (self.blocks[:, 1] - self.blocks[:, 0])
        # With thick edges, small blocks would be nothing but edges.
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
    """Corners of every block as points in the plane, (4, 2)."""
    top, bottom, left, right = blocks.T
    x = np.stack([left, right, right, left], axis=1)
    y = np.stack([top, top, bottom, bottom], axis=1)
    return list(np.stack([x, y], axis=2))
