"""The score of constant predictions, which a search should beat."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from hssvm.kernels.base import Floats
from hssvm.messages import Message, api
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.scoring import Scoring
from hssvm.training.data.checks import MIN_CHECKED_ROWS

CONSTANTS = {
    "classification": (
        "predicting the most frequent class",
        "check that the labels belong to the rows and depend on the features, or, if a class is "
        f"rare, set {api:class_weight='balanced'} and {api:scoring='balanced_accuracy'}",
    ),
    "regression": (
        "predicting the mean of y",
        "check that y belongs to the rows and depends on the features, or leave "
        f"{api:Cs} and {api:gammas} at 'auto'",
    ),
}
"""Constant predictions, and what to do if nothing beats them, by task."""


def check_baseline(
    task: str, folds: Folds, scoring: Scoring, weight: Floats, best_score: float
) -> str | None:
    """Check whether the best candidate scores higher than constant predictions.

    Parameters
    ----------
    task : {'classification', 'regression'}
    folds : Folds
        The folds in which the best candidate was scored.
    scoring : Scoring
        With a scorer of scikit-learn; functions of the user may need more than a constant model.
    weight : (n,)
    best_score : float
    """
    if (
        task == "classification" and scoring.y.size < MIN_CHECKED_ROWS
    ):  # accuracies may be equal by chance
        return None
    constant = _constant_score(task, folds, scoring, weight)
    if constant is None or best_score > constant + 1e-12:
        return None
    what, remedy = CONSTANTS[task]
    return Message(
        f"No candidate scores higher than {what} ({scoring.only_name} {best_score:.4g} against "
        f"{constant:.4g}); {remedy}."
    )


def _constant_score(task: str, folds: Folds, scoring: Scoring, weight: Floats) -> float | None:
    """Mean score of constant predictions, or None if a fold cannot tell them from good ones."""
    if scoring.failed_folds:
        return None
    scoring = replace(scoring, error_score="raise")
    scores: list[float] = []
    for train, test in folds.splits:
        rows, held_out = folds.rows[train], folds.rows[test]
        if np.unique(scoring.y[held_out]).size < 2:
            return None
        model = DummyRegressor() if task == "regression" else DummyClassifier(strategy="prior")
        model.fit(np.zeros((rows.size, 1)), scoring.y[rows], weight[rows])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some metrics are undefined for constants
            try:
                found = scoring(model, np.zeros((held_out.size, 1)), held_out)
            except Exception:
                return None
        scores += found.values()
    return float(np.mean(scores))
