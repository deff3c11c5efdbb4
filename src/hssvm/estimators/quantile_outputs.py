"""What models of quantiles predict, and how that is scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import d2_pinball_score, mean_pinball_loss

from hssvm.estimators.inputs.parameters import FRACTION, follows
from hssvm.estimators.regressor import Regressor
from hssvm.kernels.base import Floats
from hssvm.persistence.archive import require


class QuantileOutputs(Regressor):
    """Base class with the predictions, scores and intervals of quantiles."""

    _saved: ClassVar[tuple[str, ...]] = ("quantile_",)
    _task_name = "quantile regression"

    quantile_: float | tuple[float, ...]

    @property
    def _output_names(self) -> list[str] | None:
        quantiles = as_tuple(self.quantile_)
        return [f"quantile {q:g}" for q in quantiles] if len(quantiles) > 1 else None

    def predict(self, X: Any) -> Floats:
        """Predict the quantiles of the target of every row of `X`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array of float64, or (m, n_quantiles) if `quantile` is a sequence
        """
        return super().predict(X)

    def _predictions(self, values: Floats) -> Floats:
        """Sort the quantiles of each row, which cannot increase the loss."""
        ranks = self._quantile_ranks
        return values[:, 0] if ranks is None else np.sort(values, axis=1)[:, ranks]

    @property
    def _quantile_ranks(self) -> NDArray[np.int64] | None:
        """The rank of each of several quantiles, from 0."""
        if not isinstance(self.quantile_, tuple):
            return None
        return np.argsort(np.argsort(self.quantile_, kind="stable"))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D^2: the share of the pinball loss of constant predictions that the model avoids.

        It is `sklearn.metrics.d2_pinball_score`, averaged over the quantiles: 1 is best, and the
        quantiles of `y` would have 0.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        y : (m,) array-like
        sample_weight : (m,) array-like, optional

        Returns
        -------
        float
        """
        return self._score(y, self.predict(X), sample_weight)

    def _score(self, y: Any, predicted: Floats, weight: Any) -> float:
        pairs = self._pairs(predicted)
        scores = [d2_pinball_score(y, own, sample_weight=weight, alpha=q) for own, q in pairs]
        return float(np.mean(scores))

    def _pairs(self, predicted: Any) -> Iterator[tuple[Floats, float]]:
        """Yield the predictions of each quantile, and the quantile."""
        columns = np.asarray(predicted).reshape(len(predicted), -1).T
        return zip(columns, as_tuple(self.quantile_), strict=True)

    def pinball_loss(self, predicted: Any, y: Any) -> float:
        """Mean pinball loss of predictions, over the rows and the quantiles.

        Parameters
        ----------
        predicted : (m,) or (m, n_quantiles) array
            As `predict` returns them.
        y : (m,) array-like

        Returns
        -------
        float

        Examples
        --------
        >>> from hssvm import QuantileSVR
        >>> model = QuantileSVR(quantile=0.9).fit([[0.0], [1.0]], [0.0, 1.0])
        >>> round(model.pinball_loss([0.0, 3.0], [1.0, 1.0]), 2)
        0.55
        """
        losses = [mean_pinball_loss(y, own, alpha=q) for own, q in self._pairs(predicted)]
        return float(np.mean(losses))

    def _nonconformity(self, y: Floats, predicted: Floats) -> Floats:
        low, high = self._ends(predicted)
        return np.maximum(low - y, y - high)

    def _ends(self, predicted: Floats) -> NDArray[np.float64]:
        """The lowest and the highest quantile of each row, (2, n)."""
        columns = predicted.reshape(len(predicted), -1)
        return np.stack([columns.min(axis=1), columns.max(axis=1)]).astype(np.float64)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Intervals that contain the target with a given probability.

        The interval between the lowest and the highest quantile is widened, or narrowed, by the
        same amount for all rows, such that it has this coverage for rows that the models were not
        trained on (conformalized quantile regression; Romano et al., 2019). So its width depends on
        the row. Available with ``out_of_fold=True``.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        coverage : float, default=0.9
            Fraction of new rows whose interval contains their target, if they are drawn like the
            training rows. All rows count alike, whatever their weight.

        Returns
        -------
        (m, 2) array of float64
            Lower and upper ends; infinite if there are too few training rows for this coverage.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import QuantileSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 1, (2000, 1))
        >>> y = X[:, 0] * rng.standard_normal(2000)
        >>> model = QuantileSVR(C=10, quantile=[0.05, 0.95], out_of_fold=True, random_state=0)
        >>> intervals = model.fit(X, y).predict_interval([[0.1], [0.9]])
        >>> (intervals[:, 1] - intervals[:, 0]).round()
        array([0., 3.])
        """
        widening = self._nonconformity_quantile(coverage)
        low, high = self._ends(self.predict(X))
        middle = (low + high) / 2  # where the ends meet if they would cross
        ends = np.minimum(low - widening, middle), np.maximum(high + widening, middle)
        return np.stack(ends, axis=1)

    def _check_saved(self) -> None:
        super()._check_saved()
        several = type(self.quantile_) is tuple
        quantiles: Any = self.quantile_ if several else (self.quantile_,)
        valid = all(type(q) is float and follows(q, [FRACTION]) for q in quantiles)
        require(valid, "quantile_ is invalid")

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        require(len(as_tuple(self.quantile_)) == n_columns, "quantile_ is invalid")


def fitted_quantile(quantile: Any) -> float | tuple[float, ...]:
    """Convert the parameter `quantile` to what a fitted model keeps."""
    quantiles = as_tuple(quantile)
    return quantiles if np.ndim(quantile) else quantiles[0]


def as_tuple(quantile: Any) -> tuple[float, ...]:
    """Return one or several quantiles as a tuple."""
    return tuple(map(float, np.atleast_1d(quantile)))
