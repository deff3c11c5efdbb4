"""The first pass over the data: a summary of the rows, and the splits of the top levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.deadline import Deadline
from hssvm.dask.splits import SAMPLE_PER_PART, TopSplits
from hssvm.dask.summary import Classes, DataSummary, describe, merge
from hssvm.dask.waiting import ShouldStop, value_of
from hssvm.hss.samples import FarFieldSample
from hssvm.hss.top import Group
from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.kernels.radial import RadialKernel
from hssvm.training import FitReport, Route, TrainingConfig
from hssvm.training.config import is_one_leaf
from hssvm.training.data.scaling import Scaling
from hssvm.training.scales.learn import MANY_ROWS, LearnedScales, max_sample_rows
from hssvm.training.scales.scaling import LEARNED, base_of, learned_scaling

SUMMARIES_PER_TASK = 32
"""Number of summaries that one task merges."""

MIN_PART_ROWS = 1000
"""Minimum number of rows of a part; smaller parts are not worth a worker."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The driver's information about the rows.

    Attributes
    ----------
    offsets : (n_partitions + 1,) int64
        Global index of the first row of every partition, and finally the number of rows.
    n_features : int
    dtype : dtype
    sparse, has_y, has_weight : bool
    classes : Classes or None
        Labels with their counts and weights; None if y has no labels.
    scaling : Scaling
    scales : LearnedScales or None
    scale_gamma : float
        Value of gamma='scale' for the scaled rows.
    splits : TopSplits
    """

    offsets: NDArray[np.int64]
    n_features: int
    dtype: np.dtype[Any]
    sparse: bool
    has_y: bool
    has_weight: bool
    classes: Classes | None
    scaling: Scaling
    scales: LearnedScales | None
    scale_gamma: float
    splits: TopSplits

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return self.splits.n_parts

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return int(self.offsets[-1])


@dataclass(frozen=True, eq=False)
class Plan:
    """A layout with the sample from which it was computed; it stays on a worker.

    Attributes
    ----------
    layout : Layout
    X : (m, p) array or CSR matrix
        The sample, scaled, sorted by part.
    offsets : (n_slots + 1,) int64
        The rows of slot s are ``X[offsets[s] : offsets[s + 1]]``.
    """

    layout: Layout
    X: Rows
    offsets: NDArray[np.int64]

    def outside(self, level: int, node: int, per_level: int = 1000) -> FarFieldSample:
        """Sample the rows outside a node of the tree.

        Parameters
        ----------
        level, node : int
        per_level : int
            Maximum number of rows from the sibling of an ancestor; they are evenly spaced in it.
        """
        depth = self.layout.splits.depth
        rows = [np.arange(0)]
        for ancestor in range(1, level + 1):
            width = 2 ** (depth - ancestor)
            sibling = (node >> (level - ancestor)) ^ 1
            begin, end = (int(self.offsets[(sibling + i) * width]) for i in (0, 1))
            rows.append(evenly_spaced(begin, end, per_level))
        return FarFieldSample(self.X[np.concatenate(rows)], np.cumsum([r.size for r in rows]))

    @classmethod
    def of(
        cls,
        summary: DataSummary,
        n_parts: int,
        seed: int,
        scaling: str | None = None,
        min_part_rows: int = 1,
        kernel: type[RadialKernel] | None = None,
        deadline: float = math.inf,
    ) -> Plan:
        """Compute the scaling and the splits; see `plan`."""
        if summary.n_rows == 0:
            raise ValueError("X has no rows")
        if not summary.weighted.total > 0:
            raise ValueError("sample_weight is zero for all rows; some must be positive")
        n_parts = max(1, min(n_parts, summary.n_rows // min_part_rows))
        scale, scales = summary.scaling(base_of(scaling)), None
        if scaling in LEARNED:
            assert kernel is not None
            scale, scales = learned_scaling(
                scale,
                summary.sample.X.astype(summary.dtype, copy=False),
                summary.targets,
                summary.sample.weight,
                kernel,
                seed=seed,
                report=FitReport(),
                monitor=Deadline(deadline),
                max_rows=max_sample_rows(summary.n_rows),
            )
        X = scale(summary.sample.X.astype(summary.dtype, copy=False))
        splits = TopSplits.make(X, n_parts, seed)
        layout = Layout(
            offsets=np.concatenate([[0], np.cumsum(summary.partition_rows)]),
            n_features=summary.n_features,
            dtype=summary.dtype,
            sparse=summary.sparse,
            has_y=summary.has_y,
            has_weight=summary.has_weight,
            classes=summary.classes,
            scaling=scale,
            scales=scales,
            scale_gamma=summary.scale_gamma(kernel, scale),
            splits=splits,
        )
        slot = splits.slots[splits.assign(X, np.arange(X.shape[0]), seed)]
        order = np.argsort(slot, kind="stable")
        offsets = np.searchsorted(slot[order], np.arange(2**splits.depth + 1))
        return cls(layout, X[order], offsets)


@dataclass(frozen=True, eq=False)
class GroupSample:
    """What the compression of a group needs to know about the rows.

    Attributes
    ----------
    X : (m, p) array or CSR matrix
        Rows of the members of the group, scaled, sorted by slot.
    offsets : (n_slots + 1,) int64
        The rows of slot s are ``X[offsets[s] : offsets[s + 1]]``.
    outside : FarFieldSample or None
        None if the group is the only one.
    """

    X: Rows
    offsets: NDArray[np.int64]
    outside: FarFieldSample | None


def plan(
    client: Client,
    partitions: Sequence[Delayed],
    n_parts: int,
    *,
    seed: int = 0,
    scaling: str | None = None,
    classify: bool = False,
    min_part_rows: int = 1,
    kernel: type[RadialKernel] | None = None,
    deadline: float = math.inf,
    should_stop: ShouldStop | None = None,
) -> tuple[Layout, Future]:
    """Read all partitions once, and plan the parts.

    Parameters
    ----------
    client : distributed.Client
    partitions : list of Delayed
        As returned by `as_partitions`.
    n_parts : int
        Maximum number of parts; there are fewer if they would have fewer than `min_part_rows` rows.
    seed : int
    scaling : {None, 'standard', 'minmax', 'quantiles', 'learned', 'learned-quantiles'}
    classify : bool
        Whether y are labels.
    min_part_rows : int
    kernel : type, optional
        The kernel if it is radial.
    deadline : float
        When the fit should stop, in seconds since the epoch.
    should_stop : callable, optional
        As in `wait_for`.

    Returns
    -------
    layout : Layout
    planned : Future of a Plan
    """
    if n_parts < 1:
        raise ValueError(f"n_parts must be at least 1, got {n_parts}; start some workers")
    n_sample = SAMPLE_PER_PART * n_parts
    if scaling in ("quantiles", *LEARNED):
        n_sample = max(n_sample, max_sample_rows(MANY_ROWS))
    # Twice the mean, so that partitions of twice the mean size do not reduce the sample.
    n_keep = 2 * n_sample // len(partitions) + 100
    described = [
        delayed(describe, pure=False)(partition, [seed, i], n_keep, classify)
        for i, partition in enumerate(partitions)
    ]
    merged = described
    while len(merged) > 1 or merged is described:
        groups = [
            merged[i : i + SUMMARIES_PER_TASK] for i in range(0, len(merged), SUMMARIES_PER_TASK)
        ]
        merged = [delayed(merge, pure=False)(group, n_sample) for group in groups]
    planned = client.compute(
        delayed(Plan.of, pure=False)(
            merged[0], n_parts, seed, scaling, min_part_rows, kernel, deadline
        )
    )
    return value_of(client, client.submit(layout_of, planned, pure=False), should_stop), planned


def layout_of(planned: Plan) -> Layout:
    """Layout of a plan, for the driver."""
    return planned.layout


def route_of(planned: Plan, config: TrainingConfig, kernel: Kernel) -> tuple[Route, float]:
    """Route of a fit, and nominal seconds per kernel value, judging from the sample."""
    n_rows, value_cost = planned.layout.n_rows, kernel.value_cost(planned.X)
    if config.is_exact(kernel, planned.X, n_rows):
        return Route.REFINED, value_cost
    route = config.approximate_route(local=True)
    one_cell = route is Route.CELLS and is_one_leaf(n_rows, config.approximation)
    return Route.REFINED if one_cell else route, value_cost


def outside_of(planned: Plan, part: int, per_level: int = 1000) -> FarFieldSample:
    """Sample the other parts for the compression of one part; see `Plan.outside`."""
    splits = planned.layout.splits
    return planned.outside(splits.depth, int(splits.slots[part]), per_level)


def group_sample(planned: Plan, group: Group, per_member: int = SAMPLE_PER_PART) -> GroupSample:
    """Sample the members of a group, and what is outside it, for its compression.

    Parameters
    ----------
    planned : Plan
    group : Group
    per_member : int
        Maximum number of rows of a member.
    """
    width = 2 ** (planned.layout.splits.depth - group.level - group.depth)
    nodes = (group.node << group.depth) + np.arange(2**group.depth + 1)
    ends = planned.offsets[nodes * width]
    rows = [evenly_spaced(begin, end, per_member) for begin, end in pairwise(ends.tolist())]
    return GroupSample(
        planned.X[np.concatenate(rows)],
        np.cumsum([0, *(r.size for r in rows)]),
        planned.outside(group.level, group.node) if group.level else None,
    )


def evenly_spaced(begin: int, end: int, n_max: int) -> NDArray[np.int64]:
    """Return at most `n_max` integers from the range, evenly spaced."""
    n = min(n_max, end - begin)
    return begin + (2 * np.arange(n) + 1) * (end - begin) // max(2 * n, 1)
