"""Quantile regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hssvm.estimators.base import FitInput
from hssvm.estimators.monitoring.callbacks import FitMonitor
from hssvm.estimators.quantile_outputs import QuantileOutputs, as_tuple, fitted_quantile
from hssvm.estimators.regressor import TrainableRegressor
from hssvm.training import Approximation, QuantileRegression, Regression, TrainingResult


class QuantileSVR(QuantileOutputs, TrainableRegressor):
    """Support vector regression of quantiles, such as the median, for large data sets.

    Like `SVR`, but with the pinball loss (Takeuchi et al., 2006): predictions are the values that
    the target does not exceed with given probabilities. All quantiles are trained together, on the
    same kernel matrix. If their functions cross, the predictions for a row are sorted.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, in units of y; a smaller C gives a smoother function.
    quantile : float or sequence of float, default=0.5
        Between 0 and 1; the median by default.
    kernel, degree, gamma, coef0, tol, solver, max_iter, refine, max_time, prediction, scaling, \
approximation, out_of_fold, memory_limit, warm_start, random_state, verbose
        As in `SVC`.

    Attributes
    ----------
    quantile_ : float or tuple of float
    out_of_fold_decision_ : (n,) or (n, n_quantiles) array
        As in `SVC`: predictions for the training rows, with ``out_of_fold=True`` only.
    nonconformity_scores_ : (m,) array or None
        For `predict_interval`: how far the targets are outside of the lowest and the highest
        quantile, or minus how far inside, ascending.
    support_ : (n_support,) array
        Indices of the support vectors, which are nearly all rows, as there is no tube.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (n_quantiles, n_support) array
        Signed coefficients.
    coef_ : (n_quantiles, p) array
        Weights of the features, for exact solutions with a linear kernel only.
    intercept_ : (n_quantiles,) array
    n_iter_ : (n_quantiles,) array
        ADMM iterations plus steps on the exact kernel, at most `max_iter`; see `SVC`.
    kernel_ : Kernel
        The kernel with the parameters used in the fit.
    feature_shift_, feature_factor_, feature_quantiles_ : array or None
        The scaling, as in `SVC`.
    feature_importances_ : (p,) array
        As in `SVC`; only if `scaling` is learned.
    fit_report_ : FitReport
        Gap, status, compression error, ranks, memory and seconds; `summary` returns it as text.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import QuantileSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (2000, 1))
    >>> y = X[:, 0] + X[:, 0] * rng.standard_normal(2000)
    >>> model = QuantileSVR(C=10, quantile=[0.1, 0.9], random_state=0).fit(X, y)
    >>> low, high = model.predict(X).T
    >>> print(f"{np.mean((low <= y) & (y <= high)):.2f}")
    0.80
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        quantile: float | Sequence[float] = 0.5,
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
        scaling: Literal["standard", "minmax", "quantiles", "learned", "learned-quantiles"]
        | None = None,
        approximation: Approximation | None = None,
        out_of_fold: bool = False,
        memory_limit: float | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.quantile = quantile
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
        self.out_of_fold = out_of_fold
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _fit_task(self, data: FitInput) -> QuantileRegression:
        center = float(np.median(data.y))
        return QuantileRegression(self.C, center=center, quantiles=as_tuple(self.quantile))

    def _fitted_task(self) -> QuantileRegression:
        return QuantileRegression(self.C, quantiles=as_tuple(self.quantile_))

    def _finish(
        self, result: TrainingResult, task: Regression, data: FitInput, monitor: FitMonitor
    ) -> None:
        self.quantile_ = fitted_quantile(self.quantile)
        super()._finish(result, task, data, monitor)
