"""Support vector regression of censored targets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from hssvm.estimators.base import FitInput
from hssvm.estimators.inputs.censored import as_ends, require_both_sides
from hssvm.estimators.inputs.frames import name_of
from hssvm.estimators.models.background import target_strata
from hssvm.estimators.regressor import TrainableRegressor
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats
from hssvm.training import Approximation, CensoredRegression
from hssvm.training.data.censoring import concordance_index, known_ends


class CensoredSVR(TrainableRegressor):
    """Support vector regression of targets that may be known only up to a bound, such as lifetimes.

    Like `SVR`, but a prediction above the time at which a row was censored has no loss (Shivaswamy
    et al., 2007). Pass the logarithms of times that span orders of magnitude. `score` is the
    concordance index.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, in units of y; a smaller C gives a smoother function.
    epsilon : float, default=0.1
        Half-width of the tube without loss, in units of y.
    kernel, degree, gamma, coef0, tol, solver, max_iter, refine, max_time, prediction, scaling, \
approximation, out_of_fold, memory_limit, warm_start, random_state, verbose
        As in `SVC`; scales are learned from the ranks of the targets.

    Attributes
    ----------
    out_of_fold_decision_ : (n,) array
        As in `SVC`: predictions for the training rows, with ``out_of_fold=True`` only.
    support_ : (n_support,) array
        Indices of the support vectors.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (1, n_support) array
        Signed coefficients; not negative for rows that are censored on the right.
    coef_ : (1, p) array
        Weights of the features, for exact solutions with a linear kernel only.
    intercept_ : (1,) array
    n_iter_ : (1,) array
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
    Half of the times are known, and the others at least as long as the observation:

    >>> import numpy as np
    >>> from hssvm import CensoredSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (2000, 1))
    >>> time = np.exp(X[:, 0] + 0.3 * rng.standard_normal(2000))
    >>> end = np.exp(rng.uniform(0, 1, 2000))
    >>> high = np.where(time <= end, time, np.inf)
    >>> y = np.log(np.stack([np.minimum(time, end), high], axis=1))
    >>> model = CensoredSVR(random_state=0).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).round(1)
    array([-0. ,  0.8])
    """

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

    _task_name = "censored regression"

    _has_intervals = False

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> FitInput:
        if y is None:
            return super()._check_fit(X, y, sample_weight)
        ends = as_ends(y)
        data = super()._check_fit(X, known_ends(ends), sample_weight)
        require_both_sides(ends)
        self.target_name_ = name_of(y)
        return data._replace(y=ends)

    def _check_certified(
        self, X: Any, y: Any = "no_validation", **options: Any
    ) -> tuple[Any, Kernel]:
        ends = as_ends(y)
        (X, _), kernel = super()._check_certified(X, known_ends(ends), **options)
        return (X, ends), kernel

    def _fit_task(self, data: FitInput) -> CensoredRegression:
        center = float(np.median(known_ends(data.y)))
        return CensoredRegression(self.C, self.epsilon, center=center)

    def _fitted_task(self) -> CensoredRegression:
        return CensoredRegression(self.C, self.epsilon)

    def _strata(self, data: FitInput) -> NDArray[np.int64]:
        return target_strata(known_ends(data.y))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Concordance index: the share of pairs of rows that are predicted in their order.

        A pair counts if its order is known in spite of the censoring. 1 is best, and constant
        predictions have 1/2.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        y : as in `fit`
        sample_weight : (m,) array-like, optional
            A pair counts with the product of its weights.

        Returns
        -------
        float
            NaN if there is no such pair.

        Examples
        --------
        >>> from hssvm import CensoredSVR
        >>> X, y = [[0.0], [1.0], [2.0]], [[1.0, 1.0], [2.0, float("inf")], [3.0, 3.0]]
        >>> CensoredSVR().fit(X, y).score(X, y)
        1.0
        """
        predicted, ends = self.predict(X), as_ends(y)
        check_consistent_length(predicted, ends)
        return self._score(ends, predicted, self._check_weight(sample_weight, predicted))

    def _score(self, y: Floats, predicted: Floats, weight: Floats) -> float:
        return concordance_index(y, predicted, weight)
