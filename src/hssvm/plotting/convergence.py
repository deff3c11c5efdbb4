"""The duality gap during a fit."""

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
    """Relative duality gap by iteration, on the compressed and then on the exact kernel.

    Parameters
    ----------
    iterations, gaps : (m,) and (m, k) arrays
        Iterations and gaps of ADMM on the compressed kernel, for k columns.
    rounds, exact_gaps : (r,) and (r, k) arrays
        Rounds and gaps of refinement; empty without it.

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
    exact_gaps: Floats

    @classmethod
    def from_estimator(cls, estimator: Any) -> ConvergenceDisplay:
        """Create the display from the history of a fit: of a forest, the history of the first tree.

        Parameters
        ----------
        estimator : SVC, SVCCV, SVR or OneClassSVM, or a pipeline that ends with one
            Fitted in this process: model files do not store the history.
        """
        history = final_step(estimator).fit_report_.history
        if not any(history.values()):
            raise ValueError(
                "the model has no history, because it was loaded from a file, or trained "
                "one-vs-one or with solver='paper'; fit it here with solver='admm' and "
                "multi_class='ovr'"
            )
        parts = []
        for stage in ("solve", "refine"):
            checks = history.get(stage, [])
            parts.append(np.array([iteration for iteration, _ in checks], dtype=np.float64))
            parts.append(np.array([gap for _, gap in checks], dtype=np.float64))
        return cls(*parts)

    def plot(self, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw the gaps; a dashed line marks the start of refinement.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        self.ax_ = ax = axes_or_new(ax, (5.6, 3.6))
        self.figure_ = ax.figure
        self.lines_, end = [], 0.0
        if self.iterations.size:
            self.lines_ += ax.plot(self.iterations, positive(self.gaps), "C0o-", ms=3, lw=1.5)
            self.lines_[0].set_label("compressed kernel")
            end = self.iterations[-1]
        if self.rounds.size:
            lines = ax.plot(end + self.rounds, positive(self.exact_gaps), "C1s-", ms=3, lw=1.5)
            lines[0].set_label("exact kernel")
            self.lines_ += lines
        ax.set_yscale("log")
        ax.set(xlabel="iteration, then round", ylabel="relative duality gap")
        if end and self.rounds.size:
            ax.axvline(end, color="0.6", linestyle="--", linewidth=1)
            ax.legend(frameon=False)
        elif end:
            ax.set(xlabel="iteration", title="gap on the compressed kernel")
        else:
            ax.set(xlabel="round", title="gap on the exact kernel")
        ax.grid(alpha=0.3)
        return self


def positive(gaps: Floats) -> Floats:
    """Gaps for a log scale, with NaN for rounding errors below zero."""
    return np.where(gaps > 0, gaps, np.nan)
