"""Gaussian process regression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hssvm._threads import serial_blas
from hssvm.costs import RIDGE_PASSES
from hssvm.estimators.base import FitInput
from hssvm.estimators.inputs.kernel import RADIAL, radial_type
from hssvm.estimators.inputs.parameters import (
    NONE,
    POSITIVE,
    RULES,
    InvalidParameterError,
    Rule,
    as_bytes,
)
from hssvm.estimators.kernel_ridge import require_projection
from hssvm.estimators.monitoring.callbacks import FitMonitor
from hssvm.estimators.regressor import TrainableRegressor
from hssvm.hss import PosteriorVariance, log_determinant
from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.persistence.archive import has_form, require
from hssvm.training import HSS, FitReport, Monitor, Regression, RidgeRegression, TrainingResult
from hssvm.training.data.scaling import Scaling
from hssvm.training.marginal_likelihood import (
    SAMPLE_ROWS,
    ProcessParameters,
    centered,
    least_noise,
    maximize_likelihood,
)
from hssvm.training.posterior import posterior_variance
from hssvm.training.scales.learn import sample_rows
from hssvm.training.scales.scaling import LEARNED, base_of

HARDLY_ANY_NOISE = (
    "Rows are repeated with the same targets, so that there seems to be no noise, and standard "
    "deviations may be far too small; merge such rows, or pass noise."
)


class GaussianProcessRegressor(TrainableRegressor):
    """Gaussian process regression for large data sets, which predicts with standard deviations.

    The covariance of two targets is ``signal_ * (k(x, x') + noise_)``, the noise for equal rows
    only. The scales of the features, gamma and the noise maximize the likelihood of a sample of the
    rows. Then all rows are trained like `KernelRidge`, whose ridge is the noise: exactly where that
    is affordable, else on several compressed kernels. Standard deviations come from the factor of a
    compressed kernel if there are more than 5,000 rows, and may then be too large.

    Parameters
    ----------
    kernel : {'rbf', 'laplacian', 'exponential', 'matern32', 'matern52'}, default='rbf'
    gamma : float, optional
        Width of the kernel; by default, it is learned.
    noise : float, optional
        Variance of the noise, relative to that of the function; by default, it is learned.
    scaling : {'learned', 'learned-quantiles', 'standard', 'minmax', 'quantiles'} or None, \
default='learned'
        As in `SVC`, except that the likelihood decides how much each feature counts.
    tol, refine, max_time, memory_limit, warm_start, random_state, verbose
        As in `SVC`.
    max_iter, approximation, out_of_fold
        As in `KernelRidge`.

    Attributes
    ----------
    noise_ : float
        Variance of the noise of a row of weight 1, relative to that of the function. A row of
        weight w has ``noise_ / w``, and new rows count as rows of mean weight.
    signal_ : float
        Variance of the function, in squared units of y, at which the likelihood of all rows is
        largest.
    out_of_fold_decision_, nonconformity_scores_, support_, support_vectors_, dual_coef_, \
intercept_, n_iter_
        As in `KernelRidge`.
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
    >>> from hssvm import GaussianProcessRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (1000, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(1000)
    >>> model = GaussianProcessRegressor(random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.0], [9.0]], return_std=True)
    >>> bool(abs(mean[0]) < 0.05), bool(std[0] < 0.12), bool(std[1] > 0.5)
    (True, True, True)
    """

    _averages = False  # of cells
    _n_passes = RIDGE_PASSES
    _task_name = "Gaussian process regression"
    _saved: ClassVar[tuple[str, ...]] = (
        "noise_",
        "signal_",
        "_row_noise",
        "_mean_weight",
        "_quadratic",
    )
    _rules: ClassVar[Mapping[str, Rule]] = {
        **RULES,
        "gamma": [NONE, POSITIVE],
        "noise": [NONE, POSITIVE],
    }

    noise_: float
    signal_: float

    _row_noise: NDArray[np.float64] | None
    """Noise of the support vectors, if their weights differ from 1."""

    _mean_weight: float
    """Mean weight of the support vectors; new rows are taken to have it."""

    _quadratic: float
    """``y' C^-1 y`` of the centered targets."""

    _learned: ProcessParameters
    _posterior: PosteriorVariance | None = None

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | None = None,
        noise: float | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        scaling: Literal["standard", "minmax", "quantiles", "learned", "learned-quantiles"]
        | None = "learned",
        approximation: HSS | None = None,
        out_of_fold: bool = False,
        memory_limit: float | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.noise = noise
        self.tol = tol
        self.max_iter = max_iter
        self.refine = refine
        self.max_time = max_time
        self.scaling = scaling
        self.approximation = approximation
        self.out_of_fold = out_of_fold
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_posterior": None}  # which follows from the rest

    def _check_kernel(self) -> None:
        if not isinstance(self.kernel, str) or self.kernel not in RADIAL:
            raise InvalidParameterError(
                f"kernel must be one of {', '.join(map(repr, RADIAL))}, got {self.kernel!r}; "
                "hssvm.KernelRidge accepts other kernels"
            )

    def _check_approximation(self) -> None:
        super()._check_approximation()
        require_projection(self.approximation)

    def _fit_task(self, data: FitInput) -> RidgeRegression:
        return RidgeRegression(1.0, center=np.average(data.y, weights=data.weight))

    def _fitted_task(self) -> RidgeRegression:
        return RidgeRegression(1 / self.noise_, center=self.intercept_)

    def _scale(
        self,
        kernel: Any,
        kind: str | None,
        task: Any,
        data: FitInput,
        seed: int,
        report: FitReport,
        monitor: Monitor,
        **options: Any,
    ) -> Rows:
        """Scale the rows, and learn the parameters of the process."""
        base, learn_scales = Scaling.of(data.X, base_of(kind)), kind in LEARNED
        rows = sample_rows(data.weight, seed, SAMPLE_ROWS)
        radial = radial_type(kernel)
        assert radial is not None  # checked by _check_parameters
        with report.stage("likelihood"):
            self._learned = maximize_likelihood(
                base(data.X[rows]), centered(data.y[rows], task.center), data.weight[rows], radial,
                gamma=self.gamma, noise=self.noise, learn_scales=learn_scales, monitor=monitor,
                memory_limit=as_bytes(self.memory_limit),
            )  # fmt: skip
        scales = self._learned.scales if learn_scales else None
        scaling = base if scales is None else base.times(scales)
        return self._set_scaling(scaling, scales)(data.X)

    def _make_kernel(self, X: Rows, data: FitInput) -> Kernel:
        return RADIAL[self.kernel](self._learned.gamma)

    def _after_scaling(self, task: Any) -> RidgeRegression:
        return cast(RidgeRegression, replace(task, C=1 / self._learned.noise))

    def _finish(
        self, result: TrainingResult, task: Regression, data: FitInput, monitor: FitMonitor
    ) -> None:
        super()._finish(result, task, data, monitor)
        learned = self.__dict__.pop("_learned")
        self.noise_ = learned.noise
        weight = data.weight[self.support_].astype(np.float64)
        self._row_noise = None if (weight == 1).all() else self.noise_ / weight
        self._mean_weight = float(weight.mean())
        self._posterior = None
        z = self.dual_coef_[0].astype(np.float64)
        self._quadratic = float((data.y[self.support_] - task.center) @ z)
        self.signal_ = max(0.0, self._quadratic / z.size)
        if learned.equal_rows and learned.noise <= 2 * least_noise(data.X) * self._mean_weight:
            monitor.advise(HARDLY_ANY_NOISE, result.report)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target of every row of `X`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        return_std : bool, default=False
            Whether to return standard deviations too, of the targets with their noise.

        Returns
        -------
        mean : (m,) array of float64
        std : (m,) array of float64
            Only with ``return_std=True``.
        """
        mean = super().predict(X)
        if not return_std:
            return mean
        valid = self._validate_new(X, self._require_exact("return_std").X.dtype)
        with serial_blas():
            variance = self._variance()(valid.scaled(self._scaling))
        return mean, np.sqrt(self.signal_ * (variance + self.noise_ / self._mean_weight))

    def log_marginal_likelihood(self) -> float:
        """Return the logarithm of the likelihood of all training targets.

        Like the standard deviations, it comes from the compressed kernel if there are many rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        n, signal = self._require_exact("log_marginal_likelihood").X.shape[0], self.signal_
        if signal == 0:
            return math.inf  # constant targets
        log_det = log_determinant(self._variance().factor) + n * math.log(2 * math.pi * signal)
        return -(log_det + self._quadratic / signal) / 2

    def _variance(self) -> PosteriorVariance:
        """Variances relative to the signal, from a factor that is computed when it is needed."""
        if self._posterior is None:
            exact = self._require_exact("return_std")
            noise = self.noise_ if self._row_noise is None else self._row_noise
            hss = self.approximation if isinstance(self.approximation, HSS) else HSS()
            self._posterior = posterior_variance(exact.kernel, exact.X, noise, hss)
        return self._posterior

    def _check_saved(self) -> None:
        super()._check_saved()
        numbers = self.noise_, self.signal_, self._mean_weight, self._quadratic
        require(
            all(isinstance(value, float) and 0 <= value < math.inf for value in numbers)
            and min(self.noise_, self._mean_weight) > 0,
            "the parameters of the process are invalid",
        )

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        noise = self._row_noise
        n_rows = -1 if self._exact is None else self._exact.X.shape[0]
        require(
            noise is None
            or (
                has_form(noise, np.float64, (noise.size if n_rows < 0 else n_rows,))
                and bool(np.isfinite(noise).all() and (noise > 0).all())
            ),
            "_row_noise is invalid",
        )
