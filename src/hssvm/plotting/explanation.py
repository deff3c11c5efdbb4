"""How the features of a row make its prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.plotting._figure import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT, FRAME_HEIGHT = 0.3, 1.2
"""Height of a bar with its space, and of the rest of a new figure, in inches."""

UP, DOWN = "#c0392b", "#2471a3"
"""Colors of values that raise and lower the output."""


@dataclass(eq=False)
class ExplanationDisplay:
    """A waterfall from the mean output of the background to the output of one row.

    Parameters
    ----------
    values : (p,) array
        Shapley values.
    base_value : float
    labels : list of str
        Names of the features, with their values.
    n_shown : int, default=10
        Number of bars; the smallest values are summed in the last one.
    label : str
        What the values sum to, under the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
        The largest value first.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm import SVR
    >>> from hssvm.plotting import ExplanationDisplay
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> model = SVR(C=10, random_state=0).fit(X, X[:, 0] - 2 * X[:, 1])
    >>> explanation = model.explain([[0.5, 0.25, 0.0]])
    >>> display = ExplanationDisplay.from_explanation(explanation).plot()
    >>> display.ax_.get_yticklabels()[0].get_text()
    'feature 0 = 0.5'
    """

    values: NDArray[np.float64]
    base_value: float
    labels: list[str]
    n_shown: int = 10
    label: str = "output"

    def __post_init__(self) -> None:
        self.values = np.asarray(self.values, np.float64)
        if self.values.shape != (len(self.labels),):
            raise ValueError(
                f"values has the shape {self.values.shape}, and there are {len(self.labels)} "
                "labels; pass the values of one row and one output"
            )
        if self.n_shown < 1:
            raise ValueError(f"n_shown must be at least 1, got {self.n_shown}")

    @classmethod
    def from_explanation(
        cls, explanation: Any, row: int = 0, *, output: Any = None, n_shown: int = 10
    ) -> ExplanationDisplay:
        """Create the display of a row.

        Parameters
        ----------
        explanation : Explanation
            As `hssvm.SVC.explain` returns it.
        row : int, default=0
            Index of the row in the explanation.
        output : str or int, optional
            One of several outputs, such as a class. By default, the one with the largest value.
        n_shown : int, default=10
        """
        one, label = explanation[row], "output"
        if one.output_names is not None:
            if output is None:
                output = int(np.argmax(one.base_values[0] + one.values[0].sum(axis=0)))
            named = output if str(output) in one.output_names else one.output_names[output]
            one, label = one.output(output), f"output {named}"
        data = one.data.toarray() if scipy.sparse.issparse(one.data) else one.data
        pairs = zip(one.feature_names, data[0], strict=True)
        labels = [
            name if _is_unknown(value) else f"{name} = {_text(value)}" for name, value in pairs
        ]
        return cls(one.values[0], float(one.base_values[0]), labels, n_shown, label)

    @property
    def shown(self) -> NDArray[np.int64]:
        """Indices of the features that have bars of their own, the largest values first."""
        order = np.argsort(-np.abs(self.values), kind="stable")
        return order if order.size <= self.n_shown else order[: self.n_shown - 1]

    def plot(self, ax: Axes | None = None) -> ExplanationDisplay:
        """Draw the bars, the largest value at the top.

        The bars begin at the mean output of the background, at the bottom, and end at the output.

        Parameters
        ----------
        ax : Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        self
        """
        shown = self.shown
        steps, labels = self.values[shown], [self.labels[j] for j in shown]
        n_others = self.values.size - shown.size
        if n_others:
            steps = np.append(steps, self.values.sum() - steps.sum())
            labels.append(f"{n_others:,} other features" if n_others > 1 else "1 other feature")
        ends = self.base_value + np.cumsum(steps[::-1])[::-1]
        places = np.arange(steps.size)
        self.ax_ = ax = axes_or_new(ax, (6.4, FRAME_HEIGHT + BAR_HEIGHT * steps.size))
        self.figure_ = ax.figure
        colors = [UP if step >= 0 else DOWN for step in steps]
        self.bars_ = ax.barh(places, steps, left=ends - steps, color=colors, height=0.7)
        starts = ends - steps
        ax.vlines(ends[1:], places[1:] - 0.35, places[:-1] + 0.35, "0.6", linewidth=0.8)
        ax.axvline(self.base_value, color="0.6", linewidth=0.8, linestyle=":")
        low, high = min(starts.min(), ends.min()), max(starts.max(), ends.max())
        width = (high - low) or 1.0
        ax.set_xlim(low - 0.05 * width, high + 0.25 * width)  # with space for the last label
        for place, step, right in zip(places, steps, np.maximum(starts, ends), strict=True):
            ax.annotate(
                f"{step:+.3g}", (right, place), (3, 0), textcoords="offset points",
                va="center", fontsize="small",
            )  # fmt: skip
        ax.set_yticks(places, labels)
        ax.set_ylim(steps.size - 0.4, -0.6)
        total = self.base_value + self.values.sum()
        ax.set_xlabel(f"{self.label}; mean of the background: {self.base_value:.3g}")
        ax.set_title(f"{self.label} {total:.3g}", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _is_unknown(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
