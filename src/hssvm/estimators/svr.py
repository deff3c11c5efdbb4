"""Support vector regression."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.base import BaseKernelSVM
from hssvm.estimators.calibration import (
    COVERAGE,
    conformal_quantile,
    kept_scores,
    require_ascending,
)
from hssvm.estimators.callbacks import with_callbacks
from hssvm.estimators.cost import CostEstimate
from hssvm.estimators.parameters import check_parameter, without
from hssvm.hss import Compressor
from hssvm.kernels.base import Floats
from hssvm.persistence import savable
from hssvm.training import Regression, TrainingResult
from hssvm.training.certificate import Certificate
from hssvm.training.checks import at_bound, check_target


@savable
class SVR(RegressorMixin, BaseKernelSVM):
    """Epsilon-support vector regression for large data sets.

    Like `sklearn.svm.SVR`, with the compression and refinement of `SVC`. Errors below epsilon have
    no loss.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, in units of y; a smaller C gives a smoother function.
    epsilon : float, default=0.1
        Half-width of the tube without loss, in units of y.
    kernel, degree, gamma, coef0, tol, solver, max_iter, refine, max_time, prediction, scaling, \
n_trees, out_of_fold, leaf_size, max_rank, compressor, memory_limit, warm_start, random_state, \
verbose
        As in `SVC`.

    Attributes
    ----------
    out_of_fold_decision_ : (n,) array
        As in `SVC`: predictions for the training rows, with ``out_of_fold=True`` only.
    conformity_scores_ : (m,) array or None
        Absolute errors of these predictions, ascending, for `predict_interval`.
    support_ : (n_support,) array
        Indices of the support vectors.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (1, n_support) array
        Signed coefficients.
    intercept_ : (1,) array
    n_iter_ : (1,) array
    kernel_ : Kernel
        The kernel with the parameters used in the fit.
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

    _saved = ("conformity_scores_",)
    _task_name = "regression"

    conformity_scores_: NDArray[np.float64] | None = None

    @without("shrinking", "cache_size")
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
        scaling: Literal["standard", "minmax"] | None = None,
        n_trees: int | None = None,
        out_of_fold: bool = False,
        leaf_size: int | None = None,
        max_rank: int | None = None,
        compressor: Compressor | None = None,
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
        self.n_trees = n_trees
        self.out_of_fold = out_of_fold
        self.leaf_size = leaf_size
        self.max_rank = max_rank
        self.compressor = compressor
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def estimate_cost(self, X: Any, y: Any) -> CostEstimate:
        """Estimate the time and memory of a fit, from fits on two small samples.

        Parameters
        ----------
        X, y
            The training data.

        Returns
        -------
        CostEstimate

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVR
        >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
        >>> estimate = SVR(refine=False).estimate_cost(X, X[:, 0])
        >>> estimate.n_rows, estimate.memory < 1e9, estimate.advice
        (20000, True, ['fits.'])
        """
        return self._estimate_cost(X, y, y_numeric=True)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
            float32 is not converted, and needs half the memory and time of float64.
        y : (n,) array-like
        sample_weight : (n,) array-like, optional
            Factors on C by row.

        Returns
        -------
        self
        """
        with self._fitting(X, y, sample_weight) as monitor:
            X, y = self._check_rows(X, y, y_numeric=True)
            if y.dtype.kind not in "fiub":
                raise ValueError("y contains labels, not numbers; use SVC for classification")
            weight = self._check_weight(sample_weight, X)
            task = Regression(self.C, self.epsilon, center=float(np.median(y)))
            result = self._train(task, X, y, weight, monitor)
            self.intercept_ = self.intercept_ + task.center
            self._use_out_of_fold(result, y, weight, task.center)
            if result.first_Z is not None:
                n_bounded = at_bound(result.first_Z, self.C * weight[:, None])
                advice = check_target(y, self.C, self.epsilon, n_bounded)
                monitor.advise(advice, result.report)
        return self

    def _use_out_of_fold(
        self, result: TrainingResult, y: NDArray[Any], weight: Floats, center: float
    ) -> None:
        """Set what follows from predictions by models that have not seen the rows."""
        self.conformity_scores_ = None
        if result.out_of_fold is not None:
            predicted = result.out_of_fold[:, 0] + center
            score = r2_score(y, predicted, sample_weight=weight)
            result.report.out_of_fold_score = float(score)
            errors = np.abs(y - predicted)[weight > 0]
            self.conformity_scores_ = kept_scores(errors, self._forest_seed)
            self.out_of_fold_decision_ = predicted

    def predict(self, X: Any) -> Floats:
        """Predict the target of every row of `X`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array of float64
        """
        # an intercept far from 0 would lose digits in float32
        return self._values_without_intercept(X)[:, 0] + self.intercept_[0]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Intervals that contain the target with a given probability.

        These are conformal prediction intervals: their half-width is a quantile of the errors of
        models that were not trained on the rows that they predict. It is the same for all rows.
        Available with ``out_of_fold=True``.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        coverage : float, default=0.9
            Fraction of new rows whose interval contains their target, if they are drawn like the
            training rows. All rows count alike, whatever their weight.

        Returns
        -------
        (m, 2) array of float64
            Lower and upper ends; infinite if there are too few training rows for this coverage.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (2000, 1))
        >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(2000)
        >>> model = SVR(C=10, out_of_fold=True, random_state=0).fit(X, y)
        >>> model.predict_interval([[0.0]]).round(1)
        array([[-0.2,  0.2]])
        """
        check_is_fitted(self)
        check_parameter("coverage", coverage, COVERAGE)
        if self.conformity_scores_ is None:
            raise ValueError(
                "predict_interval needs the errors of models that have not seen the rows; set "
                "out_of_fold=True and fit again, with more max_time if that is set"
            )
        half_width = conformal_quantile(self.conformity_scores_, coverage)
        return self.predict(X)[:, None] + np.array([-half_width, half_width])

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        require_ascending(self.conformity_scores_)

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the objective values and duality gap on the exact kernel; see `SVC.certify`.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        X, y = self._check_certified(X, y)
        weight = self._check_weight(sample_weight, X)
        return self._certify(Regression(self.C, self.epsilon), X, y, weight, n_rows)
