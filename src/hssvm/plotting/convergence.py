"""How the duality gap of a fit fell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.plotting._figure import axes_or_new
from hssvm.plotting._pipeline import final_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ConvergenceDisplay:
    """Relative duality gap by iteration: on the compressed kernel, then on the true one.

    Parameters
    ----------
    iterations, gaps : (m,) and (m, k) arrays
        Of ADMM on the compressed kernel, for k columns.
    rounds, true_gaps : (r,) and (r, k) arrays
        Of refinement; empty without it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm import SVC
    >>> from hssvm.plotting import ConvergenceDisplay
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> model = SVC(C=10, random_state=0).fit(X, np.hypot(*X.T) < 1)
    >>> display = ConvergenceDisplay.from_estimator(model).plot()
    >>> display.ax_.get_yscale()
    'log'
    """

    iterations: Floats
    gaps: Floats
    rounds: Floats
    true_gaps: Floats

    @classmethod
    def from_estimator(cls, estimator: Any) -> ConvergenceDisplay:
        """Take the history of a fit.

        Parameters
        ----------
        estimator : SVC, SVCCV, SVR or OneClassSVM, or a pipeline that ends with one
            Fitted, and not loaded from a file, which has no history.
        """
        history = final_step(estimator).fit_report_.history
        if not history.get("solve"):
            raise ValueError(
                "the fit has no history: it was loaded from a file, or made by the paper's setting"
            )
        parts = []
        for stage in ("solve", "refine"):
            looks = history.get(stage, [])
            parts.append(np.array([iteration for iteration, _ in looks], dtype=np.float64))
            parts.append(np.array([gap for _, gap in looks], dtype=np.float64))
        return cls(*parts)

    def plot(self, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw the gaps; refinement comes after a dashed line.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Of a new figure if not given.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 3.6))
        self.figure_ = ax.figure
        self.lines_ = ax.plot(self.iterations, positive(self.gaps), "C0o-", ms=3, lw=1.5)
        self.lines_[0].set_label("compressed kernel")
        if self.rounds.size:
            end = self.iterations[-1]
            ax.axvline(end, color="0.6", linestyle="--", linewidth=1)
            lines = ax.plot(end + self.rounds, positive(self.true_gaps), "C1s-", ms=3, lw=1.5)
            lines[0].set_label("true kernel")
            self.lines_ += lines
            ax.legend(frameon=False)
        ax.set_yscale("log")
        ax.set(xlabel="iteration, then round", ylabel="relative duality gap")
        if not self.rounds.size:
            ax.set(xlabel="iteration", title="gap on the compressed kernel")
        ax.grid(alpha=0.3)
        return self


def positive(gaps: Floats) -> Floats:
    """Gaps for a log scale: rounding errors below zero are not drawn."""
    return np.where(gaps > 0, gaps, np.nan)
