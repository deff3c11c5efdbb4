"""Folds as columns of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Split = tuple[NDArray[np.int64], NDArray[np.int64]]

RARE = 100
"""Minimum number of rows of each class in a sample, if available, so that every fold tests some."""


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of a cross-validation, or some of them, on all rows or a sample.

    Attributes
    ----------
    splits : list of (train, test)
        Indices of rows of the sample.
    rows : (m,) int64
        The rows of the sample among all rows, ascending.
    """

    splits: list[Split]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, splits: list[Any], n_rows: int) -> Folds:
        """Return folds on all rows; splitters may return lists or masks."""
        every_row = np.arange(n_rows)
        splits = [(every_row[train], every_row[test]) for train, test in splits]
        for index, (train, test) in enumerate(splits):
            if not train.size or not test.size:
                kind = "test" if train.size else "training"
                raise ValueError(f"fold {index} of cv has no {kind} rows; pass another cv")
        return cls(splits, every_row)

    def with_strata(self, rows: NDArray[np.int64], strata: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add rows of the strata that a fold trains on or tests, but not in `rows`; ascending."""
        chosen = np.zeros(self.rows.size, bool)
        chosen[rows] = True
        for own in (own for split in self.splits for own in split):
            for stratum in np.setdiff1d(strata[own], strata[own[chosen[own]]]):
                chosen[own[strata[own] == stratum][:RARE]] = True
        return np.flatnonzero(chosen)

    def among(self, rows: NDArray[np.int64]) -> Folds:
        """Restrict the folds to some rows, ascending, with new row indices."""
        new = np.full(self.rows.size, -1)
        new[rows] = np.arange(rows.size)
        splits = [
            (new[train][new[train] >= 0], new[test][new[test] >= 0]) for train, test in self.splits
        ]
        return Folds(splits, self.rows[rows])

    def separate(self) -> list[Folds]:
        """Return each fold separately."""
        return [Folds([split], self.rows) for split in self.splits]

    @property
    def excluded(self) -> NDArray[np.bool_]:
        """Rows that the folds do not train on, (m, n_folds)."""
        excluded = np.ones((self.rows.size, len(self.splits)), bool)
        for f, (train, _) in enumerate(self.splits):
            excluded[train, f] = False
        return excluded


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
