"""Scorers of a search, with the metadata that they ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning, UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, check_scoring, get_scorer, r2_score
from sklearn.utils.validation import _check_method_params

from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.estimators.monitoring.warn import warn
from hssvm.kernels.base import Floats
from hssvm.messages import api, value_error

SINGLE = "score"
"""Name of the only metric, as in `sklearn.model_selection.GridSearchCV`."""


@dataclass(eq=False)
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
        For the scorers that accept it.
    error_score : float or 'raise'
    main : str or None
        The score that a search maximizes; None if there is only one.
    only_name : str
        What the user calls the only scorer.
    failed_folds : set of int
        Folds that cannot be trained, whose scores are `error_score`.
    failures : dict of Exceptions
        The first error of each scorer, by its name.
    """

    scorers: Mapping[str, Callable[..., Any]]
    X: Any
    y: NDArray[Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    sample_weight: Floats | None = None
    error_score: Any = np.nan
    main: str | None = None
    only_name: str = SINGLE
    failed_folds: frozenset[int] = frozenset()
    failures: dict[str, Exception] = field(default_factory=dict)

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
            quick = None if params else quick_score(scorer)
            try:
                if quick is not None:
                    score = quick(self.y[rows], model.predict(X))
                else:
                    score = scorer(model, X, self.y[rows], **params)
            except UnsetMetadataPassedError:
                raise
            except Exception as error:
                score = self._failed(name, error)
            found = score if isinstance(score, dict) else {name: score}
            for key, value in found.items():  # scikit-learn describes errors by strings
                text = isinstance(value, str)
                scores[key] = self._failed(key, RuntimeError(value)) if text else float(value)
        return scores

    def _failed(self, name: str, error: Exception) -> float:
        """Return the score of a scorer that has failed, or raise its error."""
        if isinstance(self.error_score, str):
            raise error
        if name not in self.failures:
            self.failures[name] = error
            warn(
                f"The scorer {self.label(name)} failed, and the score is {self.error_score}: "
                f"{described(error)}; set error_score='raise' to see where.",
                FitFailedWarning,
            )
        return float(self.error_score)

    def label(self, name: str) -> str:
        """Return the name of a scorer for messages."""
        return repr(self.only_name if name == SINGLE else name)

    def no_scores(self) -> ValueError:
        """Return the error for a search in which no candidate has a score in every fold."""
        names = [name for name in (self.main, SINGLE) if name in self.failures]
        if not names:
            return value_error(
                f"no candidate has a score in every fold; if the time was up, raise {api:max_time}"
                "; if a fold has a single row, or rows of only one class, use fewer folds or "
                f"another {api:scoring}"
            )
        cause = self.failures[names[0]]
        error = value_error(
            f"no candidate has a score in every fold, because the scorer {self.label(names[0])} "
            f"failed: {described(cause)}; pass another {api:scoring}, or set error_score='raise' "
            "to see where it failed"
        )
        error.__cause__ = cause
        return error

    def by_name(self, found: list[dict[str, float]]) -> dict[str, NDArray[np.float64]]:
        """Return the scores of all folds by name.

        The scores of failed scorers and of failed folds are `error_score`.
        """
        names = list(dict.fromkeys(name for scores in found for name in scores))
        returned = set(names) - self.scorers.keys()
        if returned:  # a scorer that returns a dict has its own name only where it failed
            scored = [scores for scores in found if scores]  # failed folds have none
            names = [n for n in names if n in returned or all(n in scores for scores in scored)]
        missing = np.nan if isinstance(self.error_score, str) else self.error_score
        return {name: np.array([scores.get(name, missing) for scores in found]) for name in names}

    def of_search(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the scores that the search maximizes, (n_folds,)."""
        name = SINGLE if self.main is None else self.main
        if name not in scores and self.failures:
            return np.full(len(next(iter(scores.values()))), float(self.error_score))
        if name not in scores:
            refit = True if self.main is None else self.main
            raise InvalidParameterError(
                f"refit must be the name of a score ({', '.join(map(repr, scores))}) or a "
                f"callable, got {refit!r}"
            )
        return scores[name]


def quick_score(scorer: Any) -> Callable[[NDArray[Any], NDArray[Any]], float] | None:
    """Return the accuracy or R^2 without the checks of scikit-learn; None for other scorers.

    On folds of a few hundred rows, the checks take a third of the time of the fits.
    """
    function = getattr(scorer, "_score_func", None)
    if function not in QUICK or scorer._sign != 1 or scorer._kwargs:  # noqa: SLF001
        return None
    return QUICK[function]


def _accuracy(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(np.mean(y == predicted))


def _r2(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    total = float(((y - y.mean()) ** 2).sum())
    if total == 0:  # by convention
        return float(r2_score(y, predicted))
    return 1 - float(((y - predicted) ** 2).sum()) / total


QUICK: dict[Any, Callable[[NDArray[Any], NDArray[Any]], float]] = {
    accuracy_score: _accuracy,
    r2_score: _r2,
}
"""Scores that are computed here, by the function of scikit-learn."""


def described(error: Exception) -> str:
    """Return the type and the message of an error."""
    return f"{type(error).__name__}: {error}"


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
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):  # a builtin
        return False
    return any(
        parameter.name == "sample_weight" or parameter.kind is parameter.VAR_KEYWORD
        for parameter in parameters
    )
