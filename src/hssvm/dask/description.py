"""What one pass over the pieces tells about the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.dask.moments import Moments
from hssvm.dask.pieces import Piece
from hssvm.dask.sample import Sample
from hssvm.estimators.scaling import SCALINGS, Scaling
from hssvm.kernels.base import Floats, Rows

MOST_CLASSES = 10_000
"""More are no classes: a column for each of them would not fit into memory."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Labels, sorted, with the number of their rows and the weight of these."""

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, y: NDArray[Any], weight: Floats | None) -> Classes:
        """Classes of the labels `y`; without `weight` every row has the weight 1."""
        ones = np.ones(y.shape[0])
        return cls._sum(y, ones.astype(np.int64), ones if weight is None else weight)

    @classmethod
    def merge(cls, classes: Sequence[Classes]) -> Classes:
        """Classes of all rows together."""
        if len({c.labels.dtype.kind in "biuf" for c in classes}) > 1:
            raise ValueError("y has numbers in some pieces and other labels in others; convert it")
        return cls._sum(
            np.concatenate([c.labels for c in classes]),
            np.concatenate([c.counts for c in classes]),
            np.concatenate([c.weights for c in classes]),
        )

    @classmethod
    def _sum(cls, y: NDArray[Any], counts: NDArray[np.int64], weights: Floats) -> Classes:
        labels, code = np.unique(y, return_inverse=True)
        if labels.size > MOST_CLASSES:
            raise ValueError(
                f"y has more than {MOST_CLASSES:,} different labels; for values take SVR"
            )
        total = np.zeros(labels.size, np.int64)
        np.add.at(total, code, counts)
        weight = np.bincount(code, weights, labels.size).astype(np.float64, copy=False)
        return cls(labels, total, weight)


@dataclass(frozen=True, eq=False)
class Description:
    """Numbers that describe rows, and a sample of them.

    Attributes
    ----------
    piece_rows : (n_pieces,) int64
        Rows of every piece.
    dtype : dtype
        The widest of all pieces.
    sparse, has_y, has_weight : bool
    lowest, highest : (p,), of `dtype`
        Of every feature; the zeros of sparse rows count.
    moments : Moments
        Every row counts as 1.
    weighted : Moments
        The same by sample weight.
    classes : Classes or None
    sample : Sample
    """

    piece_rows: NDArray[np.int64]
    dtype: np.dtype[Any]
    sparse: bool
    has_y: bool
    has_weight: bool
    lowest: Floats
    highest: Floats
    moments: Moments
    weighted: Moments
    classes: Classes | None
    sample: Sample

    @property
    def n_rows(self) -> int:
        """Number of rows of all pieces."""
        return int(self.piece_rows.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.lowest.shape[0])

    def scaling(self, kind: str | None) -> Scaling:
        """`Scaling.of` all rows."""
        if kind not in SCALINGS:
            raise ValueError(f"scaling must be None, 'standard' or 'minmax', got {kind!r}")
        if kind is None:
            return Scaling()
        if kind == "standard":
            # As in scikit-learn, a feature is constant if rounding explains its variance.
            variance, mean, n = self.moments.variance, self.moments.mean, self.n_rows
            eps = np.finfo(np.float64).eps
            constant = variance <= n * eps * variance + (n * mean * eps) ** 2
            deviation = np.where(constant, 1.0, np.sqrt(variance))
            return Scaling(None if self.sparse else mean, 1 / deviation)
        if self.sparse:
            extent = np.maximum(np.abs(self.lowest), np.abs(self.highest))
        else:
            extent = self.highest - self.lowest
        extent = np.where(extent < 10 * np.finfo(self.dtype).eps, 1, extent)
        factor = (1 / extent).astype(np.float64)
        return Scaling(None if self.sparse else self.lowest.astype(np.float64), factor)

    def variance(self, scaling: Scaling) -> float:
        """Variance of all entries of the scaled rows, by sample weight: for gamma='scale'."""
        mean, variance = self.weighted.mean, self.weighted.variance
        if scaling.shift is not None:
            mean = mean - scaling.shift
        if scaling.factor is not None:
            mean, variance = mean * scaling.factor, variance * scaling.factor**2
        return float(np.mean(variance + (mean - mean.mean()) ** 2))


def describe(
    piece: Piece, seed: int | Sequence[int], n_keep: int, classify: bool = False
) -> Description:
    """Describe one piece.

    Parameters
    ----------
    piece : Piece
    seed : int or sequence of int
        Another for every piece.
    n_keep : int
        Most rows in the sample.
    classify : bool
        Whether y are labels, whose classes are wanted.
    """
    X = piece.X
    sparse = bool(scipy.sparse.issparse(X))
    if classify and piece.y is None:
        raise ValueError("y is missing; pass the labels to train a classifier")
    if classify and piece.y is not None and piece.y.dtype.kind == "f":
        require_labels(piece.y)
    if not classify and piece.y is not None and piece.y.dtype.kind not in "biuf":
        raise ValueError(f"y must be of numbers, not {piece.y.dtype}; convert it, or leave it out")
    moments = Moments.of(X)
    lowest, highest = _range(X)
    return Description(
        piece_rows=np.array([X.shape[0]], np.int64),
        dtype=X.dtype,
        sparse=sparse,
        has_y=piece.y is not None,
        has_weight=piece.weight is not None,
        lowest=lowest,
        highest=highest,
        moments=moments,
        weighted=moments if piece.weight is None else Moments.of(X, piece.weight),
        classes=Classes.of(piece.y, piece.weight) if classify and piece.y is not None else None,
        sample=Sample.draw(X, n_keep, np.random.default_rng(seed)),
    )


def require_labels(y: Floats) -> None:
    """Raise ValueError where numbers are none that count."""
    if (y != np.round(y)).any():
        raise ValueError("y has fractions, and labels have none; for values take SVR")


def _range(X: Rows) -> tuple[Floats, Floats]:
    """Lowest and highest value of every feature."""
    if X.shape[0] == 0:
        none = np.zeros(X.shape[1], X.dtype)
        return none, none
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if scipy.sparse.issparse(X):
        return lowest.toarray().ravel(), highest.toarray().ravel()
    return lowest, highest


def merge(descriptions: Sequence[Description], n_keep: int) -> Description:
    """Description of the rows of all pieces, in the order given.

    Pieces without rows count as pieces, and say nothing else.

    Parameters
    ----------
    descriptions : sequence of Description
    n_keep : int
        Most rows in the sample.
    """
    piece_rows = np.concatenate([d.piece_rows for d in descriptions])
    filled = [d for d in descriptions if d.n_rows]
    if not filled:
        return replace(descriptions[0], piece_rows=piece_rows)
    for name, advice in {
        "n_features": "give all pieces the same columns",
        "sparse": "make all pieces CSR matrices, or none",
        "has_y": "give all pieces a y, or none",
        "has_weight": "give all pieces a sample_weight, or none",
    }.items():
        values = {getattr(d, name) for d in filled}
        if len(values) > 1:
            raise ValueError(f"pieces differ in {name}: {sorted(values)}; {advice}")
    return Description(
        piece_rows=piece_rows,
        dtype=np.result_type(*(d.dtype for d in filled)),
        sparse=filled[0].sparse,
        has_y=filled[0].has_y,
        has_weight=filled[0].has_weight,
        lowest=np.min([d.lowest for d in filled], axis=0),
        highest=np.max([d.highest for d in filled], axis=0),
        moments=Moments.merge([d.moments for d in filled]),
        weighted=Moments.merge([d.weighted for d in filled]),
        classes=Classes.merge([d.classes for d in filled if d.classes is not None])
        if filled[0].classes is not None
        else None,
        sample=Sample.merge([d.sample for d in filled], n_keep),
    )
