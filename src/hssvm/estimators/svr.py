"""Support vector regression."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from hssvm._threads import with_serial_blas
from hssvm.estimators.base import KernelMachine
from hssvm.estimators.callbacks import logging_to_stderr, with_callbacks
from hssvm.estimators.certificate import Certificate
from hssvm.estimators.checks import at_bound, check_target, warn_about
from hssvm.estimators.forecast import Forecast
from hssvm.estimators.parameters import without
from hssvm.estimators.precision import in_precision_of_rows
from hssvm.hss import Strategy
from hssvm.kernels.base import Floats
from hssvm.problems import SVRProblem


class SVR(RegressorMixin, KernelMachine):
    """Epsilon-support vector regression on a compressed kernel matrix.

    Like `sklearn.svm.SVR`, for many rows; compression and refinement are those of `SVC`. Rows less
    than epsilon away from the function cost nothing.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the loss, in units of y; smaller is smoother.
    epsilon : float, default=0.1
        Half the width of the tube without loss, in units of y.
    kernel : {'rbf', 'laplacian', 'matern32', 'matern52', 'poly', 'linear'}, Kernel or callable
        A callable takes two sets of rows and returns their kernel matrix.
    degree : int, default=3
        Of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Inverse width. A width h, as in exp(-d**2 / (2 h**2)), is gamma = 1 / (2 h**2).
    coef0 : float, default=0.0
        Of 'poly'.
    tol : float or None, default=1e-3
        Relative duality gap at which training stops; refinement, a tenth of it on the true kernel.
        None runs `max_iter` iterations of the algorithm of Cipolla and Gondzio as published (they
        take ``max_iter=10, beta="paper"``).
    max_iter : int, default=1000
    beta : float or 'paper', default=None
        First penalty of ADMM; None chooses it from C and the kernel.
    refine : bool or 'auto', default='auto'
        Whether to go on to the solution on the true kernel. It takes kernel values of n rows with
        all support vectors, a few times. 'auto' does so if all n * n values can be computed once in
        about a minute on two cores, and stops after five times that work. It counts operations and
        reads no clock: the limit is 350,000 rows of 20 features in float32, 250,000 in float64.
    max_time : float, default=None
        Seconds after which a fit stops iterating, with the best coefficients so far and their gap.
        Compression is not cut short.
    cache_size : float, default=2000
        Megabytes for kernel values during refinement, at most; see also `memory_limit`.
    prediction : {'auto', 'leafwise', 'exact'}, default='auto'
        With the compressed kernel, from one leaf, or with the true kernel and all support vectors.
        'auto' is exact for a refined model, else leaf-wise.
    scaling : {'standard', 'minmax'}, default=None
        Of the features, learned in `fit`: to variance 1, or to [0, 1]. Kernels of distances need
        features of comparable size.
    leaf_size : int, default=256
        Rows in a leaf of the tree, at most.
    max_rank : int, default=None
        Largest rank of a leaf; it grows towards the root. More is more exact, and slower. None is
        72, or 32 where the compressed kernel is only a start, of fewer than 100,000 rows.
    rtol : float, default=1e-3
        Error at which a rank stays below `max_rank`.
    surplus : float, default=0.125
        Share of extra points that a node considers; 0.5 helps in high dimension.
    compression : Strategy of `hssvm.hss`, default=None
        Another compression than `NestedNystroem` with the three parameters above.
        `NeighbourInterpolation` is that of Cipolla and Gondzio; it predicts with the true kernel.
    memory_limit : float, default=None
        Bytes that a fit may take at its peak, beyond its rows. Refinement gets by with a smaller
        cache where it must; a fit that might still need more raises MemoryError before it begins.
    warm_start : bool, default=False
        Start from the coefficients of the last fit: to go on after an interrupt or `max_time`, or
        with other parameters.
    random_state : int, RandomState or None, default=None
        Draws the samples of tree and compression. An int makes the fit repeatable, unless
        `max_time` ends it.
    verbose : int, default=0
        1 shows the stages of a fit: as a progress bar in notebooks, elsewhere as lines on stderr.
        2 adds every iteration and level of the tree. The lines go through `logging`.

    Attributes
    ----------
    support_ : (n_support,) array
        Rows with a coefficient.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (1, n_support) array
        Signed coefficients.
    intercept_ : (1,) array
    n_iter_ : (1,) array
    kernel_ : Kernel
        The kernel with its parameters as used.
    fit_report_ : FitReport
        Gap and the kernel it belongs to, status, error of the compression, ranks, memory, seconds;
        `summary` prints it.
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

    _task = "regression"

    @without("shrinking")
    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float | None = 1e-3,
        max_iter: int = 1000,
        beta: float | Literal["paper"] | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        cache_size: float = 2000,
        prediction: Literal["auto", "leafwise", "exact"] = "auto",
        scaling: Literal["standard", "minmax"] | None = None,
        leaf_size: int = 256,
        max_rank: int | None = None,
        rtol: float = 1e-3,
        surplus: float = 0.125,
        compression: Strategy | None = None,
        memory_limit: float | None = None,
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
        self.max_iter = max_iter
        self.beta = beta
        self.refine = refine
        self.max_time = max_time
        self.cache_size = cache_size
        self.prediction = prediction
        self.scaling = scaling
        self.leaf_size = leaf_size
        self.max_rank = max_rank
        self.rtol = rtol
        self.surplus = surplus
        self.compression = compression
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def forecast(self, X: Any, y: Any) -> Forecast:
        """What a fit would take, from fits of two small samples.

        Parameters
        ----------
        X, y
            What the model would be trained on.

        Returns
        -------
        Forecast

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVR
        >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
        >>> forecast = SVR(refine=False).forecast(X, X[:, 0])
        >>> forecast.n_rows, forecast.memory < 1e9, forecast.advice
        (20000, True, ['fits.'])
        """
        return self._forecast(X, y, y_numeric=True)

    @with_callbacks
    @with_serial_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
            float32 is kept, and takes half the memory and time of float64.
        y : (n,) array-like
        sample_weight : (n,) array-like, optional
            Factors on C by row.

        Returns
        -------
        self
        """
        tasks = self._tasks()
        with logging_to_stderr(self.verbose):
            X, y = self._check_rows(X, y, y_numeric=True)
            if y.dtype.kind not in "fiub":
                raise ValueError("y contains labels, not numbers; use SVC for classification")
            weight = self._check_weight(sample_weight, X)
            # far from 0, y would lose its digits in float32; the intercept takes the middle back
            middle = np.median(y)
            self._fit_rows(X, weight, self._problem(y - middle, weight, X.dtype), tasks)
            self.intercept_ = self.intercept_ + middle
            bounded = at_bound(self.dual_coef_.T, self.C * weight[self.support_, None])
            warn_about(check_target(y, self.C, self.epsilon, bounded), self.fit_report_)
        tasks.end()
        return self

    def _problem(self, y: Floats, weight: Floats, dtype: Any) -> SVRProblem:
        bound = in_precision_of_rows(self.C * weight, dtype, "C")
        y = in_precision_of_rows(y, dtype, "y")
        return SVRProblem(y[:, None], bound[:, None], np.array([self.epsilon], np.float64))

    def predict(self, X: Any) -> Floats:
        """Value of the function at every row of `X`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array of float64
        """
        # an intercept far from 0 would lose its digits in float32
        return self._values_without_intercept(X)[:, 0] + self.intercept_[0]

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Objective values and duality gap on the true kernel; see `SVC.certify`.

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.
        n_rows : int, optional
            Look at so many random rows only, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        X, y = self._check_certified(X, y)
        problem = self._problem(y, self._check_weight(sample_weight, X), np.float64)
        return self._certify(problem, X, n_rows)
