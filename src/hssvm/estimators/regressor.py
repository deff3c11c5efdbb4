"""The base classes of the regressions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hssvm.estimators.available import available_after
from hssvm.estimators.base import BaseKernelSVM, FitInput
from hssvm.estimators.calibration import (
    COVERAGE,
    conformal_quantile,
    kept_scores,
    require_ascending,
)
from hssvm.estimators.inputs.parameters import check_parameter
from hssvm.estimators.models.background import target_strata
from hssvm.estimators.monitoring.callbacks import FitMonitor, with_callbacks
from hssvm.kernels.base import Floats
from hssvm.training import FitReport, Regression, TrainingResult
from hssvm.training.certificate import Certificate
from hssvm.training.reports.estimate import CostEstimate


def _require_intervals(model: Any) -> None:
    if not model._has_intervals:  # noqa: SLF001, of this class
        raise AttributeError(
            f"{type(model).__name__} has no predict_interval, as the errors of predictions are "
            "unknown if targets are censored"
        )


class Regressor(RegressorMixin, BaseKernelSVM):
    """Base class with the targets, predictions and intervals of regressions."""

    _saved: ClassVar[tuple[str, ...]] = ("nonconformity_scores_",)
    _task_name = "regression"

    _several_targets: ClassVar[bool] = False
    """Whether y may have several columns."""

    _has_intervals: ClassVar[bool] = True
    """Whether the errors of predictions are known, of which intervals are made."""

    nonconformity_scores_: NDArray[np.float64] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several_targets
        return tags

    def _fitted_task(self) -> Regression:
        """Return the task of the fitted model."""
        raise NotImplementedError

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> FitInput:
        """Return the validated input."""
        options = {"y_numeric": True, "multi_output": self._several_targets}
        data = self._check_input(X, y, sample_weight, **options)
        if self._several_targets:
            data = data._replace(y=_without_single_column(data.y))
        if self.out_of_fold and len(data.y) == 1:
            raise ValueError("out_of_fold=True needs at least two rows")
        return data

    def _strata(self, data: FitInput) -> NDArray[np.int64]:
        return target_strata(data.y if data.y.ndim == 1 else data.y[:, 0])

    def _finish(
        self,
        result: TrainingResult,
        task: Regression,
        data: FitInput,
        monitor: FitMonitor,
    ) -> None:
        """Undo the centering of y, and check the number of coefficients at a bound."""
        self.intercept_ = self.intercept_ + task.center
        predicted = self._out_of_fold_outputs(result, task)
        self._use_out_of_fold(predicted, data, result.report, result.seed)
        if result.first_Z is not None:
            problem = result.problem.part(0).problem
            for advice in task.advice(data.y, problem, result.first_Z):
                monitor.advise(advice, result.report)

    def _out_of_fold_outputs(self, result: TrainingResult, task: Regression) -> Floats | None:
        """Predictions from models without the rows, as `predict` returns them."""
        values = result.out_of_fold
        return None if values is None else self._predictions(values + task.center)

    def _use_out_of_fold(
        self, predicted: Floats | None, data: FitInput, report: FitReport, seed: int
    ) -> None:
        """Set what follows from predictions by models that have not seen the rows."""
        self.nonconformity_scores_ = None
        y, weight = data.y, data.weight
        if predicted is None or len(y) < 2:
            return
        report.out_of_fold_score = self._score(y, predicted, weight)
        if self.out_of_fold:
            self.out_of_fold_decision_ = predicted
            if y.ndim == 1:
                scores = self._nonconformity(y, predicted)[weight > 0]
                self.nonconformity_scores_ = kept_scores(scores, seed)

    def _predictions(self, values: Floats) -> Floats:
        """What `predict` returns, given the values of all columns."""
        return values[:, 0] if values.shape[1] == 1 else values

    def _score(self, y: Floats, predicted: Floats, weight: Floats) -> float:
        """What `score` returns."""
        return float(r2_score(y, predicted, sample_weight=weight))

    def _nonconformity(self, y: Floats, predicted: Floats) -> Floats:
        """How far the targets are from the predictions, (n,)."""
        return np.abs(y - predicted)

    def predict(self, X: Any) -> Floats:
        """Predict the target of every row of `X`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array of float64, or (m, t) for several targets
        """
        return self._predictions(self._decision_values(X))

    def _decision_values(self, X: Any) -> Floats:
        # in float64, as an intercept far from 0 would lose digits in float32
        return self._values_without_intercept(X) + self.intercept_

    def _outputs(self, X: Any) -> Floats:
        return self._decision_values(X)

    @available_after(_require_intervals)
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Intervals that contain the target with a given probability.

        These are conformal prediction intervals: their half-width is a quantile of the errors of
        models that were not trained on the rows that they predict. It is the same for all rows.
        Available with ``out_of_fold=True``.

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
        >>> from hssvm import SVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (2000, 1))
        >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(2000)
        >>> model = SVR(C=10, out_of_fold=True, random_state=0).fit(X, y)
        >>> model.predict_interval([[0.0]]).round(1)
        array([[-0.2,  0.2]])
        """
        half_width = self._nonconformity_quantile(coverage)
        return self.predict(X)[:, None] + np.array([-half_width, half_width])

    def _nonconformity_quantile(self, coverage: float) -> float:
        """The score that a new row does not exceed with probability `coverage`."""
        check_is_fitted(self)
        check_parameter("coverage", coverage, COVERAGE)
        if self._several_targets and self.intercept_.size > 1:
            raise ValueError(
                "predict_interval is for one target, and the model predicts "
                f"{self.intercept_.size}; fit a model for each of them"
            )
        if self.nonconformity_scores_ is None:
            raise ValueError(
                "predict_interval needs the errors of models that have not seen the rows; set "
                "out_of_fold=True and fit again, with more max_time if that is set"
            )
        return conformal_quantile(self.nonconformity_scores_, coverage)

    def _check_saved(self) -> None:
        super()._check_saved()
        require_ascending(self.nonconformity_scores_)

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the objective values and duality gap on the exact kernel; see `SVC.certify`.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        (X, y), kernel = self._check_certified(X, y, multi_output=self._several_targets)
        weight = self._check_weight(sample_weight, X)
        task = self._fitted_task()
        return self._certify(task, kernel, X, y, weight, n_rows, task.center)


def _without_single_column(y: Floats) -> Floats:
    """Return the only column of targets, if there is only one."""
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


class TrainableRegressor(Regressor):
    """Base class of the regressions that are trained with given parameters."""

    @property
    def _output_names(self) -> list[str] | None:
        n_targets = self.intercept_.size
        return [f"target {j}" for j in range(n_targets)] if n_targets > 1 else None

    def _fit_task(self, data: FitInput) -> Regression:
        raise NotImplementedError

    def estimate_cost(self, X: Any, y: Any) -> CostEstimate:
        """Estimate the time and memory of a fit, from fits on two small samples.

        Parameters
        ----------
        X, y
            The training data.

        Returns
        -------
        CostEstimate

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVR
        >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
        >>> estimate = SVR(refine=False).estimate_cost(X, X[:, 0])
        >>> estimate.n_rows, estimate.memory < 1e9, estimate.advice
        (20000, True, ['No problem expected.'])
        """
        return self._estimate_cost(X, y)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
            float32 is not converted, and needs half the memory and time of float64.
        y : (n,) array-like
            For `SVR` and `KernelRidge` also (n, t), several targets, which are trained together.
            For `CensoredSVR` also (n, 2), the low and the high end of each target: equal if it is
            known, the high one infinite if it is censored on the right; or a structured array of
            events and times, as ``sksurv.util.Surv.from_arrays(event, time)`` returns.
        sample_weight : (n,) array-like, optional
            Factors on C by row, or divisors of the ridge and of the noise.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)
