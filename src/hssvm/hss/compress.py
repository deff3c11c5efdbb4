"""Compression: from the leaves to the root, one level at a time."""

from __future__ import annotations

import numpy as np

from hssvm._threads import with_serial_blas
from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.nystroem import NestedNystroem
from hssvm.hss.strategies import Strategy
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Kernel, Rows, as_rows, require_finite


@with_serial_blas
def compress(
    kernel: Kernel,
    X: Rows,
    tree: ClusterTree | None = None,
    strategy: Strategy | None = None,
    *,
    random_state: int | np.random.Generator | None = 0,
    **parameters: float,
) -> HSSMatrix:
    """Compress the kernel matrix of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix, float32 or float64
        The precision of X is that of the result.
    tree : ClusterTree, optional
        Built with its defaults if not given.
    strategy : Strategy, optional
        `NestedNystroem` if not given, or `NeighbourInterpolation`.
    random_state : int, numpy Generator or None
        Draws the samples. The same seed gives the same matrix on any number of threads.
    **parameters
        Of `NestedNystroem`, where no strategy is given: rtol, max_rank, surplus.

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
    if strategy is None:
        strategy = NestedNystroem(**parameters)  # type: ignore[arg-type]
    elif parameters:
        raise TypeError(f"give {', '.join(parameters)} to the strategy, not to compress")
    require_finite(X)
    levels = strategy.compress(kernel.matrix(X), X, tree, np.random.default_rng(random_state))
    return HSSMatrix(kernel, X, tree, levels, projection=strategy.projection)
