"""Kernel ridge regression."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hssvm.costs import RIDGE_PASSES
from hssvm.estimators.base import FitInput
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.estimators.regressor import TrainableRegressor
from hssvm.training import HSS, Approximation, RidgeRegression


def require_projection(approximation: Approximation | None) -> None:
    """Raise an error if the compressed kernel may be indefinite: its solution may be useless."""
    if isinstance(approximation, HSS) and not approximation.extends_to_new_points:
        raise InvalidParameterError(
            f"least squares needs a positive semi-definite kernel, which {approximation} does not "
            "guarantee; set its compressor to None, or to hssvm.hss.NestedNystroem()"
        )


class KernelRidge(TrainableRegressor):
    """Kernel ridge regression for large data sets.

    Like `sklearn.kernel_ridge.KernelRidge`, for targets minus their mean: the coefficients are
    ``(K + alpha I)^-1 (y - mean)``. Where an exact solution is affordable, it is computed by
    conjugate gradients, preconditioned by a factor of the compressed kernel; else it is the mean of
    the solutions on several compressed kernels.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge, in units of the kernel: a larger one gives a smoother function. It corresponds
        to ``1 / C``, and for a Gaussian process to the variance of the noise relative to that of
        the function. Rows of weight w have the ridge ``alpha / w``.
    kernel, degree, gamma, coef0, tol, refine, max_time, prediction, scaling, memory_limit, \
warm_start, random_state, verbose
        As in `SVC`.
    max_iter : int, optional
        Maximum number of products with the exact kernel matrix.
    approximation : HSS, optional
        Trains on compressed kernels; see `HSS`. By default, they are used for many rows only.
    out_of_fold : bool, default=False
        Whether to compute predictions for the training rows by models without them: without each
        row, in closed form, or without each of five folds if an exact solution has more than 5,000
        rows.

    Attributes
    ----------
    out_of_fold_decision_ : (n,) or (n, n_targets) array
        These predictions, with ``out_of_fold=True`` only.
    nonconformity_scores_ : (m,) array or None
        Absolute errors of these predictions, ascending, for `predict_interval`; None for several
        targets.
    support_ : (n_support,) array
        Indices of the rows, except for those of weight 0.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (n_targets, n_support) array
        Coefficients.
    coef_ : (n_targets, p) array
        Weights of the features, for exact solutions with a linear kernel only.
    intercept_ : (n_targets,) array
        The weighted mean of the targets.
    n_iter_ : (n_targets,) array
        1 for the solution on the compressed kernel, plus the number of products with the exact
        kernel matrix.
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
    >>> from hssvm import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (5000, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(5000)
    >>> model = KernelRidge(alpha=0.1, out_of_fold=True, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    >>> model.predict_interval([[0.0]]).round(1)
    array([[-0.2,  0.2]])
    """

    _averages = False  # of cells
    _n_passes = RIDGE_PASSES
    _several_targets = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float | None = None,
        max_iter: int | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        prediction: Literal["auto", "compressed", "exact"] = "auto",
        scaling: Literal["standard", "minmax", "quantiles", "learned", "learned-quantiles"]
        | None = None,
        approximation: HSS | None = None,
        out_of_fold: bool = False,
        memory_limit: float | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
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

    def _check_approximation(self) -> None:
        super()._check_approximation()
        require_projection(self.approximation)

    def _fit_task(self, data: FitInput) -> RidgeRegression:
        center = np.average(data.y, axis=0, weights=data.weight)
        return RidgeRegression(1 / self.alpha, center=center)

    def _fitted_task(self) -> RidgeRegression:
        return RidgeRegression(1 / self.alpha, center=self.intercept_)
