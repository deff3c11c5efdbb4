"""The decay of the singular values of a kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hssvm.kernels import Gaussian
from hssvm.kernels.base import Floats, Rows, require_positive
from hssvm.plotting._figure import axes_or_new, few_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class SingularValueDisplay:
    """Singular values of Gaussian kernel matrices ``exp(-d**2 / (2 h**2))``, by width h.

    The (r + 1)-th singular value divided by the first is the relative error, in the spectral norm,
    of the best approximation of rank r. Wide kernels have low numerical rank; narrow ones do not.

    Parameters
    ----------
    hs : (k,) array
    singular_values : (k, n) array
        One row per h, largest first.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One per h.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm.plotting import SingularValueDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> display = SingularValueDisplay.from_rows(X, hs=[0.1, 1, 10]).plot()
    >>> (display.singular_values > 0.01 * display.singular_values[:, :1]).sum(axis=1)
    array([100,  91,   3])
    """

    hs: Floats
    singular_values: Floats

    @classmethod
    def from_rows(cls, X: Rows, hs: Sequence[float]) -> SingularValueDisplay:
        """Compute the singular values from the dense matrices, in float64.

        Parameters
        ----------
        X : (n, p) array or CSR matrix
            At most 5,000 rows.
        hs : sequence of float
            Widths.
        """
        X = few_rows(X).astype(np.float64)
        widths = np.ravel(np.asarray(hs, dtype=np.float64))
        if not widths.size:
            raise ValueError("hs must have at least one value")
        require_positive(hs=widths)
        # The matrix is symmetric: its singular values are its eigenvalues, up to their signs.
        values = [np.abs(np.linalg.eigvalsh(Gaussian(0.5 / h**2).block(X))) for h in widths]
        return cls(widths, np.sort(values, axis=1)[:, ::-1])

    def plot(self, ax: Axes | None = None) -> SingularValueDisplay:
        """Draw one line per h: the singular values divided by the largest of them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax, (5.2, 3.8))
        self.figure_ = self.ax_.figure
        from matplotlib import colormaps

        # The yellow end of the map is too pale for lines on white.
        colors = colormaps["viridis"](np.linspace(0, 0.85, self.hs.size))
        index = np.arange(1, self.singular_values.shape[1] + 1)
        self.lines_ = [
            self.ax_.plot(index, values / values[0], color=color, label=f"{h:g}", linewidth=2)[0]
            for h, values, color in zip(self.hs, self.singular_values, colors, strict=True)
        ]
        self.ax_.set_yscale("log")
        # Below eps there are only rounding errors.
        smallest = (self.singular_values / self.singular_values[:, :1]).min()
        self.ax_.set_ylim(max(smallest / 3, np.finfo(np.float64).eps), 3)
        self.ax_.set_xlim(1, max(index[-1], 2))
        self.ax_.set_xlabel("index of the singular value")
        self.ax_.set_ylabel("singular value / largest")
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(title="width h", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return self
