"""The support vector classifier with built-in cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from hssvm.estimators.callbacks import with_callbacks
from hssvm.estimators.classifier import Classifier
from hssvm.estimators.parameters import (
    GAMMA,
    NONE,
    POSITIVES,
    RULES,
    Rule,
    integer,
    sequence,
    without,
    word,
)
from hssvm.estimators.saving import has_form
from hssvm.estimators.warn import warn
from hssvm.hss import Compressor
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.results import cv_results
from hssvm.model_selection.search import Given, mean_scores
from hssvm.model_selection.selection import Selected, Selection
from hssvm.operators import HSSOperator
from hssvm.persistence import savable
from hssvm.persistence.archive import require
from hssvm.training import Classification, TrainingResult, train, train_on
from hssvm.training.checks import check_edge
from hssvm.training.precision import in_precision_of_rows
from hssvm.training.summary import counted


@savable
class SVCCV(Classifier):
    """`SVC` with C and gamma chosen by cross-validation.

    The kernel matrix is compressed once per gamma. A row is held out by setting the bound of its
    coefficient to 0, so folds, values of C and classes are all columns with the same factor, and
    the decision values of held-out rows are part of the solution. The labels of held-out rows are
    not used (except for the counts of ``class_weight="balanced"``); their features are used only
    for ``gamma="scale"`` and for the skeletons of the compression. With scaling, every fold is
    scaled by its own training rows, and has its own kernel matrix.

    By default, C and gamma are searched on a coarse and then a fine grid, with factors of 10 and
    3.2, starting at ``C=10, gamma="scale"`` and moving in the direction of better scores. The
    search uses at most 5,000 random rows; the final model is trained on all rows.

    Parameters
    ----------
    Cs : 'auto', int or sequence of float, default='auto'
        Values of C; 'auto' searches. An int is a number of values between 0.01 and 100, evenly
        spaced on a log scale.
    gammas : 'auto' or sequence, default='auto'
        Values of gamma, as in `SVC`; 'auto' searches.
    cv : int or splitter, default=5
    scoring : str or callable, default=None
        A scikit-learn scorer of classes or decision values; None means accuracy.
    max_time : float, default=None
        Time limit in seconds. A part of it, estimated while the folds are solved, is reserved for
        the final model: the search stops when only this part is left, with the best candidate so
        far.
    scaling : {'auto', 'standard', 'minmax'} or None, default='auto'
        Scales the features to variance 1, or to [0, 1], with factors computed in `fit`. 'auto' is
        'standard' if the scales of the features differ so much that the largest dominate, or if
        the first candidate of a search on dense rows scores better with it; else None.
    memory_limit : float or str, default=None
        As in `SVC`. Columns that do not fit are solved in blocks, at least those of one C at a
        time. None allows 2 GB for them.
    kernel, degree, coef0, class_weight, probability, tol, max_iter, refine, prediction, n_trees, \
leaf_size, max_rank, compressor, random_state, verbose
        As in `SVC`. The folds use the compressed kernel; only the final model is refined.

    Attributes
    ----------
    C_, gamma_ : float
        Values with the best mean score over the folds, the smoothest model in case of a tie.
    Cs_, gammas_ : arrays
        Values that were tried, ascending.
    scores_ : (n_gammas, n_Cs, n_folds) array
        NaN for pairs that were not tried.
    best_score_ : float
    best_params_ : dict
    best_index_ : int
        Index in `cv_results_`.
    cv_results_ : dict of arrays
        As in `sklearn.model_selection.GridSearchCV`.
    n_splits_ : int
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_, kernel_, \
fit_report_, n_features_in_
        As in `SVC`, with the best parameters, trained on all rows.

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
    }

    @without("shrinking", "decision_function_shape", "break_ties", "cache_size")
    def __init__(
        self,
        Cs: int | Sequence[float] | Literal["auto"] = "auto",
        *,
        gammas: Sequence[float | Literal["scale", "auto"]] | Literal["auto"] = "auto",
        cv: Any = 5,
        scoring: Any = None,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        probability: Literal["sigmoid", "isotonic", "temperature"] | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        prediction: Literal["auto", "compressed", "exact"] = "auto",
        scaling: Literal["auto", "standard", "minmax"] | None = "auto",
        n_trees: int | None = None,
        leaf_size: int | None = None,
        max_rank: int | None = None,
        compressor: Compressor | None = None,
        memory_limit: float | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.refine = refine
        self.max_time = max_time
        self.prediction = prediction
        self.scaling = scaling
        self.n_trees = n_trees
        self.leaf_size = leaf_size
        self.max_rank = max_rank
        self.compressor = compressor
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    _saved = ("Cs_", "gammas_", "scores_")

    solver: ClassVar[str] = "admm"

    def _fitted_C(self) -> float:
        return self.C_

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVCCV:
        """Select C and gamma, and train with them on all rows.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
        y : (n,) array-like
            Labels of any type.
        sample_weight : (n,) array-like, optional
            Factors on C by row; they also weight the scores.

        Returns
        -------
        self
        """
        with self._fitting() as monitor:
            X, codes, weight = self._check_fit(X, y, sample_weight)
            in_precision_of_rows(weight, X.dtype, "sample_weight")
            report, config = self._new_report(), self._config()
            selection = Selection(
                Cs=self.Cs,
                gammas=self.gammas,
                kernel=self.kernel,
                scaling=self.scaling,
                max_time=self.max_time,
                make_kernel=lambda gamma: self._kernel_with(lambda: gamma),
                X=X,
                codes=codes,
                weight=weight,
                task=self._task(codes, weight, np.ones(1)),
                folds=self._folds(X, codes, None if sample_weight is None else weight),
                config=config,
                report=report,
                monitor=monitor,
            )
            selected = selection.run()
            self.gammas_, self.Cs_, self.scores_ = selected.search.grid()
            self._set_results()
            self._warn_about_search(selection, selected)
            result = self._train_best(selection, selected)
            self._store(result)
            self._finish(result, codes, monitor)
            self._use_out_of_fold(result, codes, weight)
        return self

    def _train_best(self, selection: Selection, selected: Selected) -> TrainingResult:
        """Train with the best parameters; reuse the matrix of the folds if it has all rows.

        A forest has trees of its own.
        """
        gamma, C = selected.gamma, selected.C
        X = self._scale(selection.X, selected.scaling)
        kernel, solver = selection.make_kernel(gamma), selected.solver
        task = Classification(selection.task.class_weight, np.array([C]))
        problem = task.problem(X, selection.codes, selection.weight, kernel)
        same_rows = solver.unit_bound.shape[0] == X.shape[0]
        start = solver.starts.get((gamma, C)) if same_rows else None
        matrix = solver.matrix(gamma) if same_rows else None
        config, report, monitor = selection.config, selection.report, selection.monitor
        plan = config.plan_for(X, kernel)
        if matrix is not None and plan.direct(problem, kernel, X):
            matrix, config = None, replace(config, compressed_start=False)
        if matrix is None or plan.n_trees > 1:
            return train(problem, kernel, X, config, report, monitor, start)
        return train_on(HSSOperator(matrix), problem, plan, report, monitor, start)

    def _folds(self, X: Rows, codes: NDArray[np.int64], score_weight: Floats | None) -> Folds:
        y = self.classes_[codes]
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        self.n_splits_ = len(splits)
        return Folds(splits, y, self.classes_, self.scoring, score_weight)

    def _warn_about_search(self, selection: Selection, selected: Selected) -> None:
        """Warn if the search stopped early, or if the best value is the first or the last."""
        report, monitor, n_rows = selection.report, selection.monitor, selection.codes.size
        if selected.solver.cut_short:
            n_scored = int(np.count_nonzero(~np.isnan(mean_scores(self.scores_))))
            of = "" if selection.searches else f", of {self.gammas_.size * self.Cs_.size},"
            remedy = "" if self.max_time is None else "; raise max_time, or pass fewer values"
            scored = counted(n_scored, f"candidate{of} was", f"candidates{of} were")
            advice = f"The search was cut short: {scored} scored{remedy}."
            report.advice.append(advice)
            warn(advice, ConvergenceWarning)
            return
        g, c = map(int, np.unravel_index(self.best_index_, self.scores_.shape[:2]))
        if isinstance(selected.search.gammas, Given):
            monitor.advise(check_edge("gamma", self.scores_[:, c], g, n_rows), report)
        if isinstance(selected.search.Cs, Given):
            monitor.advise(check_edge("C", self.scores_[g], c, n_rows), report)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        self.n_splits_ = self.scores_.shape[-1]
        shape = (self.gammas_.size, self.Cs_.size, self.n_splits_)
        require(has_form(self.scores_, np.float64, shape), "scores_ is invalid")
        self._set_results()

    def _set_results(self) -> None:
        """Set the best parameters and `cv_results_` from `scores_`."""
        self.cv_results_ = cv_results(self.gammas_, self.Cs_, self.scores_)
        self.best_index_ = int(np.nanargmax(self.cv_results_["mean_test_score"]))
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.C_, self.gamma_ = self.best_params_["C"], self.best_params_["gamma"]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
