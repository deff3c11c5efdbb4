"""Compression: from the leaves to the root, one level at a time."""

from __future__ import annotations

import logging
import math

import numpy as np

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.matrix import HSSMatrix, Level
from hssvm.hss.samples import draw_samples
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Kernel, Rows, as_rows, require_finite

logger = logging.getLogger(__name__)

RANK_GROWTH = 2 ** (1 / 3)
"""Growth of the rank cap per level towards the root: every level then costs the same."""

GROWING_LEVELS = 8
"""Levels over which the cap grows. Above them it stays, or the work would grow like n log n; and
the rank of the kernel between two halves of the data is a matter of its geometry, not of n."""

OVERSAMPLING = 2
"""Outside points a node looks at, per unit of its rank cap."""


@with_serial_blas
def compress(
    kernel: Kernel,
    X: Rows,
    tree: ClusterTree | None = None,
    *,
    rtol: float = 1e-3,
    max_rank: int = 100,
    surplus: float = 0.125,
    random_state: int | np.random.Generator | None = 0,
) -> HSSMatrix:
    """Compress the kernel matrix of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix, float32 or float64
        The precision of X is that of the result.
    tree : ClusterTree, optional
        Built with its defaults if not given.
    rtol : float
        A node stops adding to its skeleton when what is left of the kernel between it and its
        samples is below `rtol` of the start, in the Frobenius norm. 0: never, but see `max_rank`.
    max_rank : int
        Largest rank at the leaves; it grows by 2**(1/3) per level towards the root, over eight
        levels, to 6.3 times.
    surplus : float
        A node whose rank is held down by `max_rank` looks at this share more skeleton points and
        keeps the best subspace of their span. Costs time here, none later. In high dimension 0.5
        is worth it: about the error of half as much memory again.
    random_state : int, numpy Generator or None
        Draws the samples. The same seed gives the same matrix on any number of threads.

    Returns
    -------
    HSSMatrix

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress
    >>> from hssvm.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> H = compress(Gaussian(gamma=0.1), X, rtol=1e-6)
    >>> K = Gaussian(gamma=0.1).block(X)
    >>> bool(np.linalg.norm(H.to_dense() - K) < 1e-5 * np.linalg.norm(K))
    True
    """
    X = as_rows(X)
    tree = ClusterTree.build(X) if tree is None else tree
    if tree.n != X.shape[0]:
        raise ValueError(f"the tree has {tree.n} points, X has {X.shape[0]} rows")
    if max_rank < 1:
        raise ValueError(f"max_rank must be at least 1, got {max_rank}")
    if not surplus >= 0:
        raise ValueError(f"surplus must be at least 0, got {surplus}")
    if not 0 <= rtol < 1:
        raise ValueError(f"rtol must be in [0, 1), got {rtol}")
    require_finite(X)
    rng = np.random.default_rng(random_state)
    K = kernel.matrix(X)
    compress_level = _core.compress_level_f32 if X.dtype == np.float32 else _core.compress_level_f64
    candidates, offsets = tree.perm, tree.offsets(tree.depth)
    below = None
    levels: list[Level] = []
    for level in reversed(range(tree.depth + 1)):
        growth = RANK_GROWTH ** min(tree.depth - level, GROWING_LEVELS)
        cap = int(max_rank * growth) if level else 0
        cap = min(cap, int(np.diff(offsets).max()))
        samples = draw_samples(tree, level, min(OVERSAMPLING * cap, tree.n), rng)
        ends, skeleton, ranks, basis, coupling, expansion, below = compress_level(
            K, candidates, offsets, samples, cap, math.ceil((1 + surplus) * cap), rtol, below
        )
        logger.debug("compress: level %d, mean rank %.1f", level, ranks[-1] / 2**level)
        levels.append(Level(ends, skeleton, ranks, basis, coupling, expansion))
        candidates, offsets = skeleton, np.ascontiguousarray(ends[::2])
    return HSSMatrix(kernel, X, tree, levels[::-1])
