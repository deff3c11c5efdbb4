"""Scorers of a search, with the metadata that they ask for."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.validation import _check_method_params

from hssvm.estimators.parameters import InvalidParameterError
from hssvm.kernels.base import Floats

SINGLE = "score"
"""Name of the only metric, as in `sklearn.model_selection.GridSearchCV`."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """Scores models on some of the rows.

    Attributes
    ----------
    scorers : dict of callables
        By name; a callable may return several scores as a dict.
    X, y
        All rows and targets, as given by the user.
    params : dict
        Metadata of the rows for all scorers.
    sample_weight : (n,) or None
        For those scorers that accept it.
    error_score : float or 'raise'
    main : str or None
        The score that a search maximizes; None if there is only one.
    """

    scorers: Mapping[str, Callable[..., Any]]
    X: Any
    y: NDArray[Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    sample_weight: Floats | None = None
    error_score: Any = np.nan
    main: str | None = None

    def __call__(self, model: Any, X: Any, rows: NDArray[np.int64]) -> dict[str, float]:
        """Return the scores of a model by name.

        Parameters
        ----------
        model : estimator
        X
            The rows, ``X[rows]``.
        rows : (m,) int64
        """
        scores: dict[str, float] = {}
        for name, scorer in self.scorers.items():
            params = dict(self.params)
            if self.sample_weight is not None and accepts_weight(scorer):
                params["sample_weight"] = self.sample_weight
            params = _check_method_params(self.X, params, indices=rows)
            try:
                score = scorer(model, X, self.y[rows], **params)
            except Exception as error:
                if isinstance(self.error_score, str):
                    raise
                warnings.warn(
                    f"Scoring failed, and the score is {self.error_score}: "
                    f"{type(error).__name__}: {error}; set error_score='raise' to see where.",
                    FitFailedWarning,
                    stacklevel=2,
                )
                score = self.error_score
            scores |= score if isinstance(score, dict) else {name: score}
        return {name: float(score) for name, score in scores.items()}

    def of_search(self, scores: Mapping[str, float]) -> float:
        """Return the score that the search maximizes."""
        name = SINGLE if self.main is None else self.main
        if name not in scores:
            refit = True if self.main is None else self.main
            raise InvalidParameterError(
                f"refit must be the name of a score ({', '.join(map(repr, scores))}) or a "
                f"callable, got {refit!r}"
            )
        return scores[name]


def make_scorers(estimator: Any, scoring: Any) -> dict[str, Callable[..., Any]]:
    """Return the scorers by name; the only one is called 'score'."""
    if isinstance(scoring, list | tuple | set):
        scoring = {name: name for name in scoring}
    named = scoring if isinstance(scoring, dict) else {SINGLE: scoring}
    return {
        name: get_scorer(scorer) if isinstance(scorer, str) else check_scoring(estimator, scorer)
        for name, scorer in named.items()
    }


def accepts_weight(scorer: Callable[..., Any]) -> bool:
    """Whether a scorer, or the metric that it wraps, has a parameter `sample_weight`."""
    metric = getattr(scorer, "_score_func", scorer)
    parameters = inspect.signature(metric).parameters.values()
    return any(
        parameter.name == "sample_weight" or parameter.kind is parameter.VAR_KEYWORD
        for parameter in parameters
    )
