"""Scores of a search in the format of scikit-learn's `cv_results_`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.model_selection.search import mean_scores


def cv_results(
    gammas: NDArray[np.float64], Cs: NDArray[np.float64], scores: NDArray[np.float64]
) -> dict[str, Any]:
    """Return `cv_results_` for scores (n_gammas, n_Cs, n_folds), NaN for pairs not tried."""
    mean, std = mean_scores(scores).ravel(), scores.std(axis=2).ravel()
    gamma, C = (a.ravel() for a in np.meshgrid(gammas, Cs, indexing="ij"))
    return {
        "params": [{"C": float(c), "gamma": float(g)} for c, g in zip(C, gamma, strict=True)],
        "param_C": C,
        "param_gamma": gamma,
        **{f"split{f}_test_score": scores[:, :, f].ravel() for f in range(scores.shape[2])},
        "mean_test_score": mean,
        "std_test_score": std,
        "rank_test_score": (mean[:, None] < mean).sum(axis=1)
        + np.where(np.isnan(mean), mean.size, 1),
    }
