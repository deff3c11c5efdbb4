"""The models of a path, as functions of C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.plotting._figure import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hssvm.estimators import SVCPath


@dataclass(eq=False)
class PathDisplay:
    """Accuracy and fraction of support vectors as functions of C.

    Parameters
    ----------
    Cs, scores, support : (k,) arrays
        `support` is the fraction of rows that are support vectors.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    support_ax_ : matplotlib Axes
        The axes with the scale on the right.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm import svc_path
    >>> from hssvm.plotting import PathDisplay
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> path = svc_path(X, y, [0.01, 0.1, 1, 10], random_state=0)
    >>> display = PathDisplay.from_path(path, X, y).plot()
    >>> bool(display.support[0] > display.support[-1])
    True
    """

    Cs: Floats
    scores: Floats
    support: Floats

    @classmethod
    def from_path(cls, path: SVCPath, X: Any, y: Any) -> PathDisplay:
        """Score every model of a path.

        Parameters
        ----------
        path : SVCPath
        X, y
            Test data, preferably not the training data.
        """
        scores = np.mean(path.predict(X) == np.asarray(y)[:, None], axis=0)
        return cls(
            path.Cs, scores, np.count_nonzero(path.dual_coef_, axis=1) / path.fit_report_.n_rows
        )

    def plot(self, ax: Axes | None = None) -> PathDisplay:
        """Draw both curves, and mark the best C.

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
        best = int(np.argmax(self.scores))
        ax.plot(self.Cs, self.scores, "C0o-")
        ax.plot(self.Cs[best], self.scores[best], "C0*", ms=14)
        ax.set_xscale("log")
        ax.set(
            xlabel="C", title=f"best accuracy {self.scores[best]:.3f} at C = {self.Cs[best]:.3g}"
        )
        ax.set_ylabel("accuracy", color="C0")
        self.support_ax_ = ax.twinx()
        self.support_ax_.plot(self.Cs, self.support, "C1s--")
        self.support_ax_.set_ylabel("fraction of support vectors", color="C1")
        self.support_ax_.set_ylim(0, 1)
        ax.grid(alpha=0.3)
        return self
