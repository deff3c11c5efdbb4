"""The first pass: what the rows are like, and where to cut them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.cuts import SAMPLE_PER_PART, Cuts
from hssvm.dask.description import Classes, Description, describe, merge
from hssvm.dask.waiting import Asked, value_of
from hssvm.estimators.scaling import Scaling
from hssvm.hss.samples import Outside
from hssvm.kernels.base import Rows

FAN_IN = 32
"""Descriptions that one task merges."""

LEAST_ROWS = 1000
"""Rows of a part: fewer are not worth a worker."""


@dataclass(frozen=True, eq=False)
class Layout:
    """What the driver knows of the rows.

    Attributes
    ----------
    offsets : (n_pieces + 1,) int64
        Global number of the first row of every piece, and at the end the number of rows.
    n_features : int
    dtype : dtype
    sparse, has_y, has_weight : bool
    classes : Classes or None
        Labels with their counts and weights; None if y is not of labels.
    scaling : Scaling
    variance : float
        Of all entries of the scaled rows, by sample weight: for gamma='scale'.
    cuts : Cuts
    """

    offsets: NDArray[np.int64]
    n_features: int
    dtype: np.dtype[Any]
    sparse: bool
    has_y: bool
    has_weight: bool
    classes: Classes | None
    scaling: Scaling
    variance: float
    cuts: Cuts

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return self.cuts.n_parts

    @property
    def n_rows(self) -> int:
        """Number of rows of all pieces."""
        return int(self.offsets[-1])


@dataclass(frozen=True, eq=False)
class Plan:
    """A layout with the sample it was made from. It stays on a worker.

    Attributes
    ----------
    layout : Layout
    X : (m, p) array or CSR matrix
        The sample, scaled, sorted by part.
    ends : (n_slots + 1,) int64
        Rows of X between ``ends[s]`` and ``ends[s + 1]`` are those of slot s.
    """

    layout: Layout
    X: Rows
    ends: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        description: Description,
        n_parts: int,
        seed: int,
        scaling: str | None = None,
        least_rows: int = 1,
    ) -> Plan:
        """Choose scaling and cuts."""
        if description.n_rows == 0:
            raise ValueError("X has no rows")
        if not description.weighted.total > 0:
            raise ValueError("sample_weight is zero for all rows; some must count")
        n_parts = max(1, min(n_parts, description.n_rows // least_rows))
        scale = description.scaling(scaling)
        X = scale(description.sample.X.astype(description.dtype, copy=False))
        cuts = Cuts.make(X, n_parts, seed)
        layout = Layout(
            offsets=np.concatenate([[0], np.cumsum(description.piece_rows)]),
            n_features=description.n_features,
            dtype=description.dtype,
            sparse=description.sparse,
            has_y=description.has_y,
            has_weight=description.has_weight,
            classes=description.classes,
            scaling=scale,
            variance=description.variance(scale),
            cuts=cuts,
        )
        slot = cuts.slots[cuts.assign(X, np.arange(X.shape[0]), seed)]
        order = np.argsort(slot, kind="stable")
        ends = np.searchsorted(slot[order], np.arange(2**cuts.depth + 1))
        return cls(layout, X[order], ends)


def plan(
    client: Client,
    pieces: Sequence[Delayed],
    n_parts: int,
    *,
    seed: int = 0,
    scaling: str | None = None,
    classify: bool = False,
    least_rows: int = 1,
    asked: Asked | None = None,
) -> tuple[Layout, Future]:
    """Read all pieces once.

    Parameters
    ----------
    client : distributed.Client
    pieces : list of Delayed
        Those of `as_pieces`.
    n_parts : int
        There are fewer, if they would have fewer rows than `least_rows`.
    seed : int
    scaling : {None, 'standard', 'minmax'}
    classify : bool
        Whether y are labels.
    least_rows : int
    asked : callable, optional
        As in `wait_for`.

    Returns
    -------
    layout : Layout
    planned : Future of a Plan
    """
    if n_parts < 1:
        raise ValueError(f"n_parts must be at least 1, got {n_parts}; start some workers")
    n_sample = SAMPLE_PER_PART * n_parts
    # Twice the share of a piece, so that pieces of twice the mean size do not thin the sample.
    n_keep = 2 * n_sample // len(pieces) + 100
    described = [
        delayed(describe, pure=False)(piece, [seed, i], n_keep, classify)
        for i, piece in enumerate(pieces)
    ]
    merged = described
    while len(merged) > 1 or merged is described:
        groups = [merged[i : i + FAN_IN] for i in range(0, len(merged), FAN_IN)]
        merged = [delayed(merge, pure=False)(group, n_sample) for group in groups]
    planned = client.compute(
        delayed(Plan.of, pure=False)(merged[0], n_parts, seed, scaling, least_rows)
    )
    return value_of(client, client.submit(layout_of, planned, pure=False), asked), planned


def layout_of(planned: Plan) -> Layout:
    """The part of a plan that the driver needs."""
    return planned.layout


def outside_of(planned: Plan, part: int, per_level: int = 1000) -> Outside:
    """What a part needs to know of the others.

    Parameters
    ----------
    planned : Plan
    part : int
    per_level : int
        Most rows from the sibling of an ancestor; they are spaced evenly over it.
    """
    cuts = planned.layout.cuts
    depth, slot = cuts.depth, int(cuts.slots[part])
    rows = []
    for level in range(1, depth + 1):
        width = 2 ** (depth - level)
        sibling = (slot // width) ^ 1
        begin, end = planned.ends[sibling * width], planned.ends[(sibling + 1) * width]
        n = min(per_level, end - begin)
        rows.append(begin + (2 * np.arange(n) + 1) * (end - begin) // max(2 * n, 1))
    ends = np.cumsum([0, *(r.size for r in rows)])
    return Outside(planned.X[np.concatenate([np.arange(0), *rows])], ends)
