"""The score of predictions that are made part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.metrics import accuracy_score

import hssvm


class RunningScore:
    """Accuracy, R^2, pinball loss, or the share of typical rows, of all predictions so far.

    Parameters
    ----------
    estimator : fitted estimator
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._n_rows = 0
        self._sum = 0.0  # correct or typical rows, squared errors, or losses
        self._mean, self._spread = 0.0, 0.0  # targets: mean, sum of squared deviations

    def add(self, predicted: Any, y: Any) -> None:
        """Add predictions for some rows; y is None if there are no labels."""
        novelty = isinstance(self._estimator, hssvm.OneClassSVM)
        if y is None and not novelty:
            return
        n_rows, before = len(predicted), self._n_rows
        self._n_rows += n_rows
        if novelty:
            self._sum += float(np.sum(predicted == 1))
        elif hasattr(self._estimator, "pinball_loss"):
            self._sum += n_rows * self._estimator.pinball_loss(predicted, y)
        elif is_regressor(self._estimator):
            self._sum += float(np.sum((predicted - y) ** 2))
            # the variances of two groups of rows, and of their means
            mean = float(np.mean(y))
            step = mean - self._mean
            self._spread += (
                float(np.sum((y - mean) ** 2)) + step**2 * n_rows * before / self._n_rows
            )
            self._mean += step * n_rows / self._n_rows
        else:
            self._sum += float(accuracy_score(y, predicted, normalize=False))

    def line(self) -> str | None:
        """Return the score in one line; None if no row had a label."""
        if self._n_rows == 0:
            return None
        value = self._sum / self._n_rows
        if isinstance(self._estimator, hssvm.OneClassSVM):
            name = "share inside"
        elif hasattr(self._estimator, "pinball_loss"):
            name = "pinball loss"
        elif is_regressor(self._estimator):
            name, value = "R^2", self._r2()
        else:
            name = "accuracy"
        return f"{name} {value:.4f} on {self._n_rows:,} rows"

    def _r2(self) -> float:
        if self._spread == 0:  # as in scikit-learn
            return float(self._sum == 0)
        return 1 - self._sum / self._spread
