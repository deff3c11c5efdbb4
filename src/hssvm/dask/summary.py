"""A summary of the rows, from one pass over the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition
from hssvm.dask.sample import Sample
from hssvm.kernels.base import Floats
from hssvm.kernels.radial import RadialKernel
from hssvm.training.data.moments import Moments, feature_range
from hssvm.training.data.scaling import SCALINGS, Scaling
from hssvm.training.data.widths import moments_gamma, scale_gamma, uses_moments
from hssvm.training.tasks import Targets, class_targets, value_targets

MAX_CLASSES = 10_000
"""Maximum number of classes; with more, the columns of all classes would not fit in memory."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Sorted labels, with the number and the total weight of their rows."""

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, y: NDArray[Any], weight: Floats | None) -> Classes:
        """Return the classes of the labels `y`; by default all weights are 1."""
        ones = np.ones(y.shape[0])
        return cls._sum(y, ones.astype(np.int64), ones if weight is None else weight)

    @classmethod
    def merge(cls, classes: Sequence[Classes]) -> Classes:
        """Combine the classes of several sets of rows."""
        if len({c.labels.dtype.kind in "biuf" for c in classes}) > 1:
            raise ValueError(
                "y has numbers in some partitions and other labels in others; convert them to one "
                "type"
            )
        return cls._sum(
            np.concatenate([c.labels for c in classes]),
            np.concatenate([c.counts for c in classes]),
            np.concatenate([c.weights for c in classes]),
        )

    @classmethod
    def _sum(cls, y: NDArray[Any], counts: NDArray[np.int64], weights: Floats) -> Classes:
        labels, code = np.unique(y, return_inverse=True)
        if labels.size > MAX_CLASSES:
            raise ValueError(
                f"y has more than {MAX_CLASSES:,} different labels; use SVR for regression"
            )
        total = np.zeros(labels.size, np.int64)
        np.add.at(total, code, counts)
        weight = np.bincount(code, weights, labels.size).astype(np.float64, copy=False)
        return cls(labels, total, weight)


@dataclass(frozen=True, eq=False)
class DataSummary:
    """Statistics of the rows, and a sample of them.

    Attributes
    ----------
    partition_rows : (n_partitions,) int64
        Number of rows of every partition.
    dtype : dtype
        The widest dtype of all partitions.
    sparse, has_y, has_weight : bool
    lowest, highest : (p,), of `dtype`
        Minimum and maximum of every feature, including the zeros of sparse rows.
    moments : Moments
        Without sample weights.
    weighted : Moments
        With sample weights.
    classes : Classes or None
    sample : Sample
    """

    partition_rows: NDArray[np.int64]
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
        """Number of rows of all partitions."""
        return int(self.partition_rows.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.lowest.shape[0])

    def scaling(self, kind: str | None) -> Scaling:
        """Compute the scaling of all rows, or quantiles of the sample; see `Scaling.of`."""
        if kind not in SCALINGS:
            raise ValueError(f"scaling must be one of {SCALINGS}, got {kind!r}")
        if kind is None:
            return Scaling()
        if kind == "quantiles":
            return Scaling.of(self.sample.X.astype(self.dtype, copy=False), kind)
        if kind == "standard":
            return Scaling.standard(self.moments, self.lowest, self.highest, sparse=self.sparse)
        return Scaling.minmax(self.lowest, self.highest, sparse=self.sparse)

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return the targets of rows of the sample, from which scales are learned."""
        if self.sample.y is None:
            raise ValueError("y is missing; pass the targets to learn scales from")
        y = self.sample.y[rows]
        if self.classes is None:
            return value_targets(y)
        labels = self.classes.labels
        return class_targets(np.searchsorted(labels, y), labels.size)

    def scale_gamma(self, kernel: type[RadialKernel] | None, scaling: Scaling) -> float:
        """Value of gamma='scale' for the scaled rows: from all of them, or from the sample."""
        if scaling.quantiles is None and uses_moments(kernel):
            moments = self.weighted.scaled(scaling.shift, scaling.factor)
            return moments_gamma(self.n_features, moments.overall_variance)
        return scale_gamma(kernel, scaling(self.sample.X), self.sample.weight)


def describe(
    partition: Partition, seed: int | Sequence[int], n_keep: int, classify: bool = False
) -> DataSummary:
    """Summarize one partition.

    Parameters
    ----------
    partition : Partition
    seed : int or sequence of int
        Different for every partition.
    n_keep : int
        Maximum number of rows in the sample.
    classify : bool
        Whether y are labels.
    """
    X = partition.X
    sparse = bool(scipy.sparse.issparse(X))
    if classify and partition.y is None:
        raise ValueError("y is missing; pass the labels to train a classifier")
    if classify and partition.y is not None and partition.y.dtype.kind == "f":
        require_labels(partition.y)
    if not classify and partition.y is not None and partition.y.dtype.kind not in "biuf":
        raise ValueError(
            f"y must contain numbers, not {partition.y.dtype}; convert it to numbers, or leave it "
            "out"
        )
    moments = Moments.of(X)
    lowest, highest = feature_range(X)
    return DataSummary(
        partition_rows=np.array([X.shape[0]], np.int64),
        dtype=X.dtype,
        sparse=sparse,
        has_y=partition.y is not None,
        has_weight=partition.weight is not None,
        lowest=lowest,
        highest=highest,
        moments=moments,
        weighted=moments if partition.weight is None else Moments.of(X, partition.weight),
        classes=Classes.of(partition.y, partition.weight)
        if classify and partition.y is not None
        else None,
        sample=Sample.draw(partition, n_keep, np.random.default_rng(seed)),
    )


def require_labels(y: Floats) -> None:
    """Raise ValueError for numbers that are not integers."""
    if (y != np.round(y)).any():
        raise ValueError("y contains non-integer values; use SVR for regression")


def merge(summaries: Sequence[DataSummary], n_keep: int) -> DataSummary:
    """Merge the summaries of partitions, in the given order.

    Empty partitions are ignored, except in `partition_rows`.

    Parameters
    ----------
    summaries : sequence of DataSummary
    n_keep : int
        Maximum number of rows in the sample.
    """
    partition_rows = np.concatenate([d.partition_rows for d in summaries])
    filled = [d for d in summaries if d.n_rows]
    if not filled:
        return replace(summaries[0], partition_rows=partition_rows)
    for name, advice in {
        "n_features": "give all partitions the same columns",
        "sparse": "make all partitions CSR matrices, or none",
        "has_y": "give all partitions a y, or none",
        "has_weight": "give all partitions a sample_weight, or none",
    }.items():
        values = {getattr(d, name) for d in filled}
        if len(values) > 1:
            raise ValueError(f"partitions differ in {name}: {sorted(values)}; {advice}")
    return DataSummary(
        partition_rows=partition_rows,
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
