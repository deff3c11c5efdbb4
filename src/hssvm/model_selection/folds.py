"""Folds as columns of a problem, and the scores on their test rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from hssvm.estimators.labels import classify
from hssvm.kernels.base import Floats

RARE = 100
"""Minimum number of rows of each class in a sample, if available, so that every fold tests some."""


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of a cross-validation.

    Attributes
    ----------
    splits : list of (train, test)
        Row indices.
    y, classes : arrays
    scoring : str, callable or None
    sample_weight : (n,) or None
        Weights of the rows in the scores.
    """

    splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    y: NDArray[Any]
    classes: NDArray[Any]
    scoring: Any
    sample_weight: Floats | None

    def with_tests(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add the test rows of folds without test rows in `rows`; the result is ascending."""
        chosen = np.zeros(self.y.size, bool)
        chosen[rows] = True
        for _, test in self.splits:
            chosen[test] |= not chosen[test].any()
        return np.flatnonzero(chosen)

    def among(self, rows: NDArray[np.int64]) -> Folds:
        """Restrict the folds to some rows, ascending, with new row indices."""
        new = np.full(self.y.size, -1)
        new[rows] = np.arange(rows.size)
        splits = [
            (new[train][new[train] >= 0], new[test][new[test] >= 0]) for train, test in self.splits
        ]
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return Folds(splits, self.y[rows], self.classes, self.scoring, weight)

    def separate(self) -> list[Folds]:
        """Return each fold separately."""
        return [replace(self, splits=[split]) for split in self.splits]

    def bounds(self, unit_bound: Floats) -> Floats:
        """Bounds (n, folds * classes), with 0 for the rows that a fold does not train on."""
        n, n_classes = unit_bound.shape
        bounds = np.zeros((n, len(self.splits), n_classes), unit_bound.dtype)
        for f, (train, _) in enumerate(self.splits):
            bounds[train, f] = unit_bound[train]
        return bounds.reshape(n, -1)

    def scores(self, values: Floats) -> list[float]:
        """Score of each fold from its decision values, (n, folds, classes)."""
        scores = []
        for f, (_, test) in enumerate(self.splits):
            model = KnownValues(values[:, f], self.classes)
            weight = (
                {} if self.sample_weight is None else {"sample_weight": self.sample_weight[test]}
            )
            scorer = get_scorer("accuracy" if self.scoring is None else self.scoring)
            scores.append(float(scorer(model, test, self.y[test], **weight)))
        return scores


class KnownValues(ClassifierMixin, BaseEstimator):
    """A fitted classifier for scorers, with known decision values; its X are row indices."""

    def __init__(self, values: Floats, classes: NDArray[Any]) -> None:
        self.values = values
        self.classes = classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, rows: NDArray[np.int64]) -> Floats:
        """Decision values of the given rows."""
        values = self.values[rows]
        return values[:, 0] if self.classes_.size == 2 else values

    def predict(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Classes of the given rows."""
        return classify(self.decision_function(rows), self.classes_)


def sample_rows(codes: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Draw stratified random rows, ascending; rare classes are overrepresented."""
    order = np.random.default_rng(seed).permutation(codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    rows = order[np.linspace(0, codes.size - 1, count).astype(np.int64)]
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    least = min(RARE, count // sizes.size)
    rare = np.flatnonzero(np.bincount(codes[rows], minlength=sizes.size) < least)
    more = [order[starts[c] : starts[c] + min(sizes[c], least)] for c in rare]
    return np.sort(np.concatenate([rows[~np.isin(codes[rows], rare)], *more]))
