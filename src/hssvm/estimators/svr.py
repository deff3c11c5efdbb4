"""Support vector regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from hssvm.estimators.base import FitInput
from hssvm.estimators.inputs.parameters import RULES, InvalidParameterError, Rule, word
from hssvm.estimators.regressor import TrainableRegressor
from hssvm.messages import api
from hssvm.training import Approximation, Regression
from hssvm.training.tasks.regression import LOSSES


class SVR(TrainableRegressor):
    """Epsilon-support vector regression for large data sets.

    Like `sklearn.svm.SVR`, with the refinement and approximations of `SVC`. Errors below epsilon
    have no loss, but see `loss`. Several targets are trained together, on the same kernel matrix.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, in units of y; a smaller C gives a smoother function.
    epsilon : float, default=0.1
        Half-width of the tube without loss, in units of y, or the error at which the Huber loss
        becomes linear.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive', 'huber'}, \
default='epsilon_insensitive'
        Loss of an error e, times C, as in `sklearn.svm.LinearSVR` and
        `sklearn.linear_model.SGDRegressor`: ``max(0, |e| - epsilon)``, its square, or the Huber
        loss, which is ``e**2 / 2`` up to epsilon, and grows linearly from there. The first predicts
        values near the median, squares the mean, and Huber's loss the mean without outliers.
    kernel, degree, gamma, coef0, tol, solver, max_iter, refine, max_time, prediction, scaling, \
approximation, out_of_fold, memory_limit, warm_start, random_state, verbose
        As in `SVC`.

    Attributes
    ----------
    out_of_fold_decision_ : (n,) or (n, n_targets) array
        As in `SVC`: predictions for the training rows, with ``out_of_fold=True`` only.
    nonconformity_scores_ : (m,) array or None
        Absolute errors of these predictions, ascending, for `predict_interval`; None for several
        targets.
    support_ : (n_support,) array
        Indices of the support vectors.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (n_targets, n_support) array
        Signed coefficients.
    coef_ : (n_targets, p) array
        Weights of the features, for exact solutions with a linear kernel only.
    intercept_ : (n_targets,) array
    n_iter_ : (n_targets,) array
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
    >>> from hssvm import SVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (5000, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(5000)
    >>> model = SVR(C=10, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97), bool(model.fit_report_.gap[0] < 1e-3)
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive", "huber"] = (
            "epsilon_insensitive"
        ),
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
        self.epsilon = epsilon
        self.loss = loss
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

    _several_targets = True

    _rules: ClassVar[Mapping[str, Rule]] = {**RULES, "loss": [*map(word, LOSSES)]}

    def _fit_task(self, data: FitInput) -> Regression:
        return self._task(np.median(data.y, axis=0))

    def _fitted_task(self) -> Regression:
        return self._task(0.0)

    def _task(self, center: Any) -> Regression:
        return Regression(self.C, self.epsilon, center, self.loss)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss == "huber" and not self.epsilon > 0:
            raise InvalidParameterError(
                f"{api:loss='huber'} needs an epsilon above 0, from which errors count linearly; "
                f"set {api:epsilon}, or {api:loss='epsilon_insensitive'}"
            )
