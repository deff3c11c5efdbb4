"""Compression in parts: a task for every part, and one for the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import get_worker

from hssvm._threads import openmp_threads
from hssvm.dask.plan import Plan
from hssvm.dask.shuffle import PartRows
from hssvm.hss import ClusterTree, HSSMatrix, NestedNystroem
from hssvm.hss.parts import Root, Top, compress_part, compress_top
from hssvm.hss.samples import Outside
from hssvm.kernels import Kernel


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to compress; the same for all parts.

    Attributes
    ----------
    kernel : Kernel
    strategy : NestedNystroem
    leaf_size : int
    seed : int
    """

    kernel: Kernel
    strategy: NestedNystroem
    leaf_size: int
    seed: int


@dataclass(frozen=True, eq=False)
class Built:
    """A compressed part, with its targets. It stays on its worker.

    Attributes
    ----------
    matrix : HSSMatrix
    root : Root
    rows : PartRows
        Its X is that of the matrix.
    """

    matrix: HSSMatrix
    root: Root
    rows: PartRows


def n_rows_of(rows: PartRows) -> int:
    """Size of a part."""
    return int(rows.ids.size)


def build_part(rows: PartRows, outside: Outside, part: int, depth: int, recipe: Recipe) -> Built:
    """Compress a part; the trees of all parts have the same depth."""
    seed = recipe.seed + part
    with openmp_threads(get_worker().state.nthreads):
        tree = ClusterTree.build(rows.X, recipe.leaf_size, random_state=seed, min_depth=depth)
        matrix, root = compress_part(
            recipe.kernel, rows.X, tree, recipe.strategy, outside, random_state=seed
        )
    return Built(matrix, root, rows)


def root_of(built: Built) -> Root:
    """What the top needs to know of a part."""
    return built.root


def build_top(roots: Sequence[Root], planned: Plan, depth: int, recipe: Recipe) -> Top:
    """Compress the levels above the parts."""
    with openmp_threads(get_worker().state.nthreads):
        return compress_top(
            recipe.kernel,
            roots,
            planned.layout.cuts.slots,
            planned.X,
            planned.ends,
            recipe.strategy,
            depth,
            random_state=recipe.seed,
        )


def top_ranks(top: Top) -> list[int]:
    """Largest rank per level."""
    return [int(np.diff(level.ranks).max()) for level in top.levels]
