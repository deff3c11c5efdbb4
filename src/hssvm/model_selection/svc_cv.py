"""Cross-validation without refits."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from hssvm._threads import with_serial_blas
from hssvm.estimators.base import gamma_of_rows
from hssvm.estimators.callbacks import FitTasks, logging_to_stderr, with_callbacks
from hssvm.estimators.parameters import (
    GAMMA,
    POSITIVE,
    POSITIVES,
    RULES,
    Rule,
    as_scalar,
    integer,
    sequence,
    without,
)
from hssvm.estimators.report import FitReport
from hssvm.estimators.saving import has_form
from hssvm.estimators.svc import Classifier
from hssvm.hss import HSSMatrix, Strategy
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.folds import Folds
from hssvm.persistence.archive import require
from hssvm.problems import SVCProblem
from hssvm.solvers import ADMM

logger = logging.getLogger(__name__)

FOLD_TOL = 1e-2
"""Gap at which the columns of the folds stop, if `tol` is smaller: scores do not need more. On
20,000 rows of ijcnn1 they are as far from those of separate fits with 1e-3, in half the time."""

ARRAYS = 12
"""Arrays of (n, columns) numbers that a block of columns takes while it is solved."""


class SVCCV(Classifier):
    """`SVC` with C and gamma chosen by cross-validation.

    The kernel matrix of all rows is compressed once per gamma. A row that a fold holds out is one
    whose coefficient must be 0, so folds, values of C and classes are all columns on one factor,
    and nothing is refitted; the decision values of held-out rows come with the solution. Labels of
    held-out rows are not used (but for the counts of ``class_weight="balanced"``), their features
    only for the width 'scale' and to choose the skeletons of the compression.

    Parameters
    ----------
    Cs : int or sequence of float, default=10
        A number stands for so many values between 0.01 and 100, evenly spaced on a log scale.
    gammas : sequence, default=('scale',)
        Of values as `SVC` takes them. One, which is not used, for kernels without a gamma.
    cv : int or splitter, default=5
    scoring : str or callable, default=None
        A scikit-learn scorer of classes or decision values; None is the accuracy.
    column_memory : float, default=2e9
        Bytes for the columns that are solved at once; more columns are solved in blocks, of at
        least the folds and classes of one C.
    kernel, degree, coef0, class_weight, tol, max_iter, beta, refine, max_time, cache_size, \
prediction, scaling, leaf_size, max_rank, rtol, surplus, compression, random_state, verbose
        As in `SVC`. The folds use the compressed kernel; refined is the model for the best
        parameters.

    Attributes
    ----------
    C_, gamma_ : float
        The best, as the mean score over the folds has it; of equals the smoothest.
    Cs_, gammas_ : arrays
    scores_ : (n_gammas, n_Cs, n_folds) array
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
    >>> model = SVCCV(Cs=[0.1, 1, 10], gammas=[0.1, 1], random_state=0).fit(X, y)
    >>> model.scores_.shape
    (2, 3, 5)
    >>> bool(model.best_score_ > 0.97)
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **RULES,
        "Cs": [integer(1), POSITIVES],
        "gammas": [sequence("a non-empty sequence of 'scale', 'auto' or positive numbers", GAMMA)],
        "column_memory": [POSITIVE],
        "tol": [POSITIVE],
    }

    @without("probability", "shrinking", "decision_function_shape", "break_ties")
    def __init__(
        self,
        Cs: int | Sequence[float] = 10,
        *,
        gammas: Sequence[float | Literal["scale", "auto"]] = ("scale",),
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
        scaling: Literal["standard", "minmax"] | None = None,
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
            self._check_grid(X, weight)
            y = self.classes_[codes]
            splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
            self.n_splits_ = len(splits)
            report, seed = self._report(), self._seed()
            refine = self._refines(X, self._make_kernel(X, weight, self.gammas_[0]))
            tree = self._build_tree(X, report, seed)
            unit_bound = self._signs(codes, X.dtype) * cost.astype(X.dtype)[:, None]
            score_weight = None if sample_weight is None else weight
            folds = Folds(splits, y, self.classes_, self.scoring, score_weight)
            self.scores_ = np.empty((self.gammas_.size, self.Cs_.size, len(splits)))
            best, winner = -np.inf, None
            for g, gamma in enumerate(self.gammas_):
                kernel = self._make_kernel(X, weight, gamma)
                matrix = self._compress(X, kernel, tree, report, seed)
                tasks.done("compress")
                start = self._solve_folds(matrix, unit_bound, folds, self.scores_[g], report, tasks)
                means = mean_scores(self.scores_[g])
                logger.info("gamma %g: best mean score %.4f", gamma, means.max())
                if np.max(means, where=~np.isnan(means), initial=-np.inf) > best:
                    best, winner = np.nanmax(means), (matrix, start[int(np.nanargmax(means))])
                del matrix, start
            if winner is None:
                raise ValueError(
                    "no parameters have a score in every fold; if a fold has rows of one class "
                    "only, take fewer folds or another scoring"
                )
            self._set_results()
            matrix, start_best = winner
            bound = unit_bound * X.dtype.type(self.C_)
            self._train(matrix, bound, codes, report, tasks, seed, start_best, refine=refine)
        tasks.end()
        return self

    def _check_grid(self, X: Rows, weight: Floats) -> None:
        """Set `Cs_` and `gammas_`."""
        count = as_scalar(self.Cs)
        if isinstance(count, int):
            self.Cs_ = np.logspace(-2, 2, count)
        else:
            self.Cs_ = np.sort(np.ravel(self.Cs))
        if isinstance(self.kernel, str) and self.kernel in self._kernels:
            self.gammas_ = np.sort([gamma_of_rows(gamma, X, weight) for gamma in self.gammas])
        elif len(self.gammas) == 1:
            self.gammas_ = np.array([np.nan])
        else:
            raise ValueError(f"kernel {self.kernel!r} has no gamma to choose; give one in gammas")

    def _solve_folds(
        self,
        matrix: HSSMatrix,
        unit_bound: Floats,
        folds: Folds,
        scores: NDArray[np.float64],
        report: FitReport,
        tasks: FitTasks,
    ) -> list[Floats]:
        """Write the scores (n_Cs, n_folds); return the mean coefficients of the folds by C."""
        n, n_classes = unit_bound.shape
        one_C = folds.bounds(unit_bound)
        columns = self.column_memory / (ARRAYS * n * unit_bound.dtype.itemsize)
        per_block = max(1, int(columns / one_C.shape[1]))
        solver = ADMM(
            tol=self.tol if matrix.tree.depth == 0 else max(self.tol, FOLD_TOL),
            max_iter=self.max_iter,
            callback=tasks.after_look,
        )
        means: list[Floats] = []
        for begin in range(0, self.Cs_.size, per_block):
            Cs = self.Cs_[begin : begin + per_block].astype(unit_bound.dtype)
            problem = SVCProblem((one_C[:, None, :] * Cs[:, None]).reshape(n, -1))
            system = self._factor(matrix, problem, report)
            with report.stage("folds", goal=solver.tol):
                solution = solver.solve(problem, system)
            shape = (n, Cs.size, self.n_splits_, n_classes)
            values = (solution.F + solution.intercept.astype(unit_bound.dtype)).reshape(shape)
            for c in range(Cs.size):
                scores[begin + c] = folds.scores(values[:, c])
            means += list(np.moveaxis(solution.Z.reshape(shape).mean(axis=2), 1, 0))
        return means

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


def mean_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the folds, without the last digits: rounding must not decide between equals."""
    return scores.mean(axis=-1).round(12)
