"""What the searches share with scikit-learn's searches: splitters, scorers, results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from hssvm._display import Text
from hssvm.estimators.base import BaseKernelSVM, require_same_kernel
from hssvm.estimators.inputs.parameters import (
    GAMMAS,
    NONE,
    POSITIVES,
    RULES,
    Alternative,
    InvalidParameterError,
    Rule,
    as_scalar,
    integer,
    word,
)
from hssvm.estimators.monitoring.warn import warn
from hssvm.kernels.base import Floats
from hssvm.kernels.indexed import IndexedKernel
from hssvm.model_selection.baseline import check_baseline
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.results import Results, check_arrays, cv_results
from hssvm.model_selection.scoring import SINGLE, Scoring, make_scorers
from hssvm.model_selection.search import Given, Search, mean_scores
from hssvm.model_selection.selection import Selected, Selection
from hssvm.persistence.archive import has_form, require
from hssvm.training import Task, TrainingResult, plan_task, train
from hssvm.training.data.checks import check_edge
from hssvm.training.reports.summary import counted

SEARCH_RULES = {
    "Cs": [word("auto"), integer(1), POSITIVES],
    "gammas": [word("auto"), GAMMAS],
    "scaling": [NONE, word("auto"), word("standard"), word("minmax")],
    "refit": [
        Alternative("True", lambda value: value is True),
        Alternative("the name of a score", lambda value: isinstance(value, str)),
        Alternative("a callable", callable),
    ],
    "error_score": [word("raise"), Alternative("a number", lambda v: isinstance(v, Real))],
}
"""Accepted values of the parameters common to the searches."""


class BaseSearch(BaseKernelSVM):
    """Base class of the searches."""

    _rules: ClassVar[Mapping[str, Rule]] = {**RULES, **SEARCH_RULES}

    _saved: ClassVar[tuple[str, ...]] = ("Cs_", "gammas_", "scores_", "best_index_", "_arrays")

    _default_scoring: ClassVar[str]

    solver: ClassVar[str] = "admm"

    Cs: int | Sequence[float] | str
    gammas: Sequence[float | str] | str
    cv: Any
    scoring: Any
    refit: bool | str | Callable[[dict[str, Any]], int]
    error_score: Any

    Cs_: NDArray[np.float64]
    gammas_: NDArray[np.float64]
    scores_: NDArray[np.float64]
    best_index_: int
    _arrays: dict[str, Any]
    """The results as arrays, from which `cv_results_` is made."""

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata that splitter and scorers ask for.

        Returns
        -------
        MetadataRouter
        """
        to_scorer = MethodMapping().add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(
                scorer=check_scoring(self, self._scoring_or_default()),
                method_mapping=to_scorer.add(caller="score", callee="score"),
            )
        )

    def _scoring_or_default(self) -> Any:
        return self._default_scoring if self.scoring is None else self.scoring

    def _route(self, params: Mapping[str, Any], sample_weight: Any) -> Bunch:
        """Return the metadata for the splitter and for the scorers.

        Without metadata routing, `groups` is for the splitter; `_make_scoring` handles weights.
        """
        if _routing_enabled():
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        others = {name: value for name, value in params.items() if name != "groups"}
        _raise_for_params(others, self, "fit")
        groups = {name: value for name, value in params.items() if value is not None}
        return Bunch(splitter=Bunch(split=groups), scorer=Bunch(score={}))

    def _make_folds(self, X: Any, y: Any, routed: Bunch, *, classifier: bool) -> Folds:
        """Split the rows; sets `n_splits_`."""
        cv = as_scalar(self.cv)
        splitter = check_cv(cv, y, classifier=classifier)
        if cv is None or isinstance(cv, int):  # many files are sorted
            splitter.shuffle, splitter.random_state = True, self._seed()
        splits = list(splitter.split(X, y, **routed.splitter.split))
        self.n_splits_ = len(splits)
        return Folds.of(splits, np.shape(y)[0])

    def _make_scoring(
        self,
        X: Any,
        y: NDArray[Any],
        routed: Bunch,
        weight: Floats | None,
        failed_folds: frozenset[int],
    ) -> Scoring:
        scoring = self._scoring_or_default()
        scorers: Mapping[str, Callable[..., Any]]
        if _routing_enabled():  # the scorers pick what they ask for
            raises = isinstance(self.error_score, str)
            scorers, weight = {SINGLE: check_scoring(self, scoring, raise_exc=raises)}, None
        else:
            scorers = make_scorers(self, scoring)
        names = list(scoring) if isinstance(scoring, list | tuple | set | dict) else []
        single = isinstance(scoring, str) and self.refit == scoring
        if names and not callable(self.refit) and self.refit not in names:
            raise InvalidParameterError(
                f"with several scores, refit must be one of {', '.join(map(repr, names))}, or a "
                f"callable, got {self.refit!r}"
            )
        main = next(iter(names), None)
        if isinstance(self.refit, str) and not single:
            main = self.refit
        only_name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", SINGLE)
        return Scoring(
            scorers,
            X,
            y,
            routed.scorer.score,
            weight,
            self.error_score,
            main,
            only_name,
            failed_folds,
        )

    def _parameters_of(self, kind: Any) -> dict[str, Any]:
        """Parameters that an estimator without a search has, too."""
        own = self.get_params(deep=False)
        return {name: own[name] for name in kind().get_params(deep=False).keys() & own.keys()}

    def _validated(self) -> dict[str, Any]:
        """Attributes of an estimator that has validated its rows."""
        names = "n_features_in_", "feature_names_in_"
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _search(self, points: IndexedKernel | None, **inputs: Any) -> tuple[Selection, Selected]:
        """Score candidates, and set the results; see `FitInput` and `Selection` for the inputs."""
        selection = Selection(
            Cs=self.Cs,
            gammas=self.gammas,
            kernel=self.kernel,
            scaling=self.scaling,
            max_time=self.max_time,
            make_kernel=lambda gamma: points or self._kernel_with(lambda: gamma),
            config=self._config(),
            report=self._new_report(),
            **inputs,
        )
        kernel = selection.make_kernel(1.0)
        kernel.check_rows(selection.X)
        exact = selection.config.is_exact(kernel, selection.X)
        require_same_kernel(selection.config, exact=exact)
        if callable(self.refit) and selection.searches:
            raise InvalidParameterError(
                "a callable refit chooses from given candidates; pass lists of Cs and gammas"
            )
        selected = selection.run()
        self.gammas_, self.Cs_, self.scores_ = selected.search.grid()
        self._select(selected.results, selected.search, selection.scoring)
        self._warn_about_search(selection, selected)
        return selection, selected

    def _warn_about_search(self, selection: Selection, selected: Selected) -> None:
        """Warn if the search stopped early, has found nothing, or ended at an edge."""
        report, monitor, n_rows = selection.report, selection.monitor, selection.strata.size
        if selected.cut_short:
            n_scored = int(np.count_nonzero(~np.isnan(mean_scores(self.scores_))))
            of = "" if selection.searches else f", of {self.gammas_.size * self.Cs_.size},"
            remedy = "" if self.max_time is None else "; raise max_time, or pass fewer values"
            scored = counted(n_scored, f"candidate{of} was", f"candidates{of} were")
            advice = f"The search was cut short: {scored} scored{remedy}."
            report.advice.append(advice)
            warn(advice, ConvergenceWarning)
            return
        if not callable(self.refit) and isinstance(self._scoring_or_default(), str):
            folds = selected.folds[self.cv_results_["iter"][self.best_index_]]
            useless = check_baseline(
                self._task_name, folds, selection.scoring, selection.weight, self.best_score_
            )
            monitor.advise(useless, report)
            if useless is not None:
                return
        g, c = self.best_position()
        if isinstance(selected.search.gammas, Given):
            monitor.advise(check_edge("gamma", self.scores_[:, c], g, n_rows), report)
        if isinstance(selected.search.Cs, Given):
            monitor.advise(check_edge("C", self.scores_[g], c, n_rows), report)

    def best_position(self) -> tuple[int, int]:
        """Return the indices of the best gamma in `gammas_`, and of the best C in `Cs_`."""
        pairs = (self.gammas_, self.gamma_), (self.Cs_, self.C_)
        g, c = (int(np.flatnonzero(_equal(values, best))[0]) for values, best in pairs)
        return g, c

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """Score the predictions by `scoring`; by the score named in `refit` if there are several.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix
        y : (m,) array-like
        sample_weight : (m,) array-like, optional
        **params
            Other metadata for the scorer.

        Returns
        -------
        float
        """
        scoring = self._scoring_or_default()
        if isinstance(scoring, list | tuple | set):
            scoring = {name: name for name in scoring}
        if isinstance(scoring, dict):
            if callable(self.refit):
                raise ValueError(
                    "score needs a single score, but there are several and refit is a callable; "
                    "use sklearn.metrics.get_scorer"
                )
            scoring = scoring[self.refit]
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        if _routing_enabled():
            params = process_routing(self, "score", **params).scorer.score
        found = get_scorer(scoring)(self, X, y, **params)
        return float(found[self.refit] if isinstance(found, dict) else found)

    def _train_best(
        self,
        selection: Selection,
        selected: Selected,
        task: Task,
        y: NDArray[Any],
    ) -> TrainingResult:
        """Train with the best parameters on all rows, and set the fitted attributes."""
        kernel, config = selection.make_kernel(self.gamma_), selection.config
        X = self._scale(selection.X, selected.scaling)
        # On the exact kernel, the out-of-fold score takes 5 to 15 % of the time of a search.
        only_score = not config.held_out and config.memory_limit is None
        only_score = only_score and config.is_exact(kernel, X)
        with_score = replace(config, held_out=math.inf) if only_score else config
        plan, problem = plan_task(with_score, task, X, y, selection.weight, kernel)
        result = train(problem, kernel, X, plan, selection.report, selection.monitor)
        if only_score:
            self._store(replace(result, out_of_fold=None), replace(plan, n_folds=0))
        else:
            self._store(result, plan)
        return result

    def summary(self) -> str:
        """Return the result of the search, and the accuracy and cost of the fit, as text."""
        text = super().summary()
        if callable(self.refit):
            return text
        scoring = self._scoring_or_default()
        name = scoring if isinstance(scoring, str) else self._main_name()
        folds = f"{counted(self.n_splits_, 'fold')} of {counted(self.best_n_rows_, 'row')}"
        return Text(f"{text}\nsearch     {name} {self.best_score_:.4g} in {folds}")

    def _select(self, results: Results, search: Search, scoring: Scoring) -> None:
        """Set `cv_results_` and the best parameters."""
        self._arrays = results.arrays()
        self.cv_results_ = cv_results(self._arrays)
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
            if not 0 <= self.best_index_ < len(self.cv_results_["params"]):
                raise IndexError(f"refit returned {self.best_index_}, which is not a candidate")
        else:
            best = search.best()
            if best is None:
                raise scoring.no_scores()
            gamma, C = best
            same = _equal(self._arrays["gamma"], gamma) & _equal(self._arrays["C"], C)
            same &= self._arrays["iter"] == search.last_round
            self.best_index_ = int(np.flatnonzero(same)[0])
        self._set_best()

    def _main_name(self) -> str:
        named = isinstance(self.refit, str) and f"mean_test_{self.refit}" in self.cv_results_
        return str(self.refit) if named else SINGLE

    def _set_best(self) -> None:
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.C_ = self.best_params_["C"]
        self.gamma_ = self.best_params_.get("gamma", np.nan)  # linear kernels have none
        names = [key for key in self.cv_results_ if key.startswith("mean_test_")]
        self.multimetric_ = names != [f"mean_test_{SINGLE}"]
        self.__dict__.pop("best_score_", None)  # set by an earlier fit
        if not callable(self.refit):
            mean = self.cv_results_[f"mean_test_{self._main_name()}"]
            self.best_score_ = float(mean[self.best_index_])
        self.best_n_rows_ = int(self.cv_results_["n_resources"][self.best_index_])

    def _restore_results(self) -> None:
        """Set the results of a model that comes from a file."""
        self.n_splits_ = self.scores_.shape[-1]
        shape = (self.gammas_.size, self.Cs_.size, self.n_splits_)
        require(has_form(self.scores_, np.float64, shape), "scores_ is invalid")
        m = check_arrays(self._arrays, self.n_splits_)
        self.cv_results_ = cv_results(self._arrays)
        require(0 <= self.best_index_ < m, "best_index_ is invalid")
        scored = self._main_name() in self._arrays["scores"]
        require(callable(self.refit) or scored, "cv_results_ is invalid")
        self._set_best()


def _equal(values: Any, value: float) -> Any:
    """Where values are equal to a value, which may be NaN."""
    return (values == value) | (np.isnan(values) & np.isnan(value))
