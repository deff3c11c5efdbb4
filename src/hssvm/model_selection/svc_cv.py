"""Cross-validation without refits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from hssvm._threads import with_serial_blas
from hssvm.estimators.base import gamma_of_rows
from hssvm.estimators.callbacks import FitTasks, logging_to_stderr, with_callbacks
from hssvm.estimators.checks import FEW_ROWS, check_edge, warn_about
from hssvm.estimators.parameters import (
    GAMMA,
    NONE,
    POSITIVE,
    POSITIVES,
    RULES,
    Rule,
    as_scalar,
    integer,
    sequence,
    without,
    word,
)
from hssvm.estimators.precision import in_precision_of_rows
from hssvm.estimators.report import FitReport
from hssvm.estimators.saving import has_form
from hssvm.estimators.scaling import Scaling
from hssvm.estimators.svc import Classifier
from hssvm.estimators.warn import warn
from hssvm.hss import Strategy
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.fold_solver import FoldSolver
from hssvm.model_selection.folds import Folds, sample_rows
from hssvm.model_selection.search import Axis, Free, Given, Search, mean_scores
from hssvm.persistence.archive import require

FOLD_TOL = 1e-2
"""Gap at which the columns of the folds stop, if `tol` is smaller: scores do not need more. On
20,000 rows of ijcnn1 they are as far from those of separate fits with 1e-3, in half the time."""

SEARCH_ROWS, SEARCH_ITER = 5_000, 100
"""Rows, and iterations of the folds, at most, where C or gamma is 'auto': the final fit is on all
rows, and to `tol`."""

FIRST_C = 2
"""The walk begins at C = 10."""


class SVCCV(Classifier):
    """`SVC` with C and gamma chosen by cross-validation.

    The kernel matrix is compressed once per gamma. A row that a fold holds out is one whose
    coefficient must be 0, so folds, values of C and classes are all columns on one factor, and
    nothing is refitted; the decision values of held-out rows come with the solution. Labels of
    held-out rows are not used (but for the counts of ``class_weight="balanced"``), their features
    only for scaling, the width 'scale' and to choose the skeletons of the compression.

    Without values to choose from, C and gamma are searched from coarse to fine, a factor of 10 and
    then of 3.2 apart, beginning at ``C=10, gamma="scale"`` and going wherever the score rises. The
    search uses at most 5,000 random rows, and the final model is trained on all of them.

    Parameters
    ----------
    Cs : 'auto', int or sequence of float, default='auto'
        'auto' searches. A number stands for so many values between 0.01 and 100, evenly spaced on a
        log scale.
    gammas : 'auto' or sequence, default='auto'
        'auto' searches. A sequence is of values as `SVC` takes them. One, which is not used, for
        kernels without a gamma.
    cv : int or splitter, default=5
    scoring : str or callable, default=None
        A scikit-learn scorer of classes or decision values; None is the accuracy.
    column_memory : float, default=2e9
        Bytes for the columns that are solved at once; more columns are solved in blocks, of at
        least the folds and classes of one C.
    max_time : float, default=None
        Seconds. Part of them, measured while the folds are solved, is reserved for the final model:
        the search ends when no more than that is left, with the best that has been scored.
    scaling : {'auto', 'standard', 'minmax'} or None, default='auto'
        Of the features, learned in `fit`: to variance 1, or to [0, 1]. 'auto' is 'standard' if
        some of the features are too small beside the others to matter, or if a search finds that
        the first candidate scores better with it on dense rows; else None.
    kernel, degree, coef0, class_weight, tol, max_iter, beta, refine, cache_size, prediction, \
leaf_size, max_rank, rtol, surplus, compression, random_state, verbose
        As in `SVC`. The folds use the compressed kernel; refined is the model for the best
        parameters.

    Attributes
    ----------
    C_, gamma_ : float
        The best, as the mean score over the folds has it; of equals the smoothest.
    Cs_, gammas_ : arrays
        Values that were tried, ascending.
    scores_ : (n_gammas, n_Cs, n_folds) array
        NaN for pairs that were not tried.
    best_score_ : float
    best_params_ : dict
    best_index_ : int
        Into `cv_results_`.
    cv_results_ : dict of arrays
        As in `sklearn.model_selection.GridSearchCV`.
    n_splits_ : int
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_, kernel_, \
fit_report_, n_features_in_
        Of an `SVC` with the best parameters, trained on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVCCV
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = SVCCV(random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.97)
    True
    >>> model = SVCCV(Cs=[1, 10], gammas=[0.1, 1], random_state=0).fit(X, y)
    >>> model.scores_.shape
    (2, 2, 5)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **RULES,
        "Cs": [word("auto"), integer(1), POSITIVES],
        "gammas": [
            word("auto"),
            sequence("a non-empty sequence of 'scale', 'auto' or positive numbers", GAMMA),
        ],
        "scaling": [NONE, word("auto"), word("standard"), word("minmax")],
        "column_memory": [POSITIVE],
        "tol": [POSITIVE],
    }

    @without("probability", "shrinking", "decision_function_shape", "break_ties")
    def __init__(
        self,
        Cs: int | Sequence[float] | Literal["auto"] = "auto",
        *,
        gammas: Sequence[float | Literal["scale", "auto"]] | Literal["auto"] = "auto",
        cv: Any = 5,
        scoring: Any = None,
        column_memory: float = 2e9,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        beta: float | Literal["paper"] | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        cache_size: float = 2000,
        prediction: Literal["auto", "leafwise", "exact"] = "auto",
        scaling: Literal["auto", "standard", "minmax"] | None = "auto",
        leaf_size: int = 256,
        max_rank: int | None = None,
        rtol: float = 1e-3,
        surplus: float = 0.125,
        compression: Strategy | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.column_memory = column_memory
        self.kernel = kernel
        self.degree = degree
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
        self.random_state = random_state
        self.verbose = verbose

    _saved = (*Classifier._saved, "Cs_", "gammas_", "scores_")

    def _C(self) -> float:
        return self.C_

    @with_callbacks
    @with_serial_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVCCV:
        """Choose C and gamma, and train with them on all rows.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
        y : (n,) array-like
            Labels of any type.
        sample_weight : (n,) array-like, optional
            Factors on C by row; they also weigh the scores.

        Returns
        -------
        self
        """
        tasks = self._tasks()
        with logging_to_stderr(self.verbose):
            X, codes, weight, cost = self._check_fit(X, y, sample_weight)
            folds = self._folds(X, codes, None if sample_weight is None else weight)
            unit_bound = self._signs(codes, X.dtype) * in_precision_of_rows(
                cost[:, None], X.dtype, "sample_weight"
            )
            report, seed = self._report(), self._seed()
            given = unit_bound, codes, folds, report, tasks, seed
            scaling = Scaling.of(X, "standard" if self._may_standardize(X) else None)
            if scaling.factor is not None and self._is_better(scaling(X), X, weight, *given):
                self.feature_shift_, self.feature_factor_ = scaling.shift, scaling.factor
                X = scaling(X)
            gammas, Cs = self._axes(X, weight)
            for position in Cs.required:
                in_precision_of_rows(Cs.value(position) * cost, X.dtype, "C")
            refine = self._refines(X, self._kernel_with(lambda: gammas.value(gammas.start)))
            solver = self._fold_solver(X, *given)
            search = Search(gammas, Cs, solver.score, solver.stopped)
            search.run()
            gamma, C = search.best()
            self.gammas_, self.Cs_, self.scores_ = search.grid()
            self._set_results()
            self._warn_about_search(gammas, Cs, len(codes), solver.cut_short, report)
            matrix, start = solver.matrices[gamma], solver.starts.get((gamma, C))
            if solver.X.shape[0] < X.shape[0]:
                start, kernel = None, matrix.kernel
                tree = self._build_tree(X, report, seed)
                matrix = self._compress(X, kernel, tree, report, seed, as_start=refine)
                tasks.done("compress")
            bound = unit_bound * X.dtype.type(C)
            self._train(matrix, bound, codes, report, tasks, seed, start, refine=refine)
        tasks.end()
        return self

    @property
    def _searches(self) -> bool:
        """Whether there are values to find; if not, all are given."""
        return isinstance(self.Cs, str) or (isinstance(self.gammas, str) and self._has_gamma)

    @property
    def _has_gamma(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel in self._kernels

    def _axes(self, X: Rows, weight: Floats) -> tuple[Axis, Axis]:
        """Return the values of gamma and of C to score, or to start from."""
        Cs: Axis
        count = as_scalar(self.Cs)
        if isinstance(self.Cs, str):
            Cs = Free(1.0, start=FIRST_C)
        elif isinstance(count, int):
            Cs = Given(np.logspace(-2, 2, count).tolist())
        else:
            Cs = Given(np.unique(self.Cs).tolist())
        if not self._has_gamma:
            if not isinstance(self.gammas, str) and len(self.gammas) > 1:
                raise ValueError(
                    f"kernel {self.kernel!r} has no gamma to choose; give one in gammas"
                )
            return Given([math.nan]), Cs
        if isinstance(self.gammas, str):
            return Free(gamma_of_rows("scale", X, weight)), Cs
        return Given(sorted({gamma_of_rows(gamma, X, weight) for gamma in self.gammas})), Cs

    def _may_standardize(self, X: Rows) -> bool:
        """Whether the search decides about scaling: of dense rows that are not scaled already."""
        return (
            self._searches
            and self.scaling == "auto"
            and self.feature_factor_ is None
            and not scipy.sparse.issparse(X)
            and X.shape[0] >= FEW_ROWS
        )

    def _is_better(self, X: Rows, other: Rows, weight: Floats, *given: Any) -> bool:
        """Whether the first candidate of the search has a better score on `X`."""
        means = []
        for rows in (X, other):
            gammas, Cs = self._axes(rows, weight)
            solver = self._fold_solver(rows, *given)
            scores = solver.score(gammas.value(gammas.start), [Cs.value(Cs.start)])
            means.append(float(mean_scores(scores)[0]))
        return means[0] > means[1]

    def _folds(self, X: Rows, codes: NDArray[np.int64], score_weight: Floats | None) -> Folds:
        y = self.classes_[codes]
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        self.n_splits_ = len(splits)
        return Folds(splits, y, self.classes_, self.scoring, score_weight)

    def _fold_solver(
        self,
        X: Rows,
        unit_bound: Floats,
        codes: NDArray[np.int64],
        folds: Folds,
        report: FitReport,
        tasks: FitTasks,
        seed: int,
    ) -> FoldSolver:
        """Return a solver of the folds: of all rows, or of a sample where values are searched."""
        n_final, max_iter = X.shape[0], self.max_iter
        if self._searches:
            max_iter = min(max_iter, SEARCH_ITER)
            if n_final > SEARCH_ROWS:
                rows = folds.with_tests(sample_rows(codes, SEARCH_ROWS, seed))
                X, unit_bound, folds = X[rows], unit_bound[rows], folds.among(rows)
        tree = self._build_tree(X, report, seed)
        return FoldSolver(
            model=self,
            X=X,
            tree=tree,
            unit_bound=unit_bound,
            folds=folds,
            tol=self.tol if tree.depth == 0 else max(self.tol, FOLD_TOL),
            max_iter=max_iter,
            tasks=tasks,
            report=report,
            seed=seed,
            n_final=n_final,
            keep_all=self._searches,
        )

    def _warn_about_search(
        self, gammas: Axis, Cs: Axis, n_rows: int, cut_short: bool, report: FitReport
    ) -> None:
        """Warn if the search ended early, or at the end of the values."""
        if cut_short:
            n_scored = np.count_nonzero(~np.isnan(mean_scores(self.scores_)))
            of = "" if self._searches else f" of {self.gammas_.size * self.Cs_.size}"
            remedy = "" if self.max_time is None else "; raise max_time, or give fewer values"
            advice = f"The search was cut short: {n_scored}{of} candidates were scored{remedy}."
            report.advice.append(advice)
            warn(advice, ConvergenceWarning)
            return
        g, c = map(int, np.unravel_index(self.best_index_, self.scores_.shape[:2]))
        if isinstance(gammas, Given):
            warn_about(check_edge("gamma", self.scores_[:, c], g, n_rows), report)
        if isinstance(Cs, Given):
            warn_about(check_edge("C", self.scores_[g], c, n_rows), report)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        self.n_splits_ = self.scores_.shape[-1]
        shape = (self.gammas_.size, self.Cs_.size, self.n_splits_)
        require(has_form(self.scores_, np.float64, shape), "scores_ does not fit")
        self._set_results()

    def _set_results(self) -> None:
        """Set the choice and `cv_results_` from `scores_`."""
        mean, std = mean_scores(self.scores_).ravel(), self.scores_.std(axis=2).ravel()
        gamma, C = (a.ravel() for a in np.meshgrid(self.gammas_, self.Cs_, indexing="ij"))
        self.best_index_ = int(np.nanargmax(mean))
        self.C_, self.gamma_ = float(C[self.best_index_]), float(gamma[self.best_index_])
        self.best_score_ = float(mean[self.best_index_])
        self.best_params_ = {"C": self.C_, "gamma": self.gamma_}
        self.cv_results_ = {
            "params": [{"C": float(c), "gamma": float(g)} for c, g in zip(C, gamma, strict=True)],
            "param_C": C,
            "param_gamma": gamma,
            **{
                f"split{f}_test_score": self.scores_[:, :, f].ravel() for f in range(self.n_splits_)
            },
            "mean_test_score": mean,
            "std_test_score": std,
            "rank_test_score": (mean[:, None] < mean).sum(axis=1)
            + np.where(np.isnan(mean), mean.size, 1),
        }
