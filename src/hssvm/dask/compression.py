"""Distributed compression: a task for every part, and one for the top levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import get_worker

from hssvm._threads import openmp_threads
from hssvm.dask.plan import Plan
from hssvm.dask.shuffle import PartRows
from hssvm.hss import ClusterTree, Compressor, HSSMatrix, NestedNystroem
from hssvm.hss.parts import SubtreeRoot, TopLevels, compress_part, compress_top
from hssvm.hss.samples import FarFieldSample
from hssvm.kernels import Kernel
from hssvm.training import TrainingConfig, TrainingPlan


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


def n_rows_of(rows: PartRows) -> int:
    """Number of rows of a part."""
    return int(rows.ids.size)


def should_refine(rows: PartRows, config: TrainingConfig, kernel: Kernel, n_rows: int) -> bool:
    """Whether to continue on the exact kernel, judging from the rows of a part."""
    return config.should_refine(kernel, rows.X, n_rows)


def compress_rows(
    rows: PartRows,
    outside: FarFieldSample,
    part: int,
    depth: int,
    kernel: Kernel,
    plan: TrainingPlan,
    number: int,
) -> CompressedPart:
    """Compress a part for a tree of the forest; the trees of all parts have the same depth."""
    seed = plan.tree_seed(number) + part
    with openmp_threads(get_worker().state.nthreads):
        tree = ClusterTree.build(rows.X, plan.leaf_size, random_state=seed, min_depth=depth)
        matrix, root = compress_part(
            kernel, rows.X, tree, nested_nystroem(plan.compressor), outside, random_state=seed
        )
    return CompressedPart(matrix, root, rows)


def root_of(compressed: CompressedPart) -> SubtreeRoot:
    """Root of a part, for the compression of the top levels."""
    return compressed.root


def compress_top_levels(
    roots: Sequence[SubtreeRoot],
    planned: Plan,
    depth: int,
    kernel: Kernel,
    plan: TrainingPlan,
    number: int,
) -> TopLevels:
    """Compress the levels above the parts for a tree of the forest."""
    with openmp_threads(get_worker().state.nthreads):
        return compress_top(
            kernel,
            roots,
            planned.layout.splits.slots,
            planned.X,
            planned.offsets,
            nested_nystroem(plan.compressor),
            depth,
            random_state=plan.tree_seed(number),
        )


def nested_nystroem(compressor: Compressor) -> NestedNystroem:
    """Return the compressor; raise ValueError if it cannot compress in parts."""
    if not isinstance(compressor, NestedNystroem):
        raise ValueError(
            f"{compressor!r} cannot be used with hssvm.dask; set compressor=None or "
            "NestedNystroem(...)"
        )
    return compressor


def top_ranks(top: TopLevels) -> list[int]:
    """Largest rank per level, root first."""
    return [int(np.diff(level.ranks).max()) for level in top.levels]
