"""Results of a search in the format of scikit-learn's `cv_results_`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.model_selection.search import mean_scores
from hssvm.persistence.archive import has_form, require

Values = NDArray[np.float64]


@dataclass(eq=False)
class Results:
    """What is known about the candidates that were scored in all folds.

    Attributes
    ----------
    gammas, Cs : list of float
        By candidate.
    fit_times, score_times : list of (n_folds,) arrays
        Seconds; candidates are fitted together, and each has an equal share of the time.
    scores : dict of lists of (n_folds,) arrays
        By metric and candidate.
    rounds, n_rows : list of int
        The round in which a candidate was scored, and its number of rows.
    """

    gammas: list[float] = field(default_factory=list)
    Cs: list[float] = field(default_factory=list)
    fit_times: list[Values] = field(default_factory=list)
    score_times: list[Values] = field(default_factory=list)
    scores: dict[str, list[Values]] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)

    def add(
        self,
        gamma: float,
        C: float,
        fit_time: Values,
        score_time: Values,
        scores: dict[str, Values],
        round: int,
        n_rows: int,
    ) -> None:
        """Add a candidate."""
        self.rounds.append(round)
        self.n_rows.append(n_rows)
        self.gammas.append(gamma)
        self.Cs.append(C)
        self.fit_times.append(fit_time)
        self.score_times.append(score_time)
        for name, values in scores.items():
            self.scores.setdefault(name, []).append(values)

    def arrays(self) -> dict[str, Any]:
        """Return the candidates as arrays, ordered by round, gamma and C."""
        order = np.lexsort((np.array(self.Cs), np.array(self.gammas), np.array(self.rounds)))
        return {
            "iter": np.array(self.rounds)[order],
            "n_resources": np.array(self.n_rows)[order],
            "gamma": np.array(self.gammas)[order],
            "C": np.array(self.Cs)[order],
            "fit_time": np.array(self.fit_times)[order],
            "score_time": np.array(self.score_times)[order],
            "scores": {name: np.array(values)[order] for name, values in self.scores.items()},
        }


def cv_results(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return `cv_results_` as in `sklearn.model_selection.HalvingGridSearchCV`.

    Unlike there, the candidates of later rounds have the first ranks.

    Parameters
    ----------
    arrays : dict
        See `Results.arrays`.
    """
    gamma, C = arrays["gamma"], arrays["C"]
    results = {name: arrays[name] for name in ("iter", "n_resources")}
    for key in ("fit_time", "score_time"):
        results[f"mean_{key}"] = arrays[key].mean(axis=1)
        results[f"std_{key}"] = arrays[key].std(axis=1)
    tried = {"C": C} if np.isnan(gamma).all() else {"C": C, "gamma": gamma}
    for key, values in tried.items():
        results[f"param_{key}"] = np.ma.MaskedArray(values, np.zeros(C.size, bool))
    results["params"] = [
        dict(zip(tried, map(float, values), strict=True))
        for values in zip(*tried.values(), strict=True)
    ]
    for name, scores in arrays["scores"].items():
        for f in range(scores.shape[1]):
            results[f"split{f}_test_{name}"] = scores[:, f]
        mean = mean_scores(scores)
        results[f"mean_test_{name}"] = mean
        results[f"std_test_{name}"] = scores.std(axis=1)
        results[f"rank_test_{name}"] = _ranks(arrays["iter"], mean)
    return results


def check_arrays(arrays: dict[str, Any], n_folds: int) -> int:
    """Check the arrays of a file; return their length."""
    m = np.size(arrays["C"])
    for name, kind in {"C": float, "gamma": float, "iter": int, "n_resources": int}.items():
        require(has_form(arrays[name], np.dtype(kind), (m,)), "cv_results_ is invalid")
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
