"""Results of a search in the format of scikit-learn's `cv_results_`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hssvm.model_selection.search import mean_scores

Values = NDArray[np.float64]


@dataclass(eq=False)
class Results:
    """What is known of the candidates that were scored in all folds.

    Attributes
    ----------
    gammas, Cs : list of float
        By candidate.
    fit_times, score_times : list of (n_folds,) arrays
        Seconds; candidates are fitted together, and each has an equal share of the time.
    scores : dict of lists of (n_folds,) arrays
        By metric and candidate.
    """

    gammas: list[float] = field(default_factory=list)
    Cs: list[float] = field(default_factory=list)
    fit_times: list[Values] = field(default_factory=list)
    score_times: list[Values] = field(default_factory=list)
    scores: dict[str, list[Values]] = field(default_factory=dict)

    def add(
        self,
        gamma: float,
        C: float,
        fit_time: Values,
        score_time: Values,
        scores: dict[str, Values],
    ) -> None:
        """Add a candidate."""
        self.gammas.append(gamma)
        self.Cs.append(C)
        self.fit_times.append(fit_time)
        self.score_times.append(score_time)
        for name, values in scores.items():
            self.scores.setdefault(name, []).append(values)

    def arrays(self) -> dict[str, Any]:
        """Return the candidates as arrays, ordered by gamma and C."""
        order = np.lexsort([self.Cs, self.gammas])
        return {
            "gamma": np.array(self.gammas)[order],
            "C": np.array(self.Cs)[order],
            "fit_time": np.array(self.fit_times)[order],
            "score_time": np.array(self.score_times)[order],
            "scores": {name: np.array(values)[order] for name, values in self.scores.items()},
        }


def cv_results(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return `cv_results_` as in `sklearn.model_selection.GridSearchCV`; see `Results.arrays`."""
    gamma, C = arrays["gamma"], arrays["C"]
    results: dict[str, Any] = {}
    for key in ("fit_time", "score_time"):
        results[f"mean_{key}"] = arrays[key].mean(axis=1)
        results[f"std_{key}"] = arrays[key].std(axis=1)
    results["param_C"] = np.ma.MaskedArray(C, np.zeros(C.size, bool))
    results["param_gamma"] = np.ma.MaskedArray(gamma, np.zeros(C.size, bool))
    results["params"] = [{"C": float(c), "gamma": float(g)} for c, g in zip(C, gamma, strict=True)]
    for name, scores in arrays["scores"].items():
        for f in range(scores.shape[1]):
            results[f"split{f}_test_{name}"] = scores[:, f]
        mean = mean_scores(scores)
        results[f"mean_test_{name}"] = mean
        results[f"std_test_{name}"] = scores.std(axis=1)
        worst = np.nanmin(mean, initial=0) - 1
        ranks = rankdata(-np.where(np.isnan(mean), worst, mean), method="min")
        results[f"rank_test_{name}"] = ranks.astype(np.int32)
    return results
