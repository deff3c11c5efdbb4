"""The support vector classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from hssvm.estimators.base import FitInput
from hssvm.estimators.classifier import Classifier
from hssvm.estimators.inputs.parameters import RULES, Rule, word
from hssvm.estimators.monitoring.callbacks import with_callbacks
from hssvm.training import Approximation, Classification
from hssvm.training.reports.estimate import CostEstimate


class SVC(Classifier):
    """C-support vector classification for large data sets.

    Like `sklearn.svm.SVC`, for data sets of any size. If affordable, it finds the solution on the
    exact kernel, as LIBSVM does; see `refine`. Otherwise it trains an `approximation`, in time and
    memory linear in the number of rows. More than two classes are trained one-vs-one,
    as in `sklearn.svm.SVC`, or one-vs-rest; see `multi_class`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; a smaller C gives a smoother model.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        Loss of a row, times C: ``max(0, 1 - y f)`` for the decision value f and y = 1 or -1, or its
        square, which counts rows far on the wrong side more, as in `sklearn.svm.LinearSVC`.
    kernel : {'rbf', 'laplacian', 'exponential', 'matern32', 'matern52', 'poly', 'linear', \
'cosine', 'tanimoto', 'minmax', 'intersection', 'precomputed'}, Kernel or callable, \
default='rbf'
        A callable is called with two sets of rows and returns their kernel matrix.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Inverse width of the kernel. For exp(-d**2 / (2 h**2)), set gamma = 1 / (2 h**2). 'scale' is
        1 / (p * variance of X) for 'rbf' and 'poly', as in `sklearn.svm.SVC`, and 1 / median
        distance of the rows for the other kernels of distances; 'auto' is 1 / p.
    coef0 : float, default=0.0
        Constant term of 'poly'.
    class_weight : dict or 'balanced', default=None
        Factors on C by class.
    multi_class : {'auto', 'ovo', 'ovr'}, default='auto'
        How more than two classes are trained: one classifier for every pair of classes (one-vs-one,
        as in `sklearn.svm.SVC`), or for every class against all others (one-vs-rest). 'auto' is
        'ovo' if the solution is exact: a pair has few rows. For approximations, 'auto' is 'ovr',
        as every classifier costs a column there.
    probability : {'sigmoid', 'isotonic', 'temperature'}, bool or None, default=None
        How `predict_proba` turns decision values into probabilities: the calibrator, as in
        `sklearn.calibration.CalibratedClassifierCV`. It is fitted to out-of-fold decision values of
        about 10,000 rows (30,000 for 'isotonic'), at least a fifth of all rows. Exact models are
        the same as without `probability`; forests differ within their tolerance. True is 'sigmoid',
        and False is None.
    tol : float, default=None
        Relative duality gap at which training stops; refinement continues to a tenth of it.
        None: chosen from the data; see :doc:`/approximations`. It is 1e-3 on the exact kernel.
    solver : {'admm', 'paper'}, default='admm'
        'paper' is the published algorithm of Cipolla and Gondzio: a fixed number of iterations,
        regardless of `tol`.
    max_iter : int, default=None
        Maximum number of iterations of each binary problem, as `n_iter_` counts them: iterations
        of ADMM on the compressed kernel plus, on the exact kernel, steps of SMO as in
        `sklearn.svm.SVC`, or of the methods that replace it on few rows. The trees of a forest
        count separately. None means 1000 iterations of ADMM (10 for ``solver='paper'``), and no
        limit on the exact kernel.
    refine : bool or 'auto', default='auto'
        Whether to find the solution on the exact kernel, which needs the kernel values of n rows
        with all support vectors, a few times. With many rows and support vectors, it starts from
        the solution on the compressed kernel. 'auto' means True if all n * n values can be computed
        once in about a minute on two cores, and stops after five times that work. It counts
        operations instead of measuring time: the limit is 350,000 rows of 20 features in float32,
        250,000 in float64.
    max_time : float, default=None
        Seconds after which a fit stops iterating, with the best coefficients so far and their gap.
        It does not interrupt the compression.
    prediction : {'auto', 'compressed', 'exact'}, default='auto'
        The kernel for prediction: the compressed kernel needs the rows of one leaf, the exact
        kernel all support vectors. 'auto' is the kernel of the solution. 'exact' means one tree.
    scaling : {'standard', 'minmax', 'quantiles', 'learned', 'learned-quantiles'}, default=None
        Scales the features to variance 1, or to [0, 1], with factors computed in `fit`.
        Distance-based kernels need features of comparable scale. 'quantiles' replaces values by
        the normal scores of their ranks among the training rows, for dense rows with skewed
        features or outliers: a monotone, piecewise-linear map, constant beyond the training rows.
        'standard' and 'quantiles' give features with only two values, such as the columns of a
        one-hot encoding, a range of 1, so that rare levels do not dominate.
        'learned' standardizes, and also learns from the targets how much each feature should
        count: relevant features get large scales, and others nearly none. It uses at most 7,000
        rows, or 10,000 if there are at least 100,000, so that it takes seconds; some of them are
        held out to decide whether the scales are kept. It needs a kernel that depends on distances,
        such as 'rbf' or 'exponential'.
        As they depend on targets of all folds, out-of-fold values are slightly optimistic.
        'learned-quantiles' learns scales of the normal scores. See :doc:`/which_kernel`.
    approximation : Cells or HSS, default=None
        How to train if the solution is not exact: `Cells` are exact models of a few thousand rows
        each, `HSS` is a compressed kernel matrix. None means exact if that is affordable, see
        `refine`, and `Cells` otherwise, with parameters chosen from the data. An approximation
        means no exact solution, unless ``refine=True``, for which `HSS` has the parameters of the
        start. See :doc:`/approximations`.
    out_of_fold : bool, default=False
        Whether to compute `out_of_fold_decision_`, and the score that it implies. It takes about as
        long as the fit itself.
    memory_limit : float or str, default=None
        Maximum memory of a fit in addition to its rows, in bytes or as in ``"4GB"``. It applies to
        all stages: if necessary, refinement uses a smaller cache, the compressed matrix and its
        factor are stored in temporary files, and a fit that might still need more raises
        MemoryError before it starts. None means 2 GB for the cache, and no limit on the rest.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, to resume it after Ctrl-C or `max_time`, or
        to fit with other parameters. If only the number of trees of `approximation` has grown, its
        trees are kept, and the missing ones are added.
    random_state : int, RandomState or None, default=None
        Determines the samples of the tree and the compression. An int makes fits reproducible,
        unless `max_time` stops them.
    verbose : int, default=0
        1 shows the stages of a fit: as a progress bar in notebooks, else as log messages on stderr.
        2 adds all iterations and levels of the tree.

    Attributes
    ----------
    classes_ : (n_classes,) array
    support_ : (n_support,) array
        Indices of the support vectors, sorted by class in exact one-vs-one models.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (k, n_support) array
        Signed coefficients. k is the number of binary problems: 1 for two classes, else the number
        of classes if they are trained one-vs-rest, or of pairs of classes, one-vs-one. The pairs
        of exact models have n_classes - 1 rows here, packed as in `sklearn.svm.SVC`.
    coef_ : (k, p) array
        Weights of the features, for exact solutions with a linear kernel only.
    intercept_ : (k,) array
    n_support_ : (n_classes,) array
        Number of support vectors of each class.
    n_iter_ : (k,) array
        Number of iterations of each binary problem, at most `max_iter`: ADMM iterations on the
        compressed kernel (the maximum over the trees) plus steps on the exact kernel, of SMO or
        the methods that replace it on few rows. Reduced models do not have it.
    multi_class_ : {'ovo', 'ovr'}
        How more than two classes were trained.
    kernel_ : Kernel
        The kernel with the parameters used in the fit.
    feature_shift_, feature_factor_ : (p,) array or None
        The scaling: the kernel sees ``(x - shift) * factor`` of a feature or its normal score x.
    feature_quantiles_ : (2, p, m) array or None
        For normal scores: values of each feature, ascending, and their scores. Scores of other
        values are interpolated.
    background_, background_weight_ : array or CSR matrix (m, p), and (m,) array, or None
        About 20 training rows that stand for all, with their weights, for `explain`.
    feature_importances_ : (p,) array
        Learned scales of the features, divided by their sum; only if `scaling` is learned.
    out_of_fold_decision_ : (n,) or (n, n_classes) array
        Decision values of the training rows, each from a model that was trained without a fifth
        of the rows, this one included; with ``out_of_fold=True`` only. On the exact kernel, these
        models have a gap of 5 %. NaN for a row that is the only one of its class with a positive
        weight, or without one. Model files do not store it.
    calibration_ : tuple or None
        Method and curves of `predict_proba`.
    nonconformity_scores_ : (m,) array or None
        How untypical the rows are of their classes, for `predict_set`.
    fit_report_ : FitReport
        Gap, status, compression error, ranks, memory and seconds; `summary` returns it as text.
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

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multi_class: Literal["auto", "ovo", "ovr"] = "auto",
        probability: Literal["sigmoid", "isotonic", "temperature"] | bool | None = None,
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
        self.loss = loss
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
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

    _rules: ClassVar[Mapping[str, Rule]] = {
        **RULES,
        "loss": [word("hinge"), word("squared_hinge")],
    }

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
        >>> from hssvm import SVC
        >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
        >>> estimate = SVC(refine=False).estimate_cost(X, X[:, 0] > 0)
        >>> estimate.n_rows, estimate.memory < 1e9, estimate.advice
        (20000, True, ['No problem expected.'])
        """
        return self._estimate_cost(X, y)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
            float32 is not converted, and needs half the memory and time of float64.
        y : (n,) array-like
            Labels of any type.
        sample_weight : (n,) array-like, optional
            Factors on C by row.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit_task(self, data: FitInput) -> Classification:
        return self._task(data.y, data.weight, np.array([self.C], np.float64), self.multi_class)

    def _fitted_C(self) -> float:
        return self.C
