"""The importances of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.plotting._figure import axes_or_new
from hssvm.plotting._pipeline import final_step, step_before

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT, FRAME_HEIGHT = 0.24, 1.0
"""Height of a bar with its space, and of the rest of a new figure, in inches."""

QUANTILES = 0.1, 0.9
"""Quantiles over the rows that the spread of Shapley values shows."""


@dataclass(eq=False)
class ImportanceDisplay:
    """Bars of the largest importances of features.

    Parameters
    ----------
    importances : (p,) array
    names : list of str
        Names of the features.
    n_shown : int, default=20
        Number of features that are shown.
    spread : (2, p) array, optional
        Lower and upper ends of a line over each bar, such as quantiles over the rows.
    label : str
        What is shown, under the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
        The most important feature first.
    lines_ : matplotlib LineCollection or None
        The spread.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm import SVR
    >>> from hssvm.plotting import ImportanceDisplay
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 5))
    >>> model = SVR(C=10, scaling="learned", random_state=0).fit(X, np.sin(3 * X[:, 2]))
    >>> display = ImportanceDisplay.from_estimator(model).plot()
    >>> display.ax_.get_yticklabels()[0].get_text()
    'feature 2'
    """

    importances: NDArray[np.float64]
    names: list[str]
    n_shown: int = 20
    spread: NDArray[np.float64] | None = None
    label: str = "importance, of a sum of 1"

    def __post_init__(self) -> None:
        self.importances = np.asarray(self.importances)
        if len(self.names) != self.importances.size:
            raise ValueError(
                f"there are {self.importances.size} importances and {len(self.names)} names; pass "
                "a name for each feature"
            )
        if self.spread is not None:
            self.spread = np.asarray(self.spread)
            if self.spread.shape != (2, self.importances.size):
                raise ValueError(
                    f"spread has the shape {self.spread.shape}; pass two ends for each of the "
                    f"{self.importances.size} features"
                )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Any = None, n_shown: int = 20
    ) -> ImportanceDisplay:
        """Create the display from a model with learned scales.

        Parameters
        ----------
        estimator : SVC, SVR or Pipeline
            Fitted with ``scaling='learned'``, or any estimator with `feature_importances_`.
            Behind a `TableEncoder`, the importances are summed by column of the table.
        names : sequence of str, optional
            By default, the names of the columns in the fit, or the positions of the features.
        n_shown : int, default=20
        """
        model = final_step(estimator)
        importances, named = model.feature_importances_, model
        encoder = step_before(estimator)
        if hasattr(encoder, "sum_by_column"):
            importances, named = encoder.sum_by_column(importances), encoder
        if names is None:
            positions = [f"feature {j}" for j in range(importances.size)]
            names = getattr(named, "feature_names_in_", positions)
        return cls(importances, [str(name) for name in names], n_shown)

    @classmethod
    def from_explanation(cls, explanation: Any, *, n_shown: int = 20) -> ImportanceDisplay:
        """Create the display from Shapley values: their mean absolute values.

        The lines reach from the 10 % quantile of the absolute values over the rows to the 90 %
        quantile. Several outputs are summed.

        Parameters
        ----------
        explanation : Explanation
            As `hssvm.SVC.explain` returns it.
        n_shown : int, default=20

        Examples
        --------
        >>> import matplotlib; matplotlib.use("Agg")
        >>> import numpy as np
        >>> from hssvm import SVR
        >>> from hssvm.plotting import ImportanceDisplay
        >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
        >>> model = SVR(C=10, random_state=0).fit(X, X[:, 0] - 2 * X[:, 1])
        >>> display = ImportanceDisplay.from_explanation(model.explain(X)).plot()
        >>> display.ax_.get_yticklabels()[0].get_text()
        'feature 1'
        """
        sizes = np.abs(explanation.values)
        sizes = sizes if sizes.ndim == 2 else sizes.sum(axis=2)
        spread = np.quantile(sizes, QUANTILES, axis=0)
        names = explanation.feature_names
        return cls(sizes.mean(axis=0), names, n_shown, spread, "mean of |Shapley value|")

    @property
    def shown(self) -> NDArray[np.int64]:
        """Indices of the features that are shown, the most important first."""
        return np.argsort(-self.importances, kind="stable")[: self.n_shown]

    def plot(self, ax: Axes | None = None) -> ImportanceDisplay:
        """Draw the bars, the most important feature at the top.

        Parameters
        ----------
        ax : Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        self
        """
        shown = self.shown
        size = (5.6, FRAME_HEIGHT + BAR_HEIGHT * shown.size)
        self.ax_ = ax = axes_or_new(ax, size)
        self.figure_ = ax.figure
        self.bars_ = ax.barh(np.arange(shown.size), self.importances[shown])
        ax.set_yticks(np.arange(shown.size), [self.names[j] for j in shown])
        ax.invert_yaxis()
        self.lines_ = None
        if self.spread is not None:
            low, high = self.spread[:, shown]
            self.lines_ = ax.hlines(np.arange(shown.size), low, high, "0.25", linewidth=1.2)
            ax.plot([], [], color="0.25", linewidth=1.2, label="10 to 90 % of the rows")
            ax.legend(loc="lower right", frameon=False)
        ax.set_xlabel(self.label)
        ax.spines[["top", "right"]].set_visible(False)
        if shown.size < self.importances.size:
            ax.set_title(f"{shown.size} of {self.importances.size:,} features", loc="left")
        return self
