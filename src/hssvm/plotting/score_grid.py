"""Scores over a grid of parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.plotting._figure import axes_or_new, font_size, size_in_points, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hssvm.model_selection.base import BaseSearch


@dataclass(eq=False)
class ScoreGridDisplay:
    """Heat map of a score over the width of the kernel (h or gamma) and C, with the best framed.

    With standard errors, thin frames mark scores less than one standard error below the best.

    Parameters
    ----------
    parameter : "h" or "gamma"
        Name of the parameter with the given `values`.
    values : (n_values,) array
    Cs : (n_Cs,) array
    scores : (n_values, n_Cs) array
        NaN for missing scores.
    score_name : str
    errors : (n_values, n_Cs) array, optional
        Standard errors of the scores.
    chosen : (int, int), optional
        Row and column of the best, by default the highest score.
    family : str, optional
        Kernel and scaling of the candidates, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    image_ : matplotlib AxesImage
    frame_ : matplotlib Rectangle
        Frame of the best cell.
    near_ : list of matplotlib Rectangle
        Frames of the cells within one standard error.
    texts_ : list of matplotlib Text
        The scores in the cells, row by row; empty if the cells are too small for text.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from hssvm.plotting import ScoreGridDisplay
    >>> scores = [[0.81, 0.84, 0.83], [0.90, 0.93, 0.91]]
    >>> display = ScoreGridDisplay.from_scores(hs=[0.1, 1], Cs=[0.1, 1, 10], scores=scores).plot()
    >>> print(display.ax_.get_title())
    best score 0.930
    h = 1, C = 1
    """

    parameter: Literal["h", "gamma"]
    values: Floats
    Cs: Floats
    scores: Floats
    score_name: str = "score"
    errors: Floats | None = None
    chosen: tuple[int, int] | None = None
    family: str | None = None

    def __post_init__(self) -> None:
        if self.scores.shape != (self.values.size, self.Cs.size):
            raise ValueError(
                f"{self.values.size} values of {self.parameter} and {self.Cs.size} of C need "
                f"scores of shape {(self.values.size, self.Cs.size)}, got {self.scores.shape}"
            )
        if not np.isfinite(self.scores).any():
            raise ValueError("none of the scores is finite")

    @classmethod
    def from_scores(
        cls, hs: Sequence[float], Cs: Sequence[float], scores: Sequence[Sequence[float]] | Floats
    ) -> ScoreGridDisplay:
        """Create the display from given scores.

        Parameters
        ----------
        hs, Cs : sequences of float
        scores : (n_hs, n_Cs) array-like
        """
        values, Cs_, grid = (np.asarray(a, dtype=np.float64) for a in (hs, Cs, scores))
        return cls("h", values, Cs_, grid)

    @classmethod
    def from_estimator(cls, estimator: BaseSearch) -> ScoreGridDisplay:
        """Create the display from the mean scores over the folds, of the chosen kernel and scaling.

        The best scores have been compared on more rows than the others, so that the chosen one need
        not be the highest.

        Parameters
        ----------
        estimator : SVCCV or SVRCV
            Fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVCCV
        >>> from hssvm.plotting import ScoreGridDisplay
        >>> X = np.random.default_rng(0).standard_normal((300, 2))
        >>> y = np.hypot(*X.T) < 1
        >>> model = SVCCV(Cs=[0.1, 1, 10], gammas=[0.1, 1], random_state=0).fit(X, y)
        >>> display = ScoreGridDisplay.from_estimator(model)
        >>> best = display.best_index
        >>> bool(display.values[best[0]] == model.gamma_ and display.Cs[best[1]] == model.C_)
        True
        """
        scoring = estimator._scoring_or_default()  # noqa: SLF001
        name = scoring.replace("_", " ") if isinstance(scoring, str) else "score"
        scores, (g, c) = estimator.scores_, estimator.best_position()
        return cls(
            "gamma",
            estimator.gammas_,
            estimator.Cs_,
            scores.mean(axis=2),
            f"mean {name} of {estimator.n_splits_} folds",
            scores.std(axis=2, ddof=1) / scores.shape[2] ** 0.5 if scores.shape[2] > 1 else None,
            (g, c),
            estimator.family_,
        )

    @property
    def best_index(self) -> tuple[int, int]:
        """Row and column of the best score, the first one in case of a tie."""
        if self.chosen is not None:
            return self.chosen
        row, column = np.unravel_index(int(np.nanargmax(self.scores)), self.scores.shape)
        return int(row), int(column)

    def _near(self) -> list[tuple[int, int]]:
        """Cells whose scores are at most a standard error below the best, up to rounding."""
        if self.errors is None:
            return []
        best = self.best_index
        least = self.scores[best] - self.errors[best] - 1e-9 * abs(self.scores[best])
        near = [(int(i), int(j)) for i, j in np.argwhere(self.scores >= least)]
        return [cell for cell in near if cell != best]

    def plot(
        self, ax: Axes | None = None, *, vmin: float | None = None, vmax: float | None = None
    ) -> ScoreGridDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.
        vmin, vmax : float, optional
            Limits of the color scale, by default the lowest and the highest score. To compare
            several maps, use the same limits for all.

        Returns
        -------
        self
        """
        n_values, n_Cs = self.scores.shape
        inches = 2 + 0.6 * min(n_Cs, 12), 1.8 + 0.5 * min(n_values, 12)
        self.ax_ = ax = axes_or_new(ax, (max(inches[0], 4.5), max(inches[1], 2.8)))
        self.figure_ = ax.figure
        from matplotlib.patches import Rectangle

        self.image_ = ax.imshow(
            self.scores, cmap="viridis", origin="lower", aspect="auto", vmin=vmin, vmax=vmax
        )
        row, column = self.best_index
        self.near_ = [
            Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, linestyle="--", zorder=2)
            for i, j in self._near()
        ]
        self.frame_ = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, clip_on=False)
        self.frame_.set(edgecolor="black", linewidth=3, zorder=3)
        for frame in (*self.near_, self.frame_):
            ax.add_patch(frame)
        self.figure_.colorbar(self.image_, ax=ax, label=self.score_name)
        C_labels = [f"{C:.3g}" for C in self.Cs]
        value_labels = [_number(value, ".3g") for value in self.values]
        labels = [_number(score, ".3f") for score in self.scores.flat]
        ax.set(xlabel="C", ylabel="width h" if self.parameter == "h" else self.parameter)
        error = "" if self.errors is None else f" ± {_number(self.errors[row, column], '.3f')}"
        of = "" if self.family is None else f"{self.family}: "
        ax.set_title(
            f"best score {_number(self.scores[row, column], '.3f')}{error}\n"
            f"{of}{self.parameter} = {value_labels[row]}, C = {C_labels[column]}"
        )

        ax.set_yticks(range(n_values), value_labels)
        width, height = size_in_points(ax)
        C_step = math.ceil(n_Cs * 6.8 * max(map(len, C_labels)) / width)
        value_step = math.ceil(n_values * 14 / height)
        ax.set_xticks(range(0, n_Cs, C_step), C_labels[::C_step])
        ax.set_yticks(range(0, n_values, value_step), value_labels[::value_step])
        fontsize = font_size(max(labels, key=len), width / n_Cs, height / n_values)
        self.texts_ = []
        if fontsize is not None:
            self.texts_ = [
                write(ax, (j, i), label, fontsize, self.image_, score)
                for ((i, j), score), label in zip(np.ndenumerate(self.scores), labels, strict=True)
            ]
        return self


def _number(value: Any, form: str) -> str:
    # NaN is the score of a fold with only one class, and the gamma of a kernel without gamma.
    return "none" if np.isnan(value) else format(value, form)
