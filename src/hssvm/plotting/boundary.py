"""The decision function of two features, and the leaves of its tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.plotting._figure import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 200
"""Points of the grid on a side."""

SHOWN = 2000
"""Rows that are drawn, at most."""


@dataclass(eq=False)
class BoundaryDisplay:
    """Decision values over a plane, with the boundary, the rows, and the borders of the leaves.

    Parameters
    ----------
    x, y : (g,) arrays
        The grid.
    values : (g, g) array
        Decision values at its points; rows are those of `y`.
    leaves : (g, g) array or None
        Leaf of every point, of a model on the compressed kernel.
    rows : (m, 2) array
    labels : (m,) array of int
        Classes by number.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm import SVC
    >>> from hssvm.plotting import BoundaryDisplay
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = SVC(C=10, refine=False, random_state=0).fit(X, y)
    >>> display = BoundaryDisplay.from_estimator(model, X, y).plot()
    >>> np.unique(display.leaves).size
    16
    """

    x: Floats
    y: Floats
    values: Floats
    leaves: NDArray[np.int64] | None
    rows: Floats
    labels: NDArray[np.int64]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> BoundaryDisplay:
        """Evaluate a model of two features on a grid around the rows.

        Parameters
        ----------
        estimator : SVC or SVCCV
            Fitted, of two classes.
        X : (n, 2) array-like
        y : (n,) array-like
        """
        rows: Floats = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"a plane has two features; X has shape {rows.shape}")
        if estimator.classes_.size != 2:
            raise ValueError(f"one boundary has two classes, not {estimator.classes_.size}")
        low, high = rows.min(axis=0), rows.max(axis=0)
        margin = 0.05 * (high - low)
        x_side, y_side = np.linspace(low - margin, high + margin, GRID).T
        points = np.stack(np.meshgrid(x_side, y_side), axis=-1).reshape(-1, 2)
        values = estimator.decision_function(points).reshape(GRID, GRID)
        leaves = None
        if estimator._leafwise is not None:
            scaled = estimator._scaling(points.astype(estimator._leafwise.X.dtype))
            leaves = estimator._leafwise.tree.route(scaled).reshape(GRID, GRID)
        some = np.random.default_rng(0).permutation(rows.shape[0])[:SHOWN]
        labels = np.searchsorted(estimator.classes_, np.asarray(y)[some])
        return cls(x_side, y_side, values, leaves, rows[some], labels)

    def plot(self, ax: Axes | None = None) -> BoundaryDisplay:
        """Draw the values as colours, the boundary and the margins as lines, leaves in grey.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Of a new figure if not given.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 4.6))
        self.figure_ = ax.figure
        size = float(np.abs(self.values).max())
        image = ax.pcolormesh(
            self.x, self.y, self.values, cmap="RdBu", vmin=-size, vmax=size, alpha=0.5
        )
        self.figure_.colorbar(image, ax=ax, label="decision value")
        if self.leaves is not None:
            border = np.zeros(self.leaves.shape, bool)
            border[:, 1:] |= self.leaves[:, 1:] != self.leaves[:, :-1]
            border[1:] |= self.leaves[1:] != self.leaves[:-1]
            shade = np.where(border, 0.7, np.nan)
            ax.pcolormesh(self.x, self.y, shade, cmap="Greys", vmin=0, vmax=1, alpha=0.6)
        ax.scatter(
            self.rows[:, 0],
            self.rows[:, 1],
            c=self.labels,
            cmap="RdBu",
            s=6,
            edgecolors="0.2",
            linewidths=0.2,
        )
        ax.contour(
            self.x, self.y, self.values, levels=[-1, 0, 1], colors="black",
            linestyles=["--", "-", "--"], linewidths=[0.8, 1.8, 0.8],
        )  # fmt: skip
        leaves = "" if self.leaves is None else ", grey: borders of the leaves"
        ax.set(xlabel="feature 0", ylabel="feature 1", title=f"dashed: margin{leaves}")
        return self
