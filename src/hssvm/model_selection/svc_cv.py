"""The support vector classifier with built-in cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.base import FitInput
from hssvm.estimators.classifier import Classifier
from hssvm.estimators.inputs.containers import as_indexable
from hssvm.estimators.monitoring.callbacks import with_callbacks
from hssvm.estimators.svc import SVC
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.base import BaseSearch
from hssvm.model_selection.failed_folds import find_failed_folds, warn_about_missing_classes
from hssvm.model_selection.families import Candidate
from hssvm.model_selection.fold_models import ClassificationFolds, PairFolds
from hssvm.persistence.archive import require
from hssvm.training import Approximation, Classification
from hssvm.training.data.precision import in_precision_of_rows


class SVCCV(BaseSearch, Classifier):
    """The mean of the best few `SVC`, with everything chosen by cross-validation.

    By default, three kernels on plain and on learned scales are compared, C and gamma of each are
    searched, and up to four of the best models are averaged. A single model has
    ``max_members=1``, or one kernel and one scaling.

    The search has rounds: many candidates on few rows, then the best of them on more, as in
    `sklearn.model_selection.HalvingGridSearchCV`. Every combination of a kernel and a scaling
    starts on 2,000 random rows at ``C=10, gamma="scale"``. The best of them move in the direction
    of better scores, first by factors of 10, then, on more rows, by factors of 3.2; those that are
    clearly beaten stop early. The last round has half of the rows, at least 5,000, and at most
    60,000 if the final models have cells, or 30,000 of few features if they are exact. The final
    models are trained on all rows; they are exact if up to `max_members` of them are affordable.

    The folds are trained on the exact kernel, or, with more than 8,000 rows, in cells if the final
    model has cells. The labels of held-out rows are not used (except for the counts of
    ``class_weight="balanced"``), and their features only for ``gamma="scale"``. Every fold is
    scaled by its own training rows.

    All pairs of given values are scored. If there are more than three, only the best are scored
    on all rows, or as many as are affordable.

    Parameters
    ----------
    Cs : 'auto', int or sequence of float, default='auto'
        Values of C; 'auto' searches. An int is a number of values between 0.01 and 100, evenly
        spaced on a log scale.
    gammas : 'auto' or sequence, default='auto'
        Values of gamma, as in `SVC`; 'auto' searches.
    cv : int or splitter, default=5
        An int is a number of stratified folds of shuffled rows. (In scikit-learn, they are not
        shuffled; pass ``StratifiedKFold(5)`` for that. Files are often sorted.)
    scoring : str, callable, list, tuple or dict, default=None
        Scores of scikit-learn, as in `sklearn.model_selection.GridSearchCV`; None means accuracy.
        Scores of probabilities need `probability`. Callables receive a classifier that was trained
        without the fold, and the rows of the fold as they were passed to `fit`.
    max_members : int, default=4
        Maximum number of models that are trained on all rows and averaged: the best candidates
        of different kernels and scalings. There are fewer if the mean of more clearly scores lower
        in the folds, and only one if `refit` is a callable. Means of cells have about eight trees.
    refit : True, str or callable, default=True
        With several scores, the name of the score that the search maximizes, or, if `Cs` and
        `gammas` are lists, a function of `cv_results_` that returns the index of the best
        candidate. Scores of different rounds (`iter`) have different numbers of rows.
    error_score : float or 'raise', default=nan
        Score of a fold if a scorer raises an error, or if the fold cannot be trained because its
        training rows have only one class. A candidate with a score of NaN is not chosen.
    max_time : float, default=None
        Time limit in seconds. A part of it, estimated while the folds are solved, is reserved for
        the final model: the search stops when only this part is left, with the best candidate so
        far.
    kernel : 'auto', str, Kernel, callable, or list of these, default='auto'
        As in `SVC`; the kernels of a list are compared. On tables (dense rows of at most 300
        features, and at least 100 of them) with ``gammas='auto'``, 'auto' is
        ``['rbf', 'exponential', 'laplacian']``; otherwise, it is 'rbf'.
    scaling : {'auto', 'standard', 'minmax', 'quantiles', 'learned', 'learned-quantiles', None}, \
or list of these, default='auto'
        As in `SVC`; the scalings of a list are compared. Every fold computes its scaling from its
        own training rows. 'auto' is 'standard' if the scales of the features differ
        so much that the largest dominate; otherwise, a search on dense rows compares None with
        'standard', and all else is None. On tables with ``gammas='auto'``, kernels of distances
        are also compared with 'quantiles', 'learned' and 'learned-quantiles'. Learned scales are
        judged by the scores of the folds alone.
    memory_limit : float or str, default=None
        As in `SVC`. Folds that do not fit are trained in blocks, each with all folds of at least
        one C. None allows 2 GB for them.
    degree, coef0, class_weight, multi_class, probability, tol, max_iter, refine, prediction, \
approximation, random_state, verbose
        As in `SVC`; most of them apply only to the final model. Unless `multi_class` is 'ovr', the
        folds are one-vs-one.

    Attributes
    ----------
    C_, gamma_ : float
        Values with the best mean score over the folds, the smoothest model in case of a tie.
        `gamma_` is NaN for kernels without one, which `best_params_` leaves out.
    scaling_ : str or None
        The chosen scaling.
    family_ : str or None
        The chosen kernel and scaling, if there were several to choose from.
    Cs_, gammas_ : arrays
        Values that were tried with this kernel and scaling, ascending.
    scores_ : (n_gammas, n_Cs, n_folds) array
        Scores of the last round in which a pair was scored; NaN for pairs that were not tried.
    best_score_ : float
        Mean score of the best candidate over the folds of its last round. A model that is trained
        on all rows often scores higher; on the exact kernel, without `memory_limit`,
        ``fit_report_.out_of_fold_score`` estimates its accuracy.
    best_n_rows_ : int
        Total number of rows of these folds.
    best_params_ : dict
        C and gamma; kernel and scaling if several were compared.
    best_index_ : int
        Index in `cv_results_`.
    cv_results_ : dict of arrays
        As in `sklearn.model_selection.HalvingGridSearchCV`, with the candidates of all rounds
        (`iter`) and the numbers of rows (`n_resources`); candidates of later rounds rank first.
        Candidates are trained together, and share the time.
    multimetric_ : bool
    n_splits_ : int
    members_ : list of SVC
        The models of which this one is the mean, the best first; only the model itself if there is
        one.
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_, kernel_, \
calibration_, nonconformity_scores_, fit_report_, n_features_in_
        As in `SVC`, with the best parameters, trained on all rows. The mean of several models has
        the attributes of the support vectors and the kernel only in its members.

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
    >>> model = SVCCV(kernel=["linear", "rbf"], scaling=None, max_members=1, random_state=0)
    >>> model.fit(X, y).best_params_["kernel"]
    'rbf'
    """

    _default_scoring = "accuracy"
    _member_class = SVC

    def __init__(
        self,
        Cs: int | Sequence[float] | Literal["auto"] = "auto",
        *,
        gammas: Sequence[float | Literal["scale", "auto"]] | Literal["auto"] = "auto",
        cv: Any = 5,
        scoring: Any = None,
        max_members: int = 4,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        error_score: float | Literal["raise"] = np.nan,
        kernel: Any = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multi_class: Literal["auto", "ovo", "ovr"] = "auto",
        probability: Literal["sigmoid", "isotonic", "temperature"] | bool | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        prediction: Literal["auto", "compressed", "exact"] = "auto",
        scaling: Any = "auto",
        approximation: Approximation | None = None,
        memory_limit: float | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.max_members = max_members
        self.refit = refit
        self.error_score = error_score
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.refine = refine
        self.max_time = max_time
        self.prediction = prediction
        self.scaling = scaling
        self.approximation = approximation
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    def _fitted_C(self) -> float:
        return self.C_

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> SVCCV:
        """Select the parameters, and train with them on all rows.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
        y : (n,) array-like
            Labels of any type.
        sample_weight : (n,) array-like, optional
            Factors on C by row; they also weight the scores, if the scorer accepts them.
        **params
            ``groups`` for the splitter; with metadata routing, whatever splitter and scorers ask
            for.

        Returns
        -------
        self
        """
        routed = self._route(params, sample_weight)
        with self._fitting(X, y, sample_weight) as monitor:
            given_X = as_indexable(X)
            X, codes, weight, points = self._check_fit(X, y, sample_weight)
            in_precision_of_rows(weight, X.dtype, "sample_weight")
            classification = self._task(codes, weight, np.ones(1), self.multi_class)
            folds = self._make_folds(given_X, self.classes_[codes], routed, classifier=True)
            fold_task = self._fold_task(given_X, X, codes, weight, classification)
            failed_folds = find_failed_folds(
                folds, fold_task, self.error_score, allow_nan=callable(self.refit)
            )
            warn_about_missing_classes(
                folds, failed_folds, np.where(weight > 0, codes, -1), self.classes_
            )
            selection = self._search(
                points,
                X=X,
                strata=codes,
                weight=weight,
                C_unit=1.0,
                task=fold_task,
                folds=folds,
                scoring=self._make_scoring(
                    given_X,
                    self.classes_[codes],
                    routed,
                    None if sample_weight is None else weight,
                    failed_folds,
                ),
                monitor=monitor,
            )
            self._train_members(selection, FitInput(X, codes, weight, None))
        return self

    def _new_member(self, candidate: Candidate, others: Sequence[Any]) -> SVC:
        member: SVC = super()._new_member(candidate, others)
        if others:
            member.set_params(multi_class=others[0].multi_class_)
        return member

    def _become(self, members: Sequence[Any]) -> None:
        super()._become(members)
        self.multi_class_ = members[0].multi_class_

    @property
    def _one_vs_one(self) -> bool:
        return not self._members and super()._one_vs_one  # members have values by class

    @property
    def _rows_at_once(self) -> int | None:
        if not self._members:
            return super()._rows_at_once
        return self._members[0]._rows_at_once  # noqa: SLF001, of the same class

    def _fold_task(
        self,
        given_X: Any,
        X: Rows,
        codes: NDArray[np.int64],
        weight: Floats,
        classification: Classification,
    ) -> ClassificationFolds:
        pairs = self.classes_.size > 2 and self.multi_class != "ovr"
        return (PairFolds if pairs else ClassificationFolds)(
            given_X,
            self._parameters_of(SVC),
            self._validated(),
            weight,
            codes,
            self.classes_,
            classification,
            X.dtype,
        )

    def _check_saved(self) -> None:
        super()._check_saved()
        same = all(np.array_equal(member.classes_, self.classes_) for member in self._members)
        require(same, "its members have different classes")
        self._restore_results()
