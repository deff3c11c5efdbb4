"""The decision function of a model with two features, and the leaves of a tree."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows
from hssvm.plotting._figure import axes_or_new
from hssvm.plotting._pipeline import final_step, transformed
from hssvm.predictors import LeafwisePredictor
from hssvm.training.data.scaling import Scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 200
"""Number of grid points in each direction."""

SHOWN = 2000
"""Maximum number of rows to draw."""


@dataclass(eq=False)
class BoundaryDisplay:
    """Decision values in a plane, with the boundary, the rows, and the borders of the leaves.

    With more than two classes, it shows the region of every class.

    Parameters
    ----------
    x, y : (g,) arrays
        The grid.
    values : (g, g) or (g, g, n_classes) array
        Decision values at the grid points; the first axis is `y`.
    leaves : (g, g) array or None
        Leaf of every grid point, if `values` come from a single tree.
    rows : (m, 2) array
    labels : (m,) array of int or None
        Class indices of the rows.
    classes : sequence of str
        Class names.
    feature_names : pair of str
    margin : bool
        Whether to draw the margin, at -1 and 1; novelty detection has no margin.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm import SVC, Cells
    >>> from hssvm.plotting import BoundaryDisplay
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = SVC(C=10, approximation=Cells(size=256), random_state=0).fit(X, y)
    >>> mean = BoundaryDisplay.from_estimator(model, X, y).plot()
    >>> tree = BoundaryDisplay.from_estimator(model, X, y, tree=0).plot()
    >>> np.unique(tree.leaves).size
    16
    """

    x: Floats
    y: Floats
    values: Floats
    leaves: NDArray[np.int64] | None
    rows: Floats
    labels: NDArray[np.int64] | None
    classes: Sequence[str] = ("0", "1")
    feature_names: tuple[str, str] = ("feature 0", "feature 1")
    margin: bool = True

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, tree: int | None = None
    ) -> BoundaryDisplay:
        """Evaluate a model of two features on a grid around the rows.

        Parameters
        ----------
        estimator : SVC, SVCCV or OneClassSVM, or a pipeline that ends with one
            Fitted.
        X : (n, 2) array-like or DataFrame
            Input of the estimator.
        y : (n,) array-like, optional
            Classes that color the rows; for OneClassSVM 1 for inside and -1 for outside.
        tree : int, optional
            Index of a tree of a forest: show the decision values of this tree, and the borders of
            its leaves. By default, the display shows the model; it has borders of leaves only if
            there is one tree.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("Agg")
        >>> import numpy as np
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> from hssvm import SVC
        >>> from hssvm.plotting import BoundaryDisplay
        >>> X = np.random.default_rng(0).standard_normal((300, 2))
        >>> y = np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.5])
        >>> model = make_pipeline(StandardScaler(), SVC(C=10)).fit(X, y)
        >>> BoundaryDisplay.from_estimator(model, X, y).values.shape
        (200, 200, 3)
        """
        if not hasattr(estimator, "decision_function"):
            raise ValueError(
                f"{type(final_step(estimator)).__name__} has no decision function; use SVC, SVCCV "
                "or OneClassSVM"
            )
        rows: Floats = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"X must have two features, got shape {rows.shape}")
        low, high = rows.min(axis=0), rows.max(axis=0)
        border = np.where(high > low, 0.05 * (high - low), 1.0)
        x_side, y_side = np.linspace(low - border, high + border, GRID).T
        points: Any = np.stack(np.meshgrid(x_side, y_side), axis=-1).reshape(-1, 2)
        names = {}
        if hasattr(X, "columns"):
            points = type(X)(points, columns=X.columns)
            names = {"feature_names": (str(X.columns[0]), str(X.columns[1]))}
        if tree is None:
            values, leaves = estimator.decision_function(points), _leaves_of_only(estimator, points)
        else:
            values, leaves = _values_of_tree(estimator, points, operator.index(tree))
        shown = np.random.default_rng(0).permutation(rows.shape[0])[:SHOWN]
        classes: NDArray[Any] = getattr(estimator, "classes_", np.array([-1, 1]))
        return cls(
            x_side,
            y_side,
            values.reshape(GRID, GRID, *values.shape[1:]),
            None if leaves is None else leaves.reshape(GRID, GRID),
            rows[shown],
            None if y is None else _class_indices(np.asarray(y), classes)[shown],
            [str(label) for label in classes],
            margin=hasattr(estimator, "classes_"),
            **names,
        )

    def plot(self, ax: Axes | None = None) -> BoundaryDisplay:
        """Draw the boundary and the rows, and the borders of the leaves in gray.

        Colors show the decision values. With more than two classes they show the classes, darker
        for a larger lead over the second-best class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 4.6))
        self.figure_ = ax.figure
        colors = self._draw_values() if self.values.ndim == 2 else self._draw_regions()
        if self.leaves is not None:
            border = np.zeros(self.leaves.shape, bool)
            border[:, 1:] |= self.leaves[:, 1:] != self.leaves[:, :-1]
            border[1:] |= self.leaves[1:] != self.leaves[:-1]
            shade = np.where(border, 0.7, np.nan)
            ax.pcolormesh(self.x, self.y, shade, cmap="Greys", vmin=0, vmax=1, alpha=0.6)
        style: dict[str, Any] = {"s": 6, "edgecolors": "0.2", "linewidths": 0.2}
        if self.labels is None:
            ax.scatter(*self.rows.T, color="0.4", **style)
        else:
            for index, name in enumerate(self.classes):
                of_class = self.rows[self.labels == index]
                ax.scatter(*of_class.T, color=[colors[index]], label=name, **style)
            ax.legend(loc="upper right", markerscale=2.5, handletextpad=0.2)
        notes = ["dashed: margin"] if self.margin and self.values.ndim == 2 else []
        notes += [] if self.leaves is None else ["gray: borders of the leaves"]
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1], title=", ".join(notes))
        return self

    def _draw_values(self) -> list[Any]:
        """Draw decision values and their boundary; return the colors of the two classes."""
        ax = self.ax_
        size = float(np.abs(self.values).max())
        if not self.margin and self.values.max() > 0:  # values far outside are very negative
            size = float(self.values.max())
        image = ax.pcolormesh(
            self.x, self.y, self.values, cmap="RdBu", vmin=-size, vmax=size, alpha=0.5
        )
        extend = "min" if self.values.min() < -size else "neither"
        self.figure_.colorbar(image, ax=ax, label="decision value", extend=extend)
        lines = {-1: ("--", 0.8), 1: ("--", 0.8)} if self.margin else {}
        for level, (dashes, width) in {**lines, 0: ("-", 1.8)}.items():
            self._draw_line(self.values - level, linestyles=dashes, linewidths=width)
        return [image.cmap(0.0), image.cmap(1.0)]

    def _draw_regions(self) -> list[Any]:
        """Draw the region of every class; return their colors."""
        from matplotlib import colormaps
        from matplotlib.colors import to_rgb

        n_classes = self.values.shape[2]
        palette = colormaps["tab10" if n_classes <= 10 else "turbo"]
        colors = [
            to_rgb(palette(i if n_classes <= 10 else i / (n_classes - 1))) for i in range(n_classes)
        ]
        best, second = np.sort(self.values, axis=2)[..., ::-1][..., :2].transpose(2, 0, 1)
        strength = 0.2 + 0.4 * np.minimum(best - second, 2.0) / 2.0
        shown = np.array(colors)[self.values.argmax(axis=2)]
        self.ax_.pcolormesh(self.x, self.y, np.dstack([shown, strength]))
        for index in range(n_classes):
            others = np.delete(self.values, index, axis=2).max(axis=2)
            lead = self.values[..., index] - others
            self._draw_line(lead, linestyles="-", linewidths=1.2)
        return colors

    def _draw_line(self, values: Floats, **style: Any) -> None:
        """Draw the zero contour of `values`, if there is one; matplotlib warns if there is none."""
        if values.min() < 0 < values.max():
            self.ax_.contour(self.x, self.y, values, levels=[0], colors="black", **style)


def _leaves_of_only(estimator: Any, points: Any) -> NDArray[np.int64] | None:
    """Leaves of the points, if the model has exactly one tree."""
    predictor = getattr(final_step(estimator), "_compressed", None)
    if predictor is None or len(predictor.trees) > 1:
        return None
    return predictor.trees[0].tree.route(_inputs(estimator, predictor, points))


def _values_of_tree(estimator: Any, points: Any, index: int) -> tuple[Floats, NDArray[np.int64]]:
    """Decision values of one tree, whose mean over all trees is the model's, and its leaves."""
    final = final_step(estimator)
    predictor = getattr(final, "_compressed", None)
    if predictor is None:
        raise ValueError(
            f"tree={index} needs a model with trees, and this model predicts with all support "
            "vectors; fit it with approximation=Cells() or HSS(), or leave out tree"
        )
    n_trees = len(predictor.trees)
    if not 0 <= index < n_trees:
        indices = "0" if n_trees == 1 else f"0 to {n_trees - 1}"
        raise ValueError(f"tree={index} does not exist; pass {indices}, or fit with more trees")
    inputs = _inputs(estimator, predictor, points)
    values = predictor.decisions(inputs)[index]
    values += (final.intercept_ - predictor.intercept).astype(values.dtype)  # moved after training
    leaves = predictor.trees[index].tree.route(inputs)
    by_class = getattr(final, "_by_class", None)  # classifiers have it
    return values[:, 0] if by_class is None else by_class(values), leaves


def _inputs(estimator: Any, predictor: LeafwisePredictor, points: Any) -> Rows:
    """Input of the predictor: after the steps of a pipeline, and scaled."""
    final = final_step(estimator)
    inside = transformed(estimator, points).astype(predictor.X.dtype)
    scaling = Scaling(final.feature_shift_, final.feature_factor_, final.feature_quantiles_)
    return scaling(inside)


def _class_indices(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        known = ", ".join(map(str, classes))
        raise ValueError(f"y has the label {unknown[0]}, but the classes of the model are {known}")
    return np.searchsorted(classes, y)
