"""Support vector regression with built-in cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from hssvm.estimators.inputs.parameters import RULES, Rule, word
from hssvm.estimators.svr import SVR
from hssvm.model_selection.base import SEARCH_RULES
from hssvm.model_selection.families import Candidate
from hssvm.model_selection.regression_folds import RegressionFolds
from hssvm.model_selection.regression_search import RegressionSearch
from hssvm.persistence.archive import require
from hssvm.training import Approximation, Regression

TUBE = 0.1
"""First value of epsilon='auto', relative to the standard deviation of y."""


class SVRCV(RegressionSearch):
    """The mean of the best few `SVR`, with everything chosen by cross-validation.

    It searches like `SVCCV`, and epsilon, too, which should suit the noise of y. The values of C
    and epsilon are multiples of the standard deviation of y, so that y need not be scaled.

    Parameters
    ----------
    Cs : 'auto', int or sequence of float, default='auto'
        Values of C; 'auto' searches. An int is a number of values between 0.01 and 100 standard
        deviations of y, evenly spaced on a log scale.
    gammas : 'auto' or sequence, default='auto'
        Values of gamma, as in `SVR`; 'auto' searches.
    epsilon : float or 'auto', default='auto'
        Half-width of the tube without loss, in units of y. 'auto' starts at a tenth of the standard
        deviation of y. If C or gamma is searched, the best epsilon of the best candidate of the
        first round, within factors of 3.2, is the epsilon of all later ones.
    cv : int or splitter, default=5
        An int is a number of folds of shuffled rows.
    scoring : str, callable, list, tuple or dict, default=None
        As in `SVCCV`; None means R^2.
    max_members, refit, error_score, max_time, kernel, scaling, memory_limit
        As in `SVCCV`.
    degree, coef0, tol, max_iter, refine, prediction, approximation, out_of_fold, \
random_state, verbose
        As in `SVR`; most of them apply only to the final model.

    Attributes
    ----------
    C_, gamma_ : float
        Values with the best mean score over the folds, the smoothest model in case of a tie.
    epsilon_ : float
    scaling_, family_, Cs_, gammas_, scores_, best_score_, best_n_rows_, best_params_, \
best_index_, cv_results_, multimetric_, n_splits_
        As in `SVCCV`.
    members_ : list of SVR
        As in `SVCCV`.
    support_, support_vectors_, dual_coef_, intercept_, n_iter_, kernel_, fit_report_, \
out_of_fold_decision_, nonconformity_scores_, n_features_in_
        As in `SVR`, with the best parameters, trained on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVRCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (1000, 1))
    >>> y = 50 * np.sin(2 * X[:, 0]) + 5 * rng.standard_normal(1000)
    >>> model = SVRCV(random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.97)
    True
    """

    _default_scoring = "r2"
    _member_class = SVR
    _rules: ClassVar[Mapping[str, Rule]] = {
        **RULES,
        **SEARCH_RULES,
        "epsilon": [word("auto"), *RULES["epsilon"]],
    }

    def __init__(
        self,
        Cs: int | Sequence[float] | Literal["auto"] = "auto",
        *,
        gammas: Sequence[float | Literal["scale", "auto"]] | Literal["auto"] = "auto",
        epsilon: float | Literal["auto"] = "auto",
        cv: Any = 5,
        scoring: Any = None,
        max_members: int = 4,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        error_score: float | Literal["raise"] = np.nan,
        kernel: Any = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float | None = None,
        max_iter: int | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        prediction: Literal["auto", "compressed", "exact"] = "auto",
        scaling: Any = "auto",
        approximation: Approximation | None = None,
        out_of_fold: bool = False,
        memory_limit: float | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.epsilon = epsilon
        self.cv = cv
        self.scoring = scoring
        self.max_members = max_members
        self.refit = refit
        self.error_score = error_score
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.refine = refine
        self.max_time = max_time
        self.prediction = prediction
        self.scaling = scaling
        self.approximation = approximation
        self.out_of_fold = out_of_fold
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    def _fitted_task(self) -> Regression:
        return Regression(self.C_, self.epsilon_)

    def _fold_task(self, inputs: dict[str, Any], spread: float) -> RegressionFolds:
        searched = isinstance(self.epsilon, str)
        epsilon = TUBE * spread if isinstance(self.epsilon, str) else float(self.epsilon)
        return RegressionFolds(
            parameters=self._parameters_of(SVR), epsilon=epsilon, searched=searched, **inputs
        )

    def _new_member(self, candidate: Candidate, others: Sequence[Any]) -> SVR:
        member: SVR = super()._new_member(candidate, others)
        return member.set_params(epsilon=candidate.epsilon)

    def _set_best(self) -> None:
        super()._set_best()
        self.epsilon_ = self._candidate(self.best_index_).epsilon

    def _check_saved(self) -> None:
        super()._check_saved()
        self._restore_results()
        require(self.epsilon_ >= 0, "epsilon is invalid")
