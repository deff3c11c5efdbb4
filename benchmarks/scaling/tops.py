"""The levels above many parts, without the parts: one group of every tier.

What is real: kernel, compression, factor and solves of the groups, for roots of the rank that parts
of a million rows and more have at max_rank 72. What is not: the rows of a part. A handful of roots
of a few hundred rows each are compressed; every part has a copy of one of them, moved to a place
of its own. The Gaussian kernel does not see a translation, so L, Q and R of a copy are exact and
the matrix is a valid one.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from benchmarks.scaling.growth import make
from benchmarks.scaling.partitions import gamma_of
from benchmarks.timing import timed
from hssvm.hss import ClusterTree, NestedNystroem, factor
from hssvm.hss.nystroem import GROWING_LEVELS
from hssvm.hss.parts import compress_part
from hssvm.hss.samples import FarFieldSample
from hssvm.hss.top import TopLevels, compress_top, group_parts
from hssvm.kernels import Gaussian
from hssvm.training.config import RANK

N_ROWS, N_SAMPLE, N_ROOTS = 700, 100, 4
N_FEATURES = 18
SHIFT = 10.0
COMPRESSOR = NestedNystroem(rtol=0.0, max_rank=RANK)
"""No tolerance: every node has the largest rank it may have."""

ROOT_RANK = COMPRESSOR.largest_rank(GROWING_LEVELS, 0)
STEP, SHRINK = 2.0, 0.8
"""Distance of the two halves of the tree, and what is left of it from level to level."""


def places(depth, rng):
    """Where every slot is, (2**depth, p): siblings lie near each other."""
    place = np.zeros((1, N_FEATURES))
    for level in range(depth):
        step = rng.standard_normal(place.shape)
        step *= STEP * SHRINK**level / np.linalg.norm(step, axis=1, keepdims=True)
        place = np.stack([place - step, place + step], axis=1).reshape(-1, N_FEATURES)
    return place.astype(np.float32)


def make_roots(kernel):
    """A few roots of full rank, the R that each leaves, and some rows of each."""
    compressor = replace(COMPRESSOR, max_rank=ROOT_RANK)
    X = make(N_ROWS * (N_ROOTS + 1)).reshape(N_ROOTS + 1, N_ROWS, N_FEATURES)
    made = []
    for own, other in pairwise(X):
        tree = ClusterTree.build(own, N_ROWS)
        outside = FarFieldSample(other, np.array([0, N_ROWS]))
        matrix, root = compress_part(kernel, own, tree, compressor, outside)
        made.append((root, factor(matrix, SHIFT).R, own[:N_SAMPLE]))
    return made


@dataclass(frozen=True)
class Tier:
    """The first and largest group of a tier.

    Attributes
    ----------
    top : TopLevels
    R : list of arrays
        Those of its members.
    slots : (n_members,) int64
    compress : float
        Seconds of the compression.
    """

    top: TopLevels
    R: list
    slots: np.ndarray
    compress: float


def make_tiers(n_parts, seed=0):
    """One group of every tier, lowest first: what lies between a part and the root."""
    kernel, rng = Gaussian(gamma_of(N_FEATURES)), np.random.default_rng(seed)
    made, below, found = make_roots(kernel), GROWING_LEVELS, []
    for groups in groups_of(n_parts):
        group = groups[0]
        place = places(group.level + group.depth, rng)
        members = [made[slot % len(made)] for slot in group.slots]
        roots = [
            replace(root, X=root.X + place[slot])
            for slot, (root, _, _) in zip(group.slots, members, strict=True)
        ]
        sample = np.concatenate(
            [rows + place[slot] for slot, (*_, rows) in zip(group.slots, members, strict=True)]
        )
        ends = N_SAMPLE * np.minimum(np.arange(2**group.depth + 1), group.slots.size)
        first_of_siblings = 2 ** (group.depth + np.arange(group.level)[::-1])
        outside = [made[0][2] + place[slot] for slot in first_of_siblings]
        far = FarFieldSample(
            np.concatenate([sample[:0], *outside]), N_SAMPLE * np.arange(group.level + 1)
        )
        rows = group.slots, sample, ends
        (top, root), seconds = timed(
            partial(compress_top, kernel, roots, *rows, COMPRESSOR, below, outside=far)
        )
        R = [R for _, R, _ in members]
        found.append(Tier(top, R, group.slots, seconds))
        # The groups of the tier above have copies of this one.
        made = [(root, top.factor(np.concatenate(R)).R, sample[:: group.slots.size])]
        below += group.depth
    return found


def nbytes(top, top_factor):
    """Bytes of a top and its factor."""
    matrix = sum(level.basis.nbytes + level.coupling.nbytes for level in top.levels)
    return matrix + sum(level.packed.nbytes + level.W.nbytes for level in top_factor.levels)


def measure(n_parts, columns=(1, 10), repeats=5):
    """Seconds of everything on the way from a part to the root, with `OMP_NUM_THREADS` threads.

    The groups of a tier work at the same time, so it is one group of every tier.
    """
    found = {"parts": n_parts, "on the way": on_the_way(n_parts), "rank": ROOT_RANK}
    for tier in make_tiers(n_parts):
        top, R = tier.top, np.concatenate(tier.R)
        top_factor, factor_seconds = timed(partial(top.factor, R))
        here = {"compress": tier.compress, "factor": factor_seconds}
        for k in columns:
            c = np.ones((int(top.ranks[-1]), k), top.dtype)
            for name, sweep in [("solve", top_factor.solve), ("far field", top.far_field)]:
                here[f"{name} {k}"] = min(timed(partial(sweep, c))[1] for _ in range(repeats))
        found = {**found, **{key: found.get(key, 0.0) + value for key, value in here.items()}}
        found["bytes"] = max(found.get("bytes", 0), nbytes(top, top_factor))
    return found


def on_the_way(n_parts):
    """Number of members of the groups between a part and the root."""
    return sum(max(group.members.size for group in groups) for groups in groups_of(n_parts))


def tiers(n_parts):
    """Number of tiers of coordinators."""
    return len(groups_of(n_parts))


def groups_of(n_parts):
    return group_parts(np.arange(n_parts), (n_parts - 1).bit_length())
