"""The results of a search, and what the chosen model does with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)

from hssvm._display import Text
from hssvm.model_selection.families import Candidate, Family
from hssvm.model_selection.mean import MeanModel
from hssvm.model_selection.results import check_arrays, cv_results
from hssvm.model_selection.scoring import SINGLE, Scoring
from hssvm.model_selection.selection import Selected
from hssvm.persistence.archive import has_form, require
from hssvm.training.reports.summary import counted


class SearchedModel(MeanModel):
    """A model whose parameters were chosen by a search."""

    _saved: ClassVar[tuple[str, ...]] = (
        "Cs_", "gammas_", "scores_", "best_index_", "_arrays", "_families", "_member_index",
    )  # fmt: skip

    _default_scoring: ClassVar[Any]

    cv: Any
    scoring: Any
    refit: bool | str | Callable[[dict[str, Any]], int]

    Cs_: NDArray[np.float64]
    gammas_: NDArray[np.float64]
    scores_: NDArray[np.float64]
    best_index_: int
    _arrays: dict[str, Any]
    """The results as arrays, from which `cv_results_` is made."""
    _families: list[list[Any]]
    """Kernel and scaling of each family, in plain lists."""
    _member_index: list[int]
    """Indices of the members in `cv_results_`, the best first."""

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

    def best_position(self) -> tuple[int, int]:
        """Return the indices of the best gamma in `gammas_`, and of the best C in `Cs_`."""
        pairs = (self.gammas_, self.gamma_), (self.Cs_, self.C_)
        g, c = (int(np.flatnonzero(_equal(values, best))[0]) for values, best in pairs)
        return g, c

    @property
    def family_(self) -> str | None:
        """Kernel and scaling of the model, in words; None if there was nothing to choose."""
        return str(self._family) if len(self._families) > 1 else None

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

    def summary(self) -> str:
        """Return the result of the search, and the accuracy and cost of the fit, as text."""
        text = super().summary()
        if callable(self.refit):
            return text
        scoring = self._scoring_or_default()
        name = scoring if isinstance(scoring, str) else self._main_name()
        folds = f"{counted(self.n_splits_, 'fold')} of {counted(self.best_n_rows_, 'row')}"
        lines = [text, f"search     {name} {self.best_score_:.4g} in {folds}"]
        return Text("\n".join(lines + self._member_lines() + self._comparison()))

    def _member_lines(self) -> list[str]:
        """Describe the models of a mean, with their scores in the search."""
        if not self._members:
            return []
        means = self.cv_results_[f"mean_test_{self._main_name()}"]
        lines = [f"{self._candidate(i)}: {means[i]:.4g}" for i in self._member_index]
        return [f"{'' if i else 'members':<11}{line}" for i, line in enumerate(lines)]

    def _comparison(self) -> list[str]:
        """Compare the chosen family with the others, each in the last round that it reached."""
        means = self.cv_results_[f"mean_test_{self._main_name()}"]
        members, lines = [self._candidate(i).family for i in self._member_index], []
        for f, values in enumerate(self._families):
            rounds = self._arrays["iter"][self._arrays["family"] == f]
            if Family(*values) in members or not rounds.size:
                continue
            same = self._arrays["iter"] == rounds.max()
            own, chosen = (
                np.max(means[same & (self._arrays["family"] == i)], initial=-np.inf)
                for i in (f, self._families.index(list(self._family)))
            )
            n_rows = counted(int(self._arrays["n_resources"][same][0]), "row")
            lines.append(f"{Family(*values)}: {own:.4g}, against {chosen:.4g} in {n_rows}")
        if not lines:
            return []
        lines = [f"{self._family}", *lines]
        return [f"{'' if i else 'families':<11}{line}" for i, line in enumerate(lines)]

    def _select(self, selected: Selected, scoring: Scoring) -> None:
        """Set `cv_results_` and the best parameters."""
        race, results = selected.race, selected.results
        self._arrays, self._families = results.arrays(), list(map(list, results.families))
        self.cv_results_ = cv_results(self._arrays, results.families)
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
            if not 0 <= self.best_index_ < len(self.cv_results_["params"]):
                raise IndexError(f"refit returned {self.best_index_}, which is not a candidate")
            self._member_index = [self.best_index_]
        else:
            if not selected.members:
                raise scoring.no_scores()
            last = self._arrays["iter"] == race.last_round
            self._member_index = [
                int(np.flatnonzero(last & self._are(one))[0]) for one in selected.members
            ]
            self.best_index_ = self._member_index[0]
        self._set_best()
        self.gammas_, self.Cs_, self.scores_ = race.of(self._family).grid()

    def _are(self, candidate: Candidate) -> NDArray[np.bool_]:
        """Where the results are of a candidate."""
        same = _equal(self._arrays["gamma"], candidate.gamma)
        same &= _equal(self._arrays["C"], candidate.C)
        same &= _equal(self._arrays["epsilon"], candidate.epsilon)
        same &= self._arrays["family"] == self._families.index(list(candidate.family))
        return same

    def _candidate(self, index: int) -> Candidate:
        """Return a candidate of the results."""
        arrays = self._arrays
        family = Family(*self._families[arrays["family"][index]])
        numbers = (float(arrays[name][index]) for name in ("gamma", "C", "epsilon"))
        return Candidate(family, *numbers)

    def _main_name(self) -> str:
        named = isinstance(self.refit, str) and f"mean_test_{self.refit}" in self.cv_results_
        return str(self.refit) if named else SINGLE

    def _set_best(self) -> None:
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self._family = self._candidate(self.best_index_).family
        self.scaling_ = self._family.scaling
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
        valid = all(type(one) is list and len(one) == len(Family._fields) for one in self._families)
        require(valid, "the families of cv_results_ are invalid")
        families = [Family(*one) for one in self._families]
        m = check_arrays(self._arrays, self.n_splits_, len(families))
        self.cv_results_ = cv_results(self._arrays, families)
        require(0 <= self.best_index_ < m, "best_index_ is invalid")
        index = self._member_index
        valid = type(index) is list and len(index) == len(self.members_)
        valid = valid and all(type(i) is int and 0 <= i < m for i in index)
        require(valid, "the indices of the members are invalid")
        scored = self._main_name() in self._arrays["scores"]
        require(callable(self.refit) or scored, "cv_results_ is invalid")
        self._set_best()


def _equal(values: Any, value: float) -> Any:
    """Where values are equal to a value, which may be NaN."""
    return (values == value) | (np.isnan(values) & np.isnan(value))
