"""Novelty detection."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from hssvm.estimators.base import BaseKernelSVM, FitInput
from hssvm.estimators.monitoring.callbacks import with_callbacks
from hssvm.kernels.base import Floats
from hssvm.persistence.archive import require
from hssvm.training import HSS, NoveltyDetection
from hssvm.training.certificate import Certificate
from hssvm.training.reports.estimate import CostEstimate
from hssvm.training.tasks import raised_intercept


class OneClassSVM(OutlierMixin, BaseKernelSVM):
    """One-class support vector machine for large data sets.

    Like `sklearn.svm.OneClassSVM`, with the compression and refinement of `SVC`. The model finds a
    region that contains most of the rows; rows outside are novelties.

    Parameters
    ----------
    nu : float, default=0.5
        Maximum fraction of the training rows outside the region, above 0 and at most 1.
    kernel, degree, gamma, coef0, tol, solver, max_iter, refine, max_time, prediction, \
memory_limit, warm_start, random_state, verbose
        As in `SVC`.
    scaling : {'standard', 'minmax', 'quantiles'}, default=None
        As in `SVC`, without learned scales, which need targets.
    approximation : HSS, default=None
        As in `SVC`; None means `HSS`. `Cells` are not available: each of them would have its own
        threshold, and the same fraction of novelties.

    Attributes
    ----------
    support_ : (n_support,) array
        Indices of the support vectors.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (1, n_support) array
        Signed coefficients.
    coef_ : (1, p) array
        Weights of the features, for exact solutions with a linear kernel only.
    intercept_ : (1,) array
    offset_ : (1,) array
        ``score_samples`` on the boundary: minus the intercept.
    n_iter_ : (1,) array
        ADMM iterations plus steps on the exact kernel, at most `max_iter`; see `SVC`.
    kernel_ : Kernel
        The kernel with the parameters used in the fit.
    feature_shift_, feature_factor_, feature_quantiles_ : array or None
        The scaling, as in `SVC`.
    fit_report_ : FitReport
        Gap, status, compression error, ranks, memory and seconds; `summary` returns it as text.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import OneClassSVM
    >>> X = np.random.default_rng(0).standard_normal((5000, 2))
    >>> model = OneClassSVM(nu=0.1, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _task_name = "novelty detection"

    _averages = False  # each model has its own threshold
    _has_target = False

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
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        prediction: Literal["auto", "compressed", "exact"] = "auto",
        scaling: Literal["standard", "minmax", "quantiles"] | None = None,
        approximation: HSS | None = None,
        memory_limit: float | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.refine = refine
        self.max_time = max_time
        self.prediction = prediction
        self.scaling = scaling
        self.approximation = approximation
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    _saved = ("offset_",)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        require(np.array_equal(self.offset_, -self.intercept_), "offset_ is invalid")

    def estimate_cost(self, X: Any) -> CostEstimate:
        """Estimate the time and memory of a fit, from fits on two small samples.

        Parameters
        ----------
        X
            The training data.

        Returns
        -------
        CostEstimate

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import OneClassSVM
        >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
        >>> estimate = OneClassSVM(refine=False).estimate_cost(X)
        >>> estimate.n_rows, estimate.memory < 1e9, estimate.advice
        (20000, True, ['No problem expected.'])
        """
        return self._estimate_cost(X)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Train on `X`.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
            float32 is not converted, and needs half the memory and time of float64.
        y : ignored
        sample_weight : (n,) array-like, optional
            Weights of the rows.

        Returns
        -------
        self
        """
        with self._fitting(X, y, sample_weight) as monitor:
            data = self._check_fit(X, y, sample_weight)
            self._train(self._fit_task(data), data, monitor)
            self.intercept_ = raised_intercept(self.intercept_, data.X.dtype)
            self.offset_ = -self.intercept_
        return self

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> FitInput:
        return self._check_input(X, sample_weight=sample_weight)

    def _fit_task(self, data: FitInput) -> NoveltyDetection:
        return NoveltyDetection(self.nu)

    def decision_function(self, X: Any) -> Floats:
        """Signed distance to the boundary, positive inside.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array
        """
        return self._decision_values(X)[:, 0]

    def score_samples(self, X: Any) -> Floats:
        """Decision values without the offset; larger values are more typical of the training data.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array
        """
        values = self.decision_function(X)
        return values + self.offset_.astype(values.dtype)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Predict 1 for rows inside the region, and -1 for novelties.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def certify(
        self, X: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the objective values and duality gap on the exact kernel; see `SVC.certify`.

        Parameters
        ----------
        X, sample_weight
            The training data.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        X, kernel = self._check_certified(X)
        weight = self._check_weight(sample_weight, X)
        return self._certify(NoveltyDetection(self.nu), kernel, X, None, weight, n_rows)
