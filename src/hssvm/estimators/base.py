"""The base class of the estimators: validation, training, fitted attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hssvm._threads import serial_blas
from hssvm.estimators.inputs.frames import name_of
from hssvm.estimators.inputs.kernel import gamma_of_rows, radial_type
from hssvm.estimators.inputs.parameters import (
    InvalidParameterError,
    as_bytes,
    as_scalar,
)
from hssvm.estimators.inputs.points import bind_points
from hssvm.estimators.inputs.validation import FLOATS
from hssvm.estimators.models.background import choose_background
from hssvm.estimators.models.fitted import set_fitted, warn_unconverged
from hssvm.estimators.models.model import KernelModel
from hssvm.estimators.monitoring.callbacks import (
    CallbackSupportMixin,
    FitMonitor,
    logging_to_stderr,
)
from hssvm.estimators.monitoring.warn import warn
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.indexed import IndexedKernel
from hssvm.messages import Message, api
from hssvm.progress import listening
from hssvm.training import (
    FitReport,
    Monitor,
    Task,
    TrainingConfig,
    TrainingPlan,
    TrainingResult,
    plan_task,
    train,
)
from hssvm.training.cost import estimate_cost
from hssvm.training.data.scaling import Scaling, require_moderate
from hssvm.training.reports.estimate import CostEstimate
from hssvm.training.scales.learn import LearnedScales
from hssvm.training.scales.scaling import LEARNED, base_of, learned_scaling
from hssvm.training.warm_start import LastFit

NO_OUT_OF_FOLD = Message(
    "The fit was stopped before the models that leave out a fold were trained: there are no "
    f"probabilities, prediction sets, intervals or out-of-fold values; raise {api:max_time}."
)


def require_same_kernel(config: TrainingConfig, *, exact: bool) -> None:
    """Raise an error if out-of-fold values and predictions would have different kernels."""
    exact_prediction = config.exact_prediction or not config.hss.extends_to_new_points
    if config.held_out and exact_prediction and not exact:
        raise InvalidParameterError(
            "probability and out_of_fold use the decision values of the compressed kernel, but the "
            "model would predict with the exact one; set refine=True, or prediction='auto' and "
            "approximation=None"
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


class BaseKernelSVM(CallbackSupportMixin, KernelModel):
    """Base class of the estimators on one machine: a model that can be trained."""

    _out_of_fold: Floats | None

    _task_name: ClassVar[str]
    """Name of the task in the report."""

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

    def _scale(
        self,
        kernel: Any,
        kind: str | None,
        task: Task,
        data: FitInput,
        seed: int,
        report: FitReport,
        monitor: Monitor,
        *,
        beyond_chance: bool = True,
        scales: LearnedScales | None = None,
    ) -> Rows:
        """Compute the scaling of the rows of a fit, and apply it; see `learned_scaling`.

        Known `scales` are not learned again.
        """
        if kind not in LEARNED:
            return self._set_scaling(Scaling.of(data.X, kind), None)(data.X)
        radial = radial_type(kernel)
        assert radial is not None  # checked by _check_parameters
        base = Scaling.of(data.X, base_of(kind))
        if scales is not None:
            report.add_scales(scales.n_rows, scales.n_steps, scales.errors)
            return self._set_scaling(base.times(scales.factors), scales.factors)(data.X)
        scaling, scales = learned_scaling(
            base,
            data.X,
            lambda rows: task.targets(data.y[rows]),
            data.weight,
            radial,
            seed=seed,
            report=report,
            monitor=monitor,
            memory_limit=as_bytes(self.memory_limit),
            beyond_chance=beyond_chance,
        )
        return self._set_scaling(scaling, scales.factors)(data.X)

    def _set_scaling(self, scaling: Scaling, scales: NDArray[np.float64] | None) -> Scaling:
        """Set the scaling of the fitted model, with the learned scales if there are any."""
        self.feature_shift_, self.feature_factor_ = scaling.shift, scaling.factor
        self.feature_quantiles_ = scaling.quantiles
        self._feature_scales = scales
        return scaling

    def _make_kernel(self, X: Rows, data: FitInput) -> Kernel:
        """Return the kernel of scaled rows."""
        if data.points is not None:
            return data.points
        scale = partial(gamma_of_rows, self.kernel, self.gamma, X, data.weight)
        return self._kernel_of(self.kernel, scale)

    def _after_scaling(self, task: Any) -> Any:
        """Return the task with what has been learned together with the scaling."""
        return task

    def _new_report(self) -> FitReport:
        return FitReport(task=self._task_name)

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> FitInput:
        """Return the validated input of a fit."""
        raise NotImplementedError

    def _fit_task(self, data: FitInput) -> Task:
        """Return the task of a fit."""
        raise NotImplementedError

    def _finish(
        self, result: TrainingResult, task: Any, data: FitInput, monitor: FitMonitor
    ) -> None:
        """Set what a task adds to the fitted attributes."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check the input, train, and set the fitted attributes."""
        with self._fitting(X, y, sample_weight) as monitor:
            data = self._check_fit(X, y, sample_weight)
            task = self._fit_task(data)
            result = self._train(task, data, monitor)
            self._finish(result, task, data, monitor)
        return self

    def _train(self, task: Task, data: FitInput, monitor: FitMonitor) -> TrainingResult:
        """Train on validated data, and set the fitted attributes."""
        config, last, report = self._config(), self._last_fit(), self._new_report()
        if last is not None and as_scalar(self.random_state) is None:
            config = replace(config, seed=last.seed)  # else a forest could not grow
        family = self.kernel, self.scaling
        X = self._scale(*family, task, data, config.seed, report, monitor)
        kernel, task = self._make_kernel(X, data), self._after_scaling(task)
        kernel.check_rows(X)
        plan, problem = plan_task(config, task, X, data.y, data.weight, kernel, last)
        require_same_kernel(config, exact=plan.exact)
        result = train(problem, kernel, X, plan, report, monitor, last)
        self._store(result, plan)
        self._keep_background(data, config.seed)
        return result

    def _keep_background(self, data: FitInput, seed: int) -> None:
        """Keep the rows that explanations compare with, after the scaling has been set."""
        self.background_ = self.background_weight_ = None
        if data.points is None:
            rows, weight = choose_background(
                data.X, self._strata(data), data.weight, self._scaling, seed
            )
            self.background_, self.background_weight_ = rows, weight

    def _strata(self, data: FitInput) -> NDArray[np.int64]:
        """Groups of rows that the background represents in proportion, (n,)."""
        return np.zeros(data.X.shape[0], np.int64)

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
        self._fingerprint, self._forest_seed = result.fingerprint, result.seed
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
        task, config, report = self._fit_task(data), self._config(), FitReport()
        family = self.kernel, self.scaling
        X = self._scale(*family, task, data, config.seed, report, Monitor())
        kernel, task = self._make_kernel(X, data), self._after_scaling(task)
        with serial_blas():
            estimate = estimate_cost(task, X, data.y, kernel, config)
        return replace(estimate, seconds=report.seconds | estimate.seconds)
