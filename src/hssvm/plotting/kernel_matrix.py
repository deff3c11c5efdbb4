"""The kernel matrix, in the given order of the rows and in tree order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import ClusterTree
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.plotting._figure import few_rows, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class KernelMatrixDisplay:
    """Images of the kernel matrix: rows in the given order on the left, in tree order on the right.

    In tree order, nearby points are in nearby rows. Large entries then concentrate near the
    diagonal, and the blocks away from it are smooth, so that they can be compressed to low rank.

    Parameters
    ----------
    matrix : (n, n) array
        In the given order of the rows.
    perm : (n,) int64
        Tree order to the given order, as in `ClusterTree`.

    Attributes
    ----------
    ax_ : list of two matplotlib Axes
    figure_ : matplotlib Figure
    images_ : list of two matplotlib AxesImage

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.plotting import KernelMatrixDisplay
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> display = KernelMatrixDisplay.from_rows(X, Gaussian(gamma=1.0), leaf_size=32).plot()
    >>> near = np.abs(np.subtract.outer(np.arange(200), np.arange(200))) < 20
    >>> bool(display.matrix_in_tree_order[near].mean() > 1.5 * display.matrix[near].mean())
    True
    """

    matrix: Floats
    perm: NDArray[np.int64]

    @classmethod
    def from_rows(cls, X: Rows, kernel: Kernel, leaf_size: int = 256) -> KernelMatrixDisplay:
        """Compute the matrix and the tree of the rows.

        Parameters
        ----------
        X : (n, p) array or CSR matrix
            At most 5,000 rows.
        kernel : Kernel
        leaf_size : int
            See `hssvm.hss.ClusterTree.build`.
        """
        X = few_rows(X)
        return cls(kernel.block(X), ClusterTree.build(X, leaf_size).perm)

    @property
    def matrix_in_tree_order(self) -> Floats:
        """``K[perm][:, perm]``."""
        return self.matrix[np.ix_(self.perm, self.perm)]

    def plot(self, ax: Sequence[Axes] | None = None) -> KernelMatrixDisplay:
        """Draw the two images side by side, with a common color scale.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        self
        """
        if ax is None:
            ax = pyplot().subplots(1, 2, figsize=(8, 3.8), layout="compressed")[1]
        self.ax_ = list(ax)
        left, right = self.ax_
        self.figure_ = left.figure
        low, high = min(0.0, float(self.matrix.min())), float(self.matrix.max())
        self.images_ = [
            axes.imshow(matrix, vmin=low, vmax=high, cmap="Blues")
            for axes, matrix in ((left, self.matrix), (right, self.matrix_in_tree_order))
        ]
        for axes, order in ((left, "as given"), (right, "in tree order")):
            axes.set_title(f"rows {order}")
            axes.set(xlabel="column", ylabel="row")
        self.figure_.colorbar(self.images_[0], ax=self.ax_, label="kernel value")
        return self
