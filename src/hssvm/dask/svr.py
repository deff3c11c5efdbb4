"""Support vector regression on Dask."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

import hssvm.estimators
from hssvm.dask.base import BaseDaskSVM
from hssvm.dask.partitions import Partition
from hssvm.dask.plan import Layout
from hssvm.kernels.base import Floats
from hssvm.training import Approximation, Regression
from hssvm.training.certificate import Certificate


class SVR(RegressorMixin, BaseDaskSVM):
    """Epsilon-support vector regression on the workers of a Dask cluster.

    Like `hssvm.SVR`, for data that does not fit on one machine; see `hssvm.dask.SVC`.

    Parameters
    ----------
    C, epsilon, kernel, degree, gamma, coef0, tol, solver, max_iter, max_time, refine, \
scaling, approximation, random_state, verbose
        As in `hssvm.SVR`; a callable kernel must be importable on the workers.
    client : distributed.Client, default=None
        None means the current client.

    Attributes
    ----------
    intercept_ : (1,) array
    n_iter_ : (1,) array
        ADMM iterations plus steps on the exact kernel, at most `max_iter`; see `hssvm.SVC`.
    feature_importances_ : (p,) array
        As in `hssvm.SVC`; the scales are learned from a sample of all rows, on one worker.
    fit_report_ : FitReport
    n_features_in_ : int

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from hssvm.dask import SVR
    >>> client = Client(processes=False, n_workers=2, dashboard_address=":0")
    >>> rng = da.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (8000, 1), chunks=(2000, 1))
    >>> y = da.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(8000, chunks=2000)
    >>> model = SVR(C=10, random_state=0).fit(X, y)
    >>> bool(abs(model.predict(X) - da.sin(2 * X[:, 0])).mean().compute() < 0.05)
    True
    >>> client.close()
    """

    _task_name = "regression"
    _local: ClassVar[type[hssvm.estimators.SVR]] = hssvm.estimators.SVR

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float | None = None,
        solver: Literal["admm", "paper"] = "admm",
        max_iter: int | None = None,
        max_time: float | None = None,
        refine: bool | Literal["auto"] = "auto",
        scaling: Literal["standard", "minmax", "quantiles", "learned", "learned-quantiles"]
        | None = None,
        approximation: Approximation | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Client | None = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVR:
        """Train on `X` and `y`.

        Parameters
        ----------
        X, y, sample_weight
            As in `hssvm.dask.SVC.fit`.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, self._fitted_task, self.gamma, classify=False)
        return self

    def _fitted_task(self, layout: Layout) -> Regression:
        if not layout.has_y:
            raise ValueError("y is missing; pass the target values to train SVR")
        return Regression(self.C, self.epsilon)

    def certify(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the duality gap on the exact kernel; see `hssvm.SVR.certify`.

        Every worker evaluates partitions of the data, for which it receives all support vectors.

        Parameters
        ----------
        X, y, sample_weight
            The training data, in the same order.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        return self._certify(X, y, sample_weight, n_rows)

    def predict(self, X: Any) -> Any:
        """Predict the target of every row of `X`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (m,) array
            A lazy dask array, or a NumPy array if the rows are in the memory of the driver.
        """
        return self._values(X)[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Coefficient of determination, R squared.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        self._check_names(X, y, sample_weight)
        total, sum_y, sum_y2, squares = self._model.measure(_squares, X, y, sample_weight)
        return float(1 - squares / (sum_y2 - sum_y**2 / total))


def _squares(values: Floats, partition: Partition) -> NDArray[np.float64]:
    """Weighted sums of 1, y, y squared and the squared errors."""
    assert partition.y is not None
    weight = np.ones(values.shape[0]) if partition.weight is None else partition.weight
    y = partition.y.astype(np.float64)
    return np.array([weight.sum(), weight @ y, weight @ y**2, weight @ (y - values[:, 0]) ** 2])
