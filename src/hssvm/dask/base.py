"""The base class of the estimators on Dask."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from distributed import Client, get_client
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from hssvm._display import Text
from hssvm.dask.certify import certify
from hssvm.dask.compression import nested_nystroem
from hssvm.dask.fit import fit
from hssvm.dask.model import DistributedModel, PartsModel
from hssvm.dask.partitions import feature_names
from hssvm.dask.plan import Layout
from hssvm.dask.train import HeldOut
from hssvm.estimators.base import BaseKernelSVM
from hssvm.estimators.configured import ConfiguredSVM
from hssvm.estimators.inputs.kernel import radial_type, resolve_gamma
from hssvm.estimators.inputs.parameters import (
    INSTEAD,
    NONE,
    check_parameter,
    integer,
)
from hssvm.estimators.inputs.points import require_rows_of_numbers
from hssvm.estimators.models.fitted import require_one_model, set_fitted, warn_unconverged
from hssvm.estimators.models.importances import FeatureImportancesMixin
from hssvm.estimators.monitoring.callbacks import logging_to_stderr
from hssvm.kernels import Kernel
from hssvm.solvers import Status
from hssvm.training import Task
from hssvm.training.certificate import Certificate

DASK_INSTEAD = {
    "n_jobs": "leave it out, a fit uses all workers of the cluster",
    "cache_size": "leave it out, the memory of the workers is a setting of the cluster",
}
"""Alternatives to parameters of `sklearn.svm`, where a cluster differs from one machine."""


class BaseDaskSVM(FeatureImportancesMixin, ConfiguredSVM):
    """Base class of the estimators on Dask.

    A subclass has parameters of its local counterpart; it creates the task, and interprets the
    decision values.
    """

    _instead: ClassVar[Mapping[str, str]] = INSTEAD | DASK_INSTEAD

    _local: ClassVar[type[BaseKernelSVM]]
    """The counterpart on one machine."""

    _task_name: ClassVar[str]
    """Name of the task in the report."""

    client: Client | None

    def __sklearn_clone__(self) -> Any:
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(**{k: clone(v, safe=False) for k, v in parameters.items()}, client=client)

    def __getstate__(self) -> Any:
        if "_model" in self.__dict__:
            raise TypeError(
                "a model on a cluster cannot be pickled, as its parts are on the workers; pickle "
                "or save the result of to_local"
            )
        return {**super().__getstate__(), "client": None}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _fitted_task(self, layout: Layout) -> Task:
        """Return the task of the fitted model."""
        raise NotImplementedError

    def _client(self) -> Client:
        try:
            client = get_client() if self.client is None else self.client
        except ValueError:
            raise ValueError(
                "there is no Dask client; create one first with Client(address), or pass client="
            ) from None
        if client.asynchronous:
            raise ValueError(
                "the Dask client is asynchronous; create one without asynchronous=True"
            )
        return client

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        task_of: Callable[[Layout], Task],
        gamma: float | str,
        *,
        classify: bool,
    ) -> HeldOut | None:
        """Train, and return the out-of-fold decision values, if there are any."""
        self._check_parameters()
        require_rows_of_numbers(self.kernel)
        config = self._config()
        if config.hss.compressor is not None:
            nested_nystroem(config.hss.compressor)
        deadline = None if self.max_time is None else time.monotonic() + self.max_time

        def describe(layout: Layout) -> tuple[Kernel, Task]:
            self.kernel_: Kernel = self._kernel_of(
                self.kernel,
                lambda: resolve_gamma(gamma, layout.n_features, lambda: layout.scale_gamma),
            )
            return self.kernel_, task_of(layout)

        def should_stop() -> Status | None:
            late = deadline is not None and time.monotonic() > deadline
            return Status.MAX_TIME if late else None

        with logging_to_stderr(self.verbose):
            model, report, held_out = fit(
                self._client(),
                (X, y, sample_weight),
                describe,
                config,
                scaling=self.scaling,
                radial=radial_type(self.kernel),
                classify=classify,
                should_stop=should_stop,
            )
        self._model: DistributedModel = model
        names = feature_names(X, y, sample_weight)
        if names is not None:
            self.feature_names_in_: NDArray[Any] = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        report.task, scales = self._task_name, model.layout.scales
        self._feature_scales = None if scales is None else scales.factors
        if scales is not None:
            report.add_scales(scales.n_rows, scales.n_steps, scales.errors)
        self.fit_report_ = report
        self.intercept_ = model.intercept
        self.n_iter_ = report.n_iter + report.n_steps
        self.n_features_in_ = model.layout.n_features
        warn_unconverged(report)
        return held_out

    def _certify(self, X: Any, y: Any, sample_weight: Any, n_rows: int | None) -> Certificate:
        check_is_fitted(self)
        check_parameter("n_rows", n_rows, [NONE, integer(4)])
        require_one_model(self.fit_report_)
        assert isinstance(self._model, PartsModel)
        self._check_names(X, y, sample_weight)
        task, data = self._fitted_task(self._model.layout), (X, y, sample_weight)
        return certify(self._model, task, data, n_rows, self._seed())

    def to_local(self) -> Any:
        """Gather the model in this process, as an estimator of `hssvm`.

        It makes the same predictions, and can be saved and loaded. Call this to keep the model
        after the cluster shuts down.

        Returns
        -------
        hssvm.SVC, hssvm.SVR or hssvm.OneClassSVM
        """
        check_is_fitted(self)
        local = self._local(**self._local_parameters())
        gathered, layout = self._model.gather(), self._model.layout
        set_fitted(
            local,
            support=gathered.support,
            exact=gathered.exact,
            intercept=self.intercept_.copy(),
            compressed=gathered.compressed,
            report=self.fit_report_,
        )
        local._set_scaling(layout.scaling, self._feature_scales)  # noqa: SLF001, of the same package
        local.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            local.feature_names_in_ = self.feature_names_in_
        self._finish_local(local, gathered.support_y)
        return local

    def _local_parameters(self) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        del parameters["client"]
        return parameters

    def _finish_local(self, local: Any, support_y: NDArray[Any] | None) -> None:
        """Set the attributes that are specific to a subclass."""

    def _values(self, X: Any) -> Any:
        check_is_fitted(self)
        self._check_names(X)
        return self._model.values(X)

    def _check_names(self, X: Any, *other: Any) -> None:
        names, fitted = feature_names(X, *other), getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and names != fitted.tolist():
            raise ValueError(
                f"the columns of X are {', '.join(names)}, but the model was trained on "
                f"{', '.join(fitted)}; pass these columns, in this order"
            )

    def summary(self) -> str:
        """Return `fit_report_`, the accuracy and cost of the fit, as text."""
        check_is_fitted(self)
        return Text(f"{self}\n{self.fit_report_.summary()}")
