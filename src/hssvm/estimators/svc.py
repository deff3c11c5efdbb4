"""The support vector classifier."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from hssvm._threads import with_serial_blas
from hssvm.estimators.base import KernelMachine
from hssvm.estimators.callbacks import FitTasks, logging_to_stderr, with_callbacks
from hssvm.estimators.certificate import Certificate
from hssvm.estimators.checks import NARROW_KERNEL, UNEVEN_FEATURES, check_support, warn_about
from hssvm.estimators.forecast import Forecast
from hssvm.estimators.parameters import without
from hssvm.estimators.precision import in_precision_of_rows
from hssvm.estimators.report import FitReport
from hssvm.estimators.saving import has_form
from hssvm.hss import HSSMatrix, Strategy
from hssvm.kernels.base import Floats, Rows
from hssvm.persistence.archive import require
from hssvm.problems import SVCProblem

MANY_LABELS = 500
"""From so many rows on, labels that are different in most of them are an error."""


class Classifier(ClassifierMixin, KernelMachine):
    """What the classifiers share: labels, weights, decision values and their meaning."""

    _saved = (*KernelMachine._saved, "classes_", "n_support_")

    _task = "classification"

    def _C(self) -> float:
        """Return the C of the fitted model."""
        raise NotImplementedError

    def _check_fit(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, NDArray[np.int64], Floats, Floats]:
        """Set `classes_`; return rows, classes of the rows as numbers, and two kinds of weights.

        The first are those the user gave, the second those on C: times the weight of the class.
        """
        X, y = self._check_rows(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_labels(y, self.classes_.size)
        sample_weight = self._check_weight(sample_weight, X)
        cost = sample_weight * compute_sample_weight(self.class_weight, y)
        n_classes = np.unique(codes[cost > 0]).size
        if n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least 2 classes with a positive weight; "
                f"the data has {n_classes} class"
            )
        return X, codes.astype(np.int64), sample_weight, cost

    def _signs(self, codes: NDArray[np.int64], dtype: Any) -> Floats:
        """(n, k) labels +1 and -1: one column for two classes, else one per class."""
        if self.classes_.size == 2:
            return np.where(codes == 1, 1, -1).astype(dtype)[:, None]
        return np.where(codes[:, None] == np.arange(self.classes_.size), 1, -1).astype(dtype)

    def _report(self) -> FitReport:
        return FitReport(task=self._task, n_classes=self.classes_.size)

    def _train(
        self,
        matrix: HSSMatrix,
        bound: Floats,
        codes: NDArray[np.int64],
        report: FitReport,
        tasks: FitTasks,
        seed: int,
        start: Floats | None = None,
        *,
        refine: bool,
    ) -> None:
        """Solve for a bound (n, k), and set the fitted attributes."""
        self._fit_problem(matrix, SVCProblem(bound), report, tasks, seed, start, refine=refine)
        self.n_support_ = np.bincount(codes[self.support_], minlength=self.classes_.size)
        converged = set(report.status) == {"CONVERGED"}  # before that, most rows have coefficients
        if converged and not {NARROW_KERNEL, UNEVEN_FEATURES}.intersection(report.advice):
            advice = check_support(self.dual_coef_.T, bound[self.support_], len(codes))
            warn_about(advice, report)

    def decision_function(self, X: Any) -> Floats:
        """Signed distance to the separating surface, in units of the margin.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array for two classes, positive for ``classes_[1]``; else (m, n_classes), one class
        against the rest per column
        """
        values = self._decision_values(X)
        return values[:, 0] if self.classes_.size == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of every row of `X`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array of labels
        """
        return classify(self.decision_function(X), self.classes_)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        n_classes = self.classes_.size
        require(
            n_columns == (1 if n_classes == 2 else n_classes)
            and np.array_equal(self.classes_, np.unique(self.classes_)),
            "classes_ does not fit",
        )
        require(has_form(self.n_support_, np.int64, (n_classes,)), "n_support_ does not fit")

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Objective values and duality gap on the true kernel.

        The gap bounds how far the model is from the exact support vector machine, the one that
        LIBSVM finds: its objective is at most that share above the best. A refined model has this
        gap in its report, in the precision of its rows; here all is computed in float64, at the
        cost of kernel values of all rows with all support vectors.

        Parameters
        ----------
        X, y, sample_weight
            What the model was trained on.
        n_rows : int, optional
            Look at so many random rows only, and return a confidence interval.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVC
        >>> X = np.random.default_rng(0).standard_normal((5000, 2))
        >>> y = np.hypot(*X.T) < 1
        >>> model = SVC(C=10, random_state=0).fit(X, y)
        >>> certificate = model.certify(X, y)
        >>> bool(certificate.gap[0] < 1e-3), certificate.n_rows
        (True, 5000)
        """
        X, y = self._check_certified(X, y)
        if not np.array_equal(np.unique(y), self.classes_):
            raise ValueError("certify needs the labels that the model was trained on")
        weight = self._check_weight(sample_weight, X)
        cost = self._C() * weight * compute_sample_weight(self.class_weight, y)
        signs = self._signs(np.searchsorted(self.classes_, y), np.float64)
        return self._certify(SVCProblem(signs * cost[:, None]), X, n_rows)


def check_labels(y: NDArray[Any], n_classes: int) -> None:
    """Raise ValueError for values of a function, which are not labels."""
    problem = None
    if y.size >= MANY_LABELS and 2 * n_classes > y.size:
        problem = f"y has {n_classes:,} different values in {y.size:,} rows"
    elif type_of_target(y).startswith("continuous"):
        problem = "y contains non-integer values"
    if problem is not None:  # scikit-learn's checks look for the first words
        raise ValueError(f"Unknown label type: {problem}; use SVR for regression")
    check_classification_targets(y)


def classify(values: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of decision values: (m,) for two classes, else (m, n_classes)."""
    index = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
    return classes[index]


class SVC(Classifier):
    """C-support vector classification on a compressed kernel matrix.

    Like `sklearn.svm.SVC`, for many rows: the compression takes time and memory like n. Up to 2,000
    rows nothing is compressed and the solution is exact. Beyond that, the solution on the
    compressed kernel is the start for one on the true kernel, LIBSVM's, wherever that is
    affordable; see `refine`. More than two classes are trained one against the rest, all on the
    same factor.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the loss; smaller is smoother.
    kernel : {'rbf', 'laplacian', 'matern32', 'matern52', 'poly', 'linear'}, Kernel or callable
        A callable takes two sets of rows and returns their kernel matrix.
    degree : int, default=3
        Of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Inverse width. A width h, as in exp(-d**2 / (2 h**2)), is gamma = 1 / (2 h**2).
    coef0 : float, default=0.0
        Of 'poly'.
    class_weight : dict or 'balanced', default=None
        Factors on C by class.
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
    classes_ : (n_classes,) array
    support_ : (n_support,) array
        Rows with a coefficient.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (1 or n_classes, n_support) array
        Signed coefficients.
    intercept_ : (1 or n_classes,) array
    n_support_ : (n_classes,) array
        Support vectors of each class.
    n_iter_ : (1 or n_classes,) array
    kernel_ : Kernel
        The kernel with its parameters as used.
    fit_report_ : FitReport
        Gap and the kernel it belongs to, status, error of the compression, ranks, memory, seconds;
        `summary` prints it.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVC
    >>> X = np.random.default_rng(0).standard_normal((5000, 2))
    >>> y = np.where(np.hypot(*X.T) < 1, "in", "out")
    >>> model = SVC(C=10, random_state=0).fit(X, y)
    >>> model.predict([[0.1, 0.2], [2.0, 1.0]])
    array(['in', 'out'], dtype='<U3')
    >>> bool(model.fit_report_.gap[0] < 1e-3)
    True
    """

    @without("probability", "shrinking", "decision_function_shape", "break_ties")
    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
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

    def _C(self) -> float:
        return self.C

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
        >>> from hssvm import SVC
        >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
        >>> forecast = SVC(refine=False).forecast(X, X[:, 0] > 0)
        >>> forecast.n_rows, forecast.memory < 1e9, forecast.advice
        (20000, True, ['fits.'])
        """
        return self._forecast(X, y)

    @with_callbacks
    @with_serial_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
            float32 is kept, and takes half the memory and time of float64.
        y : (n,) array-like
            Labels of any type.
        sample_weight : (n,) array-like, optional
            Factors on C by row.

        Returns
        -------
        self
        """
        tasks = self._tasks()
        with logging_to_stderr(self.verbose):
            X, codes, weight, cost = self._check_fit(X, y, sample_weight)
            report, seed = self._report(), self._seed()
            scale = in_precision_of_rows(self.C * cost, X.dtype, "C")
            bound = self._signs(codes, X.dtype) * scale[:, None]
            matrix, refine = self._prepare(X, weight, bound.shape[1], report, seed)
            tasks.done("compress")
            self._train(matrix, bound, codes, report, tasks, seed, refine=refine)
        tasks.end()
        return self
