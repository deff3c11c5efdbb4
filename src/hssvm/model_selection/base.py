"""What the searches share with scikit-learn's searches: splitters, scorers, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from hssvm.estimators.base import FitInput, require_same_kernel
from hssvm.estimators.inputs.parameters import (
    GAMMAS,
    POSITIVES,
    RULES,
    Alternative,
    InvalidParameterError,
    Rule,
    as_scalar,
    integer,
    sequence,
    word,
)
from hssvm.estimators.monitoring.warn import warn
from hssvm.kernels.base import Floats
from hssvm.kernels.indexed import IndexedKernel
from hssvm.messages import Message, api
from hssvm.model_selection.baseline import check_baseline
from hssvm.model_selection.families import Candidate, check_kernels, is_auto, listed
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.members import mean_outputs, train_members
from hssvm.model_selection.scoring import SINGLE, Scoring, make_scorers
from hssvm.model_selection.search import Given, mean_scores
from hssvm.model_selection.searched import SearchedModel
from hssvm.model_selection.selection import Selected, Selection
from hssvm.training.data.checks import check_edge
from hssvm.training.reports.combined import total_seconds
from hssvm.training.reports.summary import counted
from hssvm.training.scales.scaling import LEARNED

SCALING = [word("auto"), *RULES["scaling"]]

SEARCH_RULES = {
    "Cs": [word("auto"), integer(1), POSITIVES],
    "gammas": [word("auto"), GAMMAS],
    "scaling": [*SCALING, sequence("a non-empty sequence of these", SCALING)],
    "max_members": [integer(1)],
    "refit": [
        Alternative("True", lambda value: value is True),
        Alternative("the name of a score", lambda value: isinstance(value, str)),
        Alternative("a callable", callable),
    ],
    "error_score": [word("raise"), Alternative("a number", lambda v: isinstance(v, Real))],
}
"""Accepted values of the parameters common to the searches."""


class BaseSearch(SearchedModel):
    """Base class of the searches."""

    _rules: ClassVar[Mapping[str, Rule]] = {**RULES, **SEARCH_RULES}

    Cs: int | Sequence[float] | str
    gammas: Sequence[float | str] | str
    max_members: int
    error_score: Any

    def _check_kernel(self) -> None:
        check_kernels(self.kernel)
        for scaling in listed(self.scaling):
            if scaling in LEARNED:
                for kernel in listed(self.kernel):
                    if not is_auto(kernel):
                        self._check_learned_scaling(scaling, kernel)

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
        names = "n_features_in_", "feature_names_in_", "classes_", "target_name_", "data_checksum_"
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _search(self, points: IndexedKernel | None, **inputs: Any) -> Selection:
        """Score candidates, and set the results; see `FitInput` and `Selection` for the inputs."""
        selection = Selection(
            Cs=self.Cs,
            gammas=self.gammas,
            kernel=self.kernel,
            scaling=self.scaling,
            max_members=1 if callable(self.refit) else as_scalar(self.max_members),
            max_time=self.max_time,
            make_kernel=lambda kernel, gamma: points or self._kernel_of(kernel, lambda: gamma),
            config=self._config(),
            report=self._new_report(),
            **inputs,
        )
        for family in selection.families:
            kernel = selection.make_kernel(family.kernel, 1.0)
            kernel.check_rows(selection.X)
            exact = selection.final_config.is_exact(kernel, selection.X)
            require_same_kernel(selection.config, exact=exact)
        if callable(self.refit) and selection.searches:
            raise InvalidParameterError(
                "a callable refit chooses from given candidates; pass lists of Cs and gammas"
            )
        selected = selection.run()
        self._select(selected, selection.scoring)
        self._warn_about_search(selection, selected)
        return selection

    def _warn_about_search(self, selection: Selection, selected: Selected) -> None:
        """Warn if the search stopped early, has found nothing, or ended at an edge."""
        report, monitor, n_rows = selection.report, selection.monitor, selection.strata.size
        if selected.cut_short:
            searches = selected.race.searches
            scores = [scores for search in searches for scores in search.scored.values()]
            n_scored = int(np.count_nonzero(~np.isnan(mean_scores(np.array(scores)))))
            n_given = sum(
                len(search.gammas.required) * len(search.Cs.required) for search in searches
            )
            of = "" if selection.searches else f", of {n_given},"
            more = f"; raise {api:max_time}, or pass fewer values"
            remedy = "" if self.max_time is None else more
            scored = counted(n_scored, f"candidate{of} was", f"candidates{of} were")
            advice = Message(f"The search was cut short: {scored} scored{remedy}.")
            report.advice.append(str(advice))
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
        search = selected.race.of(self._family)
        if isinstance(search.gammas, Given):
            monitor.advise(check_edge("gamma", self.scores_[:, c], g, n_rows), report)
        if isinstance(search.Cs, Given):
            monitor.advise(check_edge("C", self.scores_[g], c, n_rows), report)

    def _train_members(self, selection: Selection, data: FitInput) -> None:
        """Train the best candidates on all rows, and become the mean of these models."""
        candidates = [self._candidate(index) for index in self._member_index]
        members = train_members(candidates, self._new_member, selection, data)
        del self._member_index[len(members) :]
        self._become([member.model for member in members])
        report = self.fit_report_
        report.seconds = total_seconds([selection.report, report])
        report.advice += selection.report.advice
        if len(members) > 1:
            outputs = mean_outputs(members)
            self._use_out_of_fold(outputs, data, report, selection.config.seed)
        if len(members) < len(candidates):
            of = f"{len(members)} of {counted(len(candidates), 'model')}"
            remedy = "" if self.max_time is None else f"; raise {api:max_time}"
            advice = Message(f"The fit was cut short: it is the mean of {of}{remedy}.")
            report.advice.append(str(advice))
            warn(advice, ConvergenceWarning)

    def _new_member(self, candidate: Candidate, others: Sequence[Any]) -> Any:
        """Return a model with the parameters of a candidate, which has validated the rows."""
        (kernel, scaling), gamma, C, _ = candidate
        parameters = self._parameters_of(self._member_class)
        member = self._member_class(**parameters | {"C": C, "kernel": kernel, "scaling": scaling})
        if not np.isnan(gamma):
            member.set_params(gamma=gamma)
        member.__dict__.update(self._validated())
        return member
