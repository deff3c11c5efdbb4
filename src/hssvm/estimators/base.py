"""The base class of the estimators: validation, training, fitted attributes, prediction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    check_X_y,
)

from hssvm._display import Text
from hssvm._threads import serial_blas
from hssvm.estimators.configured import ConfiguredSVM
from hssvm.estimators.inputs.kernel import gamma_of_rows
from hssvm.estimators.inputs.parameters import (
    NONE,
    RULES,
    InvalidParameterError,
    as_scalar,
    check_parameter,
    integer,
)
from hssvm.estimators.inputs.points import bind_points, indexed_kernel, predict_points
from hssvm.estimators.inputs.validation import FLOATS, require_complete_target, validate_rows
from hssvm.estimators.models.export import ExportableEstimator
from hssvm.estimators.models.fitted import set_fitted, warn_unconverged
from hssvm.estimators.models.libsvm import LibsvmEstimator
from hssvm.estimators.models.linear import LinearWeightsMixin
from hssvm.estimators.models.reduction import ReducibleEstimator
from hssvm.estimators.models.saving import name_of
from hssvm.estimators.monitoring.callbacks import (
    CallbackSupportMixin,
    FitMonitor,
    logging_to_stderr,
)
from hssvm.estimators.monitoring.warn import warn
from hssvm.kernels import Kernel, Precomputed
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.indexed import IndexedKernel
from hssvm.persistence.archive import has_form, require
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor
from hssvm.predictors.base import is_plain
from hssvm.progress import listening
from hssvm.training import (
    FitReport,
    Task,
    TrainingConfig,
    TrainingPlan,
    TrainingResult,
    plan_task,
    train,
)
from hssvm.training.certificate import Certificate, certify
from hssvm.training.config import EXACT_ROWS
from hssvm.training.cost import CostEstimate, estimate_cost
from hssvm.training.data.scaling import Scaling, require_moderate
from hssvm.training.warm_start import LastFit

NO_OUT_OF_FOLD = (
    "The fit was stopped before the models that leave out a fold were trained: there are no "
    "probabilities, prediction sets, intervals or out-of-fold values; raise max_time."
)


def require_same_kernel(config: TrainingConfig, *, exact: bool) -> None:
    """Raise an error if out-of-fold values and predictions would have different kernels."""
    exact_prediction = config.exact_prediction or not config.extends_to_new_points
    if config.held_out and exact_prediction and not exact:
        raise InvalidParameterError(
            "probability and out_of_fold use the decision values of the compressed kernel, but the "
            "model would predict with the exact one; set refine=True, or prediction='auto' and "
            "compressor=None"
        )


class FitInput(NamedTuple):
    """The validated input of a fit.

    Attributes
    ----------
    X : (n, p) array or CSR matrix
        Rows, or indices of `points`.
    y : (n,) array or None
        Targets, or indices of classes.
    weight : (n,)
    points : IndexedKernel or None
        The kernel with its points, if these are not rows of numbers.
    """

    X: Rows
    y: Any
    weight: Floats
    points: IndexedKernel | None


class BaseKernelSVM(
    LinearWeightsMixin,
    CallbackSupportMixin,
    LibsvmEstimator,
    ExportableEstimator,
    ReducibleEstimator,
    ConfiguredSVM,
):
    """Base class of the estimators on one machine."""

    _saved: ClassVar[tuple[str, ...]] = ("feature_shift_", "feature_factor_")

    dual_coef_: Floats
    fit_report_: FitReport
    kernel_: Kernel
    support_: NDArray[np.int64]
    support_vectors_: Rows

    _out_of_fold: Floats | None

    _task_name: ClassVar[str]
    """Name of the task in the report."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(indexed_kernel(self.kernel), Precomputed)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_report_")

    @contextmanager
    def _fitting(self, X: Any, y: Any, sample_weight: Any) -> Iterator[FitMonitor]:
        """Check the parameters, and monitor a fit; a failed fit leaves the model unchanged."""
        self._check_parameters()
        before = dict(self.__dict__)
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        monitor = FitMonitor(self, self.max_time, X=X, y=y, metadata=metadata)
        try:
            with serial_blas(), logging_to_stderr(self.verbose), listening(monitor.listen), monitor:
                yield monitor
        except BaseException:
            self.__dict__ = before
            raise

    def _check_input(
        self, X: Any, y: Any = "no_validation", sample_weight: Any = None, **options: Any
    ) -> FitInput:
        """Validate the rows, the weights, and y if given, of a fit."""
        points = bind_points(self.kernel, X, self.scaling)
        data = self._validate(X, y, points, FLOATS, **options)
        rows, targets = data if isinstance(data, tuple) else (data, None)
        if points is None and self.scaling != "minmax":
            require_moderate(rows)
        self.target_name_, self.data_checksum_ = name_of(y), None
        return FitInput(rows, targets, self._check_weight(sample_weight, rows), points)

    def _validate(
        self,
        X: Any,
        y: Any,
        points: IndexedKernel | None,
        dtype: Any,
        *,
        reset: bool = True,
        **options: Any,
    ) -> Any:
        """Return the rows for the training functions, and y if given; see `bind_points`."""
        if not isinstance(y, str):
            require_complete_target(y, numeric=options.get("y_numeric", False))
        options |= {"accept_sparse": "csr", "dtype": dtype, "order": "C"}
        if points is None:
            return validate_rows(self, X, y, reset=reset, **options)
        rows = points.points()
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)  # set by an earlier fit
            if isinstance(points, Precomputed):
                self.n_features_in_ = rows.shape[0]
        return check_array(rows, **options) if isinstance(y, str) else check_X_y(rows, y, **options)

    def _scale(self, X: Rows, kind: str | None) -> Rows:
        """Compute the scaling of rows, and apply it."""
        scaling = Scaling.of(X, kind)
        self.feature_shift_, self.feature_factor_ = scaling.shift, scaling.factor
        return scaling(X)

    @property
    def _scaling(self) -> Scaling:
        return Scaling(self.feature_shift_, self.feature_factor_)

    def _check_weight(self, sample_weight: Any, X: Rows) -> Floats:
        if sample_weight is None:
            return np.ones(X.shape[0])
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.any():  # scikit-learn checks this since 1.8
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return weight

    def _make_kernel(self, X: Rows, data: FitInput) -> Kernel:
        """Return the kernel of scaled rows."""
        if data.points is not None:
            return data.points
        return self._kernel_with(lambda: gamma_of_rows(self.gamma, X, data.weight))

    def _new_report(self) -> FitReport:
        return FitReport(task=self._task_name)

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> FitInput:
        """Return the validated input of a fit."""
        raise NotImplementedError

    def _fit_task(self, data: FitInput) -> Task:
        """Return the task of a fit."""
        raise NotImplementedError

    def _train(self, task: Task, data: FitInput, monitor: FitMonitor) -> TrainingResult:
        """Train on validated data, and set the fitted attributes."""
        X, config, last = self._scale(data.X, self.scaling), self._config(), self._last_fit()
        if last is not None and as_scalar(self.random_state) is None:
            config = replace(config, seed=last.seed)  # else a forest could not grow
        kernel = self._make_kernel(X, data)
        kernel.check_rows(X)
        plan, problem = plan_task(config, task, X, data.y, data.weight, kernel)
        require_same_kernel(config, exact=plan.exact)
        result = train(problem, kernel, X, plan, self._new_report(), monitor, last)
        self._store(result, plan)
        return result

    def _last_fit(self) -> LastFit | None:
        """Return the last fit for a warm start; None if there is none."""
        if not (self.warm_start and hasattr(self, "support_") and hasattr(self, "dual_coef_")):
            return None
        return LastFit(
            self.fit_report_,
            self.support_,
            self.dual_coef_.T,
            self._compressed,
            getattr(self, "_out_of_fold", None),
            self._fingerprint,
            self._forest_seed,
        )

    def _store(self, result: TrainingResult, plan: TrainingPlan) -> None:
        """Set the fitted attributes; warn about what has not converged or is missing."""
        set_fitted(
            self,
            support=result.support,
            exact=result.exact,
            intercept=result.intercept,
            compressed=result.compressed,
            report=result.report,
        )
        if isinstance(self.kernel_, IndexedKernel):
            self._forget_points(self.kernel_)
        self._fingerprint, self._forest_seed = result.fingerprint, plan.seed
        self._out_of_fold = result.out_of_fold
        self.__dict__.pop("out_of_fold_decision_", None)  # set by an earlier fit
        warn_unconverged(result.report)
        if plan.n_folds and result.out_of_fold is None:
            warn(NO_OUT_OF_FOLD, ConvergenceWarning)

    def _forget_points(self, kernel: IndexedKernel) -> None:
        """Keep only the parts of the kernel that predictions need."""
        self.kernel_, self.fit_report_.n_features = kernel.without_points(), 0
        for predictor in (self._exact, self._compressed):
            if predictor is not None:
                predictor.kernel = self.kernel_

    def _estimate_cost(self, X: Any, y: Any = None) -> CostEstimate:
        """Validate the data of a fit, which sets attributes of a clone, and estimate the cost."""
        return clone(self)._estimate_own_cost(X, y)  # noqa: SLF001, of the same class

    def _estimate_own_cost(self, X: Any, y: Any) -> CostEstimate:
        self._check_parameters()
        data = self._check_fit(X, y, None)
        X = Scaling.of(data.X, self.scaling)(data.X)
        kernel = self._make_kernel(X, data)
        with serial_blas():
            return estimate_cost(self._fit_task(data), X, data.y, kernel, self._config())

    def _decision_values(self, X: Any) -> Floats:
        """Decision values of all columns at new rows, (m, k)."""
        values = self._values_without_intercept(X)
        return values + self.intercept_.astype(values.dtype)

    def _values_without_intercept(self, X: Any) -> Floats:
        check_is_fitted(self)
        predictor = self._predictor()
        if isinstance(self.kernel_, IndexedKernel):
            return predict_points(predictor, self.kernel_, X)
        dtype = predictor.X.dtype
        if not self._needs_no_validation(X, dtype):
            X = validate_rows(self, X, accept_sparse="csr", dtype=dtype, order="C", reset=False)
        X = self._scaling(X)
        self.kernel_.check_rows(X)
        return predictor(X)

    def _needs_no_validation(self, X: Any, dtype: np.dtype[Any]) -> bool:
        """Whether `X` is clearly valid; for few rows, validation would take most of the time."""
        return bool(
            is_plain(X, dtype)
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and np.isfinite(X).all()
        )

    def _predictor(self) -> LeafwisePredictor | ExpansionPredictor:
        check_parameter("prediction", self.prediction, RULES["prediction"])
        if self.prediction == "exact" or (self.prediction == "auto" and self._compressed is None):
            if self._compressed is not None and len(self._compressed.trees) > 1:
                raise ValueError(
                    "prediction='exact' is not available for a forest, whose mean coefficients "
                    "predict worse; set prediction='auto', or fit with n_trees=1 or refine=True"
                )
            return self._require_exact("prediction='exact'")
        if self._compressed is None and self.fit_report_.n_rows <= max(
            EXACT_ROWS, self.leaf_size or 0
        ):
            return self._require_exact("prediction='compressed'")  # nothing is compressed
        if self._compressed is None:
            raise ValueError(
                "Compressed prediction is unavailable: the model was refined, its compressor is "
                "not a projection, or it was saved with prediction='exact'; fit with refine=False "
                "and compressor=None"
            )
        return self._compressed

    def _check_certified(self, X: Any, y: Any = "no_validation") -> tuple[Any, Kernel]:
        """Validate the training rows, and targets if given, and return them with their kernel."""
        check_is_fitted(self)
        self._require_exact("certify")
        if not hasattr(self, "support_"):
            raise ValueError(
                "certify needs the solution of a fit, which models from LIBSVM files and reduced "
                "models are not; train with hssvm, or certify the model that was reduced"
            )
        points = bind_points(self.kernel, X, self.scaling)
        data = self._validate(X, y, points, self.dual_coef_.dtype, reset=False)
        rows = data[0] if isinstance(data, tuple) else data
        if self.support_.max(initial=-1) >= rows.shape[0]:
            raise ValueError(
                "X has fewer rows than the training data; pass the rows that the model was trained "
                "on to certify"
            )
        if points is None and not self._has_training_order(rows):
            raise ValueError(
                "the rows of X are not the training data, or are in another order; pass X as the "
                "model was trained on it to certify"
            )
        return data, points or self.kernel_

    def _has_training_order(self, X: Rows) -> bool:
        """Tell whether support vectors, at most 100 of them, are where they were in training."""
        n = self.support_.size
        some = np.linspace(0, n - 1, min(n, 100), dtype=np.int64)
        expected = self.support_vectors_[some]
        difference = abs(self._scaling(X[self.support_[some]]) - expected)
        return n == 0 or bool(difference.max() <= 1e-4 * abs(expected).max())

    def _certify(
        self,
        task: Task,
        kernel: Kernel,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        n_rows: int | None,
    ) -> Certificate:
        """Evaluate the model on the rows it was trained on, in float64."""
        check_parameter("n_rows", n_rows, [NONE, integer(4)])
        rows = self._scaling(X).astype(np.float64)
        pairs = self._require_exact("certify").counts is not None
        problem = task.problem(rows, y, weight, kernel, exact=pairs)
        Z = np.zeros((problem.n, problem.k))
        Z[self.support_] = self.dual_coef_.T
        return certify(problem, kernel, rows, Z, self.intercept_, n_rows, self._seed())

    def summary(self) -> str:
        """Return `fit_report_`, the accuracy and cost of the fit, as text."""
        check_is_fitted(self)
        return Text(f"{self}\n{self.fit_report_.summary()}")

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        for name in ("feature_shift_", "feature_factor_"):
            value = getattr(self, name)
            fits = value is None or (
                has_form(value, np.float64, (self.n_features_in_,)) and np.isfinite(value).all()
            )
            require(fits, f"{name} is invalid")
