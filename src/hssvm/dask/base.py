"""What the estimators on Dask share."""

from __future__ import annotations

import time
import warnings
from typing import Any, ClassVar

import numpy as np
from distributed import Client, get_client
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from hssvm.dask.build import Recipe
from hssvm.dask.columns import Columns
from hssvm.dask.fit import fit
from hssvm.dask.model import DistributedModel
from hssvm.dask.pieces import feature_names
from hssvm.dask.plan import Layout
from hssvm.estimators.base import RANK, SILENT, KernelMachine, resolve_gamma
from hssvm.estimators.callbacks import logging_to_stderr
from hssvm.hss import NestedNystroem
from hssvm.solvers import Status


class DaskMachine(BaseEstimator):
    """Base of the estimators on Dask.

    A subclass has the parameters of its local counterpart, but for those of refinement; it makes
    the columns of its problem, and says what decision values mean.
    """

    _local: ClassVar[type[KernelMachine]]
    """The estimator that this is on one machine."""

    client: Client | None

    def __sklearn_clone__(self) -> Any:
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(**{k: clone(v, safe=False) for k, v in parameters.items()}, client=client)

    def __getstate__(self) -> Any:
        if "_model" in self.__dict__:
            raise TypeError(
                "a model on a cluster cannot be pickled: its parts are on the workers; pickle or "
                "save what to_local returns"
            )
        return {**super().__getstate__(), "client": None}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _columns(self, layout: Layout) -> Columns:
        raise NotImplementedError

    def _client(self) -> Client:
        try:
            client = get_client() if self.client is None else self.client
        except ValueError:
            raise ValueError(
                "there is no Dask client; make one first, Client(address), or pass client="
            ) from None
        if client.asynchronous:
            raise ValueError("the Dask client is asynchronous; make one without asynchronous=True")
        return client

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, classify: bool) -> None:
        local = self._make_local()
        local._check_parameters()
        deadline = None if self.max_time is None else time.monotonic() + self.max_time
        seed = local._seed()

        def describe(layout: Layout) -> tuple[Recipe, Columns]:
            kernel = local._kernel_with(
                lambda: resolve_gamma(self.gamma, layout.n_features, lambda: layout.variance)
            )
            rank = RANK if self.max_rank is None else self.max_rank
            strategy = NestedNystroem(rtol=self.rtol, max_rank=rank, surplus=self.surplus)
            return Recipe(kernel, strategy, self.leaf_size, seed), self._columns(layout)

        def asked() -> Status | None:
            late = deadline is not None and time.monotonic() > deadline
            return Status.MAX_TIME if late else None

        with logging_to_stderr(self.verbose):
            model, report = fit(
                self._client(),
                (X, y, sample_weight),
                describe,
                scaling=self.scaling,
                classify=classify,
                tol=self.tol,
                max_iter=self.max_iter,
                beta=self.beta,
                seed=seed,
                asked=asked,
            )
        self._model: DistributedModel = model
        names = feature_names(X, y, sample_weight)
        if names is not None:
            self.feature_names_in_: NDArray[Any] = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        report.task = self._local._task
        self.fit_report_ = report
        self.intercept_ = model.intercept
        self.n_iter_ = report.n_iter
        self.n_features_in_ = model.layout.n_features
        for status in sorted(set(report.status) - set(SILENT)):
            warnings.warn(Status[status].value, ConvergenceWarning, stacklevel=3)

    def _make_local(self) -> Any:
        parameters = self.get_params(deep=False)
        del parameters["client"]
        return self._local(**parameters, refine=False)

    def to_local(self) -> Any:
        """Bring the model to this process, as an estimator of `hssvm`.

        It predicts as this one does, and is saved and loaded like any other.

        Returns
        -------
        hssvm.SVC, hssvm.SVR or hssvm.OneClassSVM
        """
        check_is_fitted(self)
        local, gathered, layout = self._make_local(), self._model.gather(), self._model.layout
        local.support_, local.support_vectors_ = gathered.support, gathered.support_vectors
        local.dual_coef_ = np.ascontiguousarray(gathered.dual_coef.T)
        local.intercept_, local.n_iter_ = self.intercept_.copy(), self.n_iter_
        local.kernel_, local._leafwise = gathered.predictor.kernel, gathered.predictor
        local.feature_shift_, local.feature_factor_ = layout.scaling.shift, layout.scaling.factor
        local.n_features_in_, local.fit_report_ = self.n_features_in_, self.fit_report_
        if hasattr(self, "feature_names_in_"):
            local.feature_names_in_ = self.feature_names_in_
        self._finish_local(local, gathered.support_y)
        return local

    def _finish_local(self, local: Any, support_y: NDArray[Any] | None) -> None:
        """Set what only this kind of estimator has."""

    def _values(self, X: Any) -> Any:
        check_is_fitted(self)
        self._check_names(X)
        return self._model.values(X)

    def _check_names(self, X: Any, *other: Any) -> None:
        names, fitted = feature_names(X, *other), getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and names != fitted.tolist():
            raise ValueError(
                f"the columns of X are {', '.join(names)}; the model was trained on "
                f"{', '.join(fitted)}, in this order"
            )

    def summary(self) -> str:
        """How exact the fit is and what it cost, as text; the figures are in `fit_report_`."""
        check_is_fitted(self)
        return f"{self}\n{self.fit_report_.summary()}"
