"""The top of a tree of many parts, without the parts.

What is real: kernel, compression, factor and solves of the top, for roots of the rank that parts
of a million rows and more have at max_rank 72. What is not: the rows of a part. A handful of roots
of a few hundred rows each are compressed; every part has a copy of one of them, moved to a place
of its own. The Gaussian kernel does not see a translation, so L, Q and R of a copy are exact and
the matrix is a valid one.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from benchmarks.scaling.growth import make
from benchmarks.scaling.partitions import gamma_of
from benchmarks.timing import timed
from hssvm.hss import ClusterTree, NestedNystroem, factor
from hssvm.hss.nystroem import GROWING_LEVELS
from hssvm.hss.parts import compress_part, compress_top
from hssvm.hss.samples import FarFieldSample
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


def make_top(n_parts, seed=0):
    """A `TopLevels`, the R of all parts, and the seconds of the compression."""
    kernel = Gaussian(gamma_of(N_FEATURES))
    depth = (n_parts - 1).bit_length()
    made, place = make_roots(kernel), places(depth, np.random.default_rng(seed))
    slots = np.arange(n_parts)
    parts = [made[slot % N_ROOTS] for slot in slots]
    roots = [replace(root, X=root.X + place[slot]) for slot, (root, _, _) in enumerate(parts)]
    sample = np.concatenate([rows + place[slot] for slot, (_, _, rows) in enumerate(parts)])
    ends = N_SAMPLE * np.minimum(np.arange(2**depth + 1), n_parts)
    top, seconds = timed(
        lambda: compress_top(kernel, roots, slots, sample, ends, COMPRESSOR, GROWING_LEVELS)
    )
    return top, [R for _, R, _ in parts], seconds


def nbytes(top, top_factor):
    """Bytes of a top and its factor."""
    matrix = sum(level.basis.nbytes + level.coupling.nbytes for level in top.levels)
    return matrix + sum(level.packed.nbytes + level.W.nbytes for level in top_factor.levels)


def measure(n_parts, columns=(1, 10), repeats=5):
    """Seconds of everything that the top does, with `OMP_NUM_THREADS` threads."""
    top, R, compress_seconds = make_top(n_parts)
    R = np.concatenate(R)
    top_factor, factor_seconds = timed(lambda: top.factor(R))
    found = {
        "parts": n_parts,
        "rank": int(np.diff(top.ranks).max()),
        "compress": compress_seconds,
        "factor": factor_seconds,
        "bytes": nbytes(top, top_factor),
    }
    for k in columns:
        c = np.ones((int(top.ranks[-1]), k), top.dtype)
        found[f"solve {k}"] = min(timed(lambda: top_factor.solve(c))[1] for _ in range(repeats))
        found[f"far field {k}"] = min(timed(lambda: top.far_field(c))[1] for _ in range(repeats))
    return found
