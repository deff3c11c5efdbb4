"""Predicted probabilities beside the frequencies of what was predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hssvm.estimators.classifier import Classifier


@dataclass(eq=False)
class CalibrationDisplay:
    """Calibration curve, with a histogram of the predicted probabilities.

    `sklearn.calibration.CalibrationDisplay` draws the curve alone, and only for two classes.

    Parameters
    ----------
    probability : (m,) array
        Predicted for m rows.
    correct : (m,) bool array
        Whether what was predicted is true.
    n_bins : int, default=10
        Number of bins of equal width.
    event : str, default="probability"
        Event whose probability is shown; label of the axis.

    Attributes
    ----------
    figure_ : matplotlib Figure
    curve_ax_, histogram_ax_ : matplotlib Axes
    line_ : matplotlib Line2D
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from hssvm.plotting import CalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0, 1, 5000)
    >>> display = CalibrationDisplay(p, rng.uniform(0, 1, 5000) < p).plot()
    >>> bool(display.error < 0.02)
    True
    """

    probability: NDArray[np.float64]
    correct: NDArray[np.bool_]
    n_bins: int = 10
    event: str = "probability"

    def __post_init__(self) -> None:
        self.probability, self.correct = np.asarray(self.probability), np.asarray(self.correct)

    @classmethod
    def from_estimator(
        cls, estimator: Classifier, X: Any, y: Any, *, n_bins: int = 10
    ) -> CalibrationDisplay:
        """Create the display from a classifier and rows that it has not seen.

        Parameters
        ----------
        estimator : SVC or SVCCV
            Fitted with `probability`.
        X : (m, p) array-like or CSR matrix
        y : (m,) array-like
        n_bins : int, default=10
        """
        from sklearn.utils import check_consistent_length, column_or_1d

        probability, classes = estimator.predict_proba(X), estimator.classes_
        y = column_or_1d(y)
        check_consistent_length(probability, y)
        if not np.isin(y, classes).all():
            raise ValueError("y has labels that the classifier does not know; check their type")
        if classes.size == 2:
            event = f"probability of {classes[1]}"
            return cls(probability[:, 1], y == classes[1], n_bins, event)
        correct = classes[probability.argmax(axis=1)] == y
        event = "probability of the most probable class"
        return cls(probability.max(axis=1), correct, n_bins, event)

    @property
    def _bins(self) -> NDArray[np.int64]:
        """The bin of every row."""
        return np.minimum((self.probability * self.n_bins).astype(np.int64), self.n_bins - 1)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of rows of each bin."""
        return np.bincount(self._bins, minlength=self.n_bins)

    @property
    def mean_probability(self) -> NDArray[np.float64]:
        """Mean probability of each bin, NaN if it is empty."""
        return self._mean(self.probability)

    @property
    def frequency(self) -> NDArray[np.float64]:
        """Fraction of correct rows of each bin, NaN if it is empty."""
        return self._mean(self.correct)

    @property
    def error(self) -> float:
        """Expected calibration error: mean gap of probability and frequency, weighted by rows."""
        distance = np.abs(self.mean_probability - self.frequency)
        return float(np.nansum(distance * self.counts) / self.probability.size)

    def _mean(self, values: NDArray[Any]) -> NDArray[np.float64]:
        counts, sums = self.counts, np.bincount(self._bins, values, self.n_bins)
        return np.divide(sums, counts, out=np.full(self.n_bins, np.nan), where=counts > 0)

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> CalibrationDisplay:
        """Draw the curve, and the histogram below it.

        Parameters
        ----------
        axes : (Axes, Axes), optional
            For the curve and the histogram; by default, the axes of a new figure.

        Returns
        -------
        self
        """
        if axes is None:
            import matplotlib.pyplot as plt

            _, (curve, histogram) = plt.subplots(
                2, 1, sharex=True, figsize=(4.8, 5.6), height_ratios=(3, 1), layout="constrained"
            )
        else:
            curve, histogram = axes
        self.curve_ax_, self.histogram_ax_, self.figure_ = curve, histogram, curve.figure
        curve.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="perfect")
        known = self.counts > 0
        (self.line_,) = curve.plot(
            self.mean_probability[known], self.frequency[known], marker="o", label="predicted"
        )
        curve.set(xlim=(0, 1), ylim=(0, 1), ylabel="frequency")
        curve.set_title(f"expected calibration error {self.error:.3f}")
        curve.legend(loc="upper left", frameon=False)
        edges = np.arange(self.n_bins) / self.n_bins
        self.bars_ = histogram.bar(edges, self.counts, 1 / self.n_bins, align="edge", ec="white")
        histogram.set(xlim=(0, 1), xlabel=self.event, ylabel="rows")
        return self
