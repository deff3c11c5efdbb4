"""Results of a search in the format of scikit-learn's `cv_results_`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.model_selection.families import Candidate, Family
from hssvm.model_selection.search import mean_scores
from hssvm.persistence.archive import has_form, require

Values = NDArray[np.float64]


@dataclass(eq=False)
class Results:
    """What is known about the candidates that were scored in all folds.

    Attributes
    ----------
    families : list of Family
    family : list of int
        Index of the family, by candidate.
    gammas, Cs, epsilons : list of float
        By candidate.
    fit_times, score_times : list of (n_folds,) arrays
        Seconds; candidates are fitted together, and each has an equal share of the time.
    scores : dict of lists of (n_folds,) arrays
        By metric and candidate.
    rounds, n_rows : list of int
        The round in which a candidate was scored, and its number of rows.
    """

    families: list[Family]
    family: list[int] = field(default_factory=list)
    gammas: list[float] = field(default_factory=list)
    Cs: list[float] = field(default_factory=list)
    epsilons: list[float] = field(default_factory=list)
    fit_times: list[Values] = field(default_factory=list)
    score_times: list[Values] = field(default_factory=list)
    scores: dict[str, list[Values]] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)

    def add(
        self,
        candidate: Candidate,
        fit_time: Values,
        score_time: Values,
        scores: dict[str, Values],
        round: int,
        n_rows: int,
    ) -> None:
        """Add a candidate."""
        self.rounds.append(round)
        self.n_rows.append(n_rows)
        self.family.append(self.families.index(candidate.family))
        self.gammas.append(candidate.gamma)
        self.Cs.append(candidate.C)
        self.epsilons.append(candidate.epsilon)
        self.fit_times.append(fit_time)
        self.score_times.append(score_time)
        for name, values in scores.items():
            self.scores.setdefault(name, []).append(values)

    def arrays(self) -> dict[str, Any]:
        """Return the candidates as arrays, ordered by round, family, gamma, C and epsilon."""
        keys = self.epsilons, self.Cs, self.gammas, self.family, self.rounds
        order = np.lexsort([np.array(key) for key in keys])
        return {
            "iter": np.array(self.rounds)[order],
            "n_resources": np.array(self.n_rows)[order],
            "family": np.array(self.family)[order],
            "gamma": np.array(self.gammas)[order],
            "C": np.array(self.Cs)[order],
            "epsilon": np.array(self.epsilons)[order],
            "fit_time": np.array(self.fit_times)[order],
            "score_time": np.array(self.score_times)[order],
            "scores": {name: np.array(values)[order] for name, values in self.scores.items()},
        }


def cv_results(arrays: dict[str, Any], families: list[Family]) -> dict[str, Any]:
    """Return `cv_results_` as in `sklearn.model_selection.HalvingGridSearchCV`.

    Unlike there, the candidates of later rounds have the first ranks.

    Parameters
    ----------
    arrays : dict
        See `Results.arrays`.
    families : list of Family
    """
    results = {name: arrays[name] for name in ("iter", "n_resources")}
    for key in ("fit_time", "score_time"):
        results[f"mean_{key}"] = arrays[key].mean(axis=1)
        results[f"std_{key}"] = arrays[key].std(axis=1)
    tried = _parameters(arrays, families)
    for key, values in tried.items():
        results[f"param_{key}"] = values
    known = {key: ~np.ma.getmaskarray(values) for key, values in tried.items()}
    lists = {key: values.data.tolist() for key, values in tried.items()}
    results["params"] = [
        {key: values[i] for key, values in lists.items() if known[key][i]}
        for i in range(arrays["C"].size)
    ]
    for name, scores in arrays["scores"].items():
        for f in range(scores.shape[1]):
            results[f"split{f}_test_{name}"] = scores[:, f]
        mean = mean_scores(scores)
        results[f"mean_test_{name}"] = mean
        results[f"std_test_{name}"] = scores.std(axis=1)
        results[f"rank_test_{name}"] = _ranks(arrays["iter"], mean)
    return results


def _parameters(arrays: dict[str, Any], families: list[Family]) -> dict[str, Any]:
    """Return masked arrays of the parameters that have several values, and of C and gamma."""
    C, gamma, family = arrays["C"], arrays["gamma"], arrays["family"]
    tried: dict[str, Any] = {"C": np.ma.MaskedArray(C, np.zeros(C.size, bool))}
    if not np.isnan(gamma).all():  # kernels without a gamma
        tried["gamma"] = np.ma.MaskedArray(gamma, np.isnan(gamma))
    epsilon = arrays["epsilon"]
    if not (np.isnan(epsilon) | (epsilon == epsilon[0])).all():
        tried["epsilon"] = np.ma.MaskedArray(epsilon, np.isnan(epsilon))
    for name in Family._fields:
        values = [getattr(one, name) for one in families]
        if any(value != values[0] for value in values):
            column = np.ma.MaskedArray(np.empty(C.size, object), np.zeros(C.size, bool))
            for i, index in enumerate(family):
                column[i] = values[index]
            tried[name] = column
    return tried


def check_arrays(arrays: dict[str, Any], n_folds: int, n_families: int) -> int:
    """Check the arrays of a file; return their length."""
    m = np.size(arrays["C"])
    kinds = {
        "C": float,
        "gamma": float,
        "epsilon": float,
        "family": int,
        "iter": int,
        "n_resources": int,
    }
    for name, kind in kinds.items():
        require(has_form(arrays[name], np.dtype(kind), (m,)), "cv_results_ is invalid")
    known = (arrays["family"] >= 0) & (arrays["family"] < n_families)
    require(bool(known.all()), "cv_results_ is invalid")
    tables = [arrays[name] for name in ("fit_time", "score_time")]
    for table in [*tables, *arrays["scores"].values()]:
        require(has_form(table, np.float64, (m, n_folds)), "cv_results_ is invalid")
    return m


def _ranks(rounds: NDArray[np.int64], mean: Values) -> NDArray[np.int32]:
    """Ranks by round, the last one first, then by mean score; NaN is the worst of all."""
    order = np.lexsort((-mean, -rounds, np.isnan(mean)))
    ranks = np.empty(mean.size, np.int32)
    for place, i in enumerate(order):
        before = order[place - 1]
        tied = place > 0 and rounds[i] == rounds[before] and mean[i] == mean[before]
        both_unknown = place > 0 and np.isnan(mean[i]) and np.isnan(mean[before])
        ranks[i] = ranks[before] if tied or both_unknown else place + 1
    return ranks
