"""Novelty detection on Dask."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

import hssvm.estimators
from hssvm.dask.base import BaseDaskSVM
from hssvm.dask.plan import Layout
from hssvm.training import HSS, NoveltyDetection
from hssvm.training.certificate import Certificate
from hssvm.training.tasks import raised_intercept


class OneClassSVM(OutlierMixin, BaseDaskSVM):
    """One-class support vector machine on the workers of a Dask cluster.

    Like `hssvm.OneClassSVM`, for data that does not fit on one machine; see `hssvm.dask.SVC`.

    Parameters
    ----------
    nu, kernel, degree, gamma, coef0, tol, solver, max_iter, max_time, refine, \
scaling, approximation, random_state, verbose
        As in `hssvm.OneClassSVM`; a callable kernel must be importable on the workers.
    client : distributed.Client, default=None
        None means the current client.

    Attributes
    ----------
    intercept_, offset_ : (1,) array
    n_iter_ : (1,) array
        ADMM iterations plus steps on the exact kernel, at most `max_iter`; see `hssvm.SVC`.
    fit_report_ : FitReport
    n_features_in_ : int

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from hssvm.dask import OneClassSVM
    >>> client = Client(processes=False, n_workers=2, dashboard_address=":0")
    >>> X = da.random.default_rng(0).standard_normal((8000, 2), chunks=(2000, 2))
    >>> model = OneClassSVM(nu=0.1, random_state=0).fit(X)
    >>> model.predict(np.array([[0.0, 0.0], [5.0, 5.0]]))
    array([ 1, -1])
    >>> client.close()
    """

    _has_target = False
    _task_name = "novelty detection"
    _has_target = False
    _local: ClassVar[type[hssvm.estimators.OneClassSVM]] = hssvm.estimators.OneClassSVM

    _averages = False  # each model has its own threshold

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float | None = None,
        solver: Literal["admm", "paper"] = "admm",
        max_iter: int | None = None,
        max_time: float | None = None,
        refine: bool | Literal["auto"] = "auto",
        scaling: Literal["standard", "minmax", "quantiles"] | None = None,
        approximation: HSS | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Client | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.max_time = max_time
        self.refine = refine
        self.scaling = scaling
        self.approximation = approximation
        self.random_state = random_state
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Train on `X`.

        Parameters
        ----------
        X, sample_weight
            As in `hssvm.dask.SVC.fit`.
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X, None, sample_weight, self._fitted_task, self.gamma, classify=False)
        dtype = self._model.layout.dtype
        self.intercept_ = self._model.intercept = raised_intercept(self.intercept_, dtype)
        self.offset_ = -self.intercept_
        return self

    def _fitted_task(self, layout: Layout) -> NoveltyDetection:
        return NoveltyDetection(self.nu)

    def _finish_local(self, local: Any, support_y: NDArray[Any] | None) -> None:
        local.offset_ = self.offset_

    def decision_function(self, X: Any) -> Any:
        """Signed distance to the boundary, positive inside.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (m,) array
            A lazy dask array, or a NumPy array if the rows are in the memory of the driver.
        """
        return self._values(X)[:, 0]

    def score_samples(self, X: Any) -> Any:
        """Decision values without the offset; see `decision_function`."""
        values = self.decision_function(X)
        return values + self.offset_.astype(values.dtype)

    def certify(
        self, X: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the duality gap on the exact kernel; see `hssvm.OneClassSVM.certify`.

        Every worker evaluates partitions of the data, for which it receives all support vectors.

        Parameters
        ----------
        X, sample_weight
            The training data, in the same order.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        return self._certify(X, None, sample_weight, n_rows)

    def predict(self, X: Any) -> Any:
        """Predict 1 for rows inside the region, and -1 for novelties; see `decision_function`."""
        inside = self.decision_function(X) >= 0
        return 2 * inside.astype(np.int64) - 1
