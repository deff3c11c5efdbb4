"""Distributed compression: a task for every part, and one for every group of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import Future, get_worker

from hssvm._threads import openmp_threads
from hssvm.dask.plan import GroupSample
from hssvm.dask.shuffle import PartRows
from hssvm.hss import ClusterTree, Compressor, HSSMatrix, NestedNystroem
from hssvm.hss.parts import SubtreeRoot, compress_part
from hssvm.hss.samples import FarFieldSample
from hssvm.hss.top import Group, TopLevels, compress_top
from hssvm.kernels import Kernel
from hssvm.training import TrainingPlan


@dataclass(frozen=True, eq=False)
class CompressedPart:
    """A compressed part, with its targets; it stays on its worker.

    Attributes
    ----------
    matrix : HSSMatrix
    root : SubtreeRoot
    rows : PartRows
        With the same X as the matrix.
    """

    matrix: HSSMatrix
    root: SubtreeRoot
    rows: PartRows


@dataclass(frozen=True, eq=False)
class CompressedGroup:
    """The levels of a group of parts.

    Attributes
    ----------
    top : TopLevels
    root : SubtreeRoot
    """

    top: TopLevels
    root: SubtreeRoot


@dataclass(frozen=True, eq=False)
class CompressedTree:
    """A compressed tree of the forest, on the workers.

    Attributes
    ----------
    parts : list of Future
        Futures of `CompressedPart`.
    tiers : list of list of Group
        Groups of parts, and of groups, as returned by `group_parts`.
    tops : list of list of Future
        Futures of their `TopLevels`.
    """

    parts: list[Future]
    tiers: list[list[Group]]
    tops: list[list[Future]]

    @property
    def futures(self) -> list[Future]:
        """All futures."""
        return [*self.parts, *(top for tier in self.tops for top in tier)]


def n_rows_of(rows: PartRows) -> int:
    """Number of rows of a part."""
    return int(rows.ids.size)


def compress_rows(
    rows: PartRows,
    outside: FarFieldSample,
    part: int,
    depth: int,
    kernel: Kernel,
    plan: TrainingPlan,
    index: int,
) -> CompressedPart:
    """Compress a part for a tree of the forest; the trees of all parts have the same depth."""
    seed = plan.tree_seed(index) + part
    with openmp_threads(get_worker().state.nthreads):
        tree = ClusterTree.build(rows.X, plan.leaf_size, random_state=seed, min_depth=depth)
        matrix, root = compress_part(
            kernel, rows.X, tree, nested_nystroem(plan.compressor), outside, random_state=seed
        )
    return CompressedPart(matrix, root, rows)


def root_of(compressed: CompressedPart | CompressedGroup) -> SubtreeRoot:
    """Root of a part or a group, for the compression of the levels above."""
    return compressed.root


def compress_group(
    roots: Sequence[SubtreeRoot],
    sample: GroupSample,
    group: Group,
    depth: int,
    kernel: Kernel,
    plan: TrainingPlan,
    index: int,
) -> CompressedGroup:
    """Compress the levels of a group for a tree of the forest; the trees below have this `depth`.

    The groups of a tier, whose nodes differ, use different random numbers.
    """
    with openmp_threads(get_worker().state.nthreads):
        top, root = compress_top(
            kernel,
            roots,
            group.slots,
            sample.X,
            sample.offsets,
            nested_nystroem(plan.compressor),
            depth,
            outside=sample.outside,
            random_state=plan.tree_seed(index) + group.node,
        )
    return CompressedGroup(top, root)


def nested_nystroem(compressor: Compressor) -> NestedNystroem:
    """Return the compressor; raise ValueError if it cannot compress in parts."""
    if not isinstance(compressor, NestedNystroem):
        raise ValueError(
            f"{compressor!r} cannot be used with hssvm.dask; set compressor=None or "
            "NestedNystroem(...)"
        )
    return compressor


def top_of(compressed: CompressedGroup) -> TopLevels:
    """Levels of a group, for its coordinator."""
    return compressed.top


def group_ranks(compressed: CompressedGroup) -> list[int]:
    """Largest rank per level, root first."""
    return [int(np.diff(level.ranks).max()) for level in compressed.top.levels]
