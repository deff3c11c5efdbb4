"""Compression of a kernel matrix, level by level from the leaves to the root."""

from __future__ import annotations

import numpy as np

from hssvm._threads import with_serial_blas
from hssvm.hss.compressors import Compressor
from hssvm.hss.matrix import HSSMatrix
from hssvm.hss.nystroem import NestedNystroem
from hssvm.hss.scratch import Scratch
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Kernel, Rows, as_rows, require_finite


@with_serial_blas
def compress(
    kernel: Kernel,
    X: Rows,
    tree: ClusterTree | None = None,
    compressor: Compressor | None = None,
    *,
    random_state: int | np.random.Generator | None = 0,
    scratch: Scratch | None = None,
    **parameters: float,
) -> HSSMatrix:
    """Compress the kernel matrix of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix, float32 or float64
        The result has the precision of X.
    tree : ClusterTree, optional
        By default ``ClusterTree.build(kernel.coordinates(X))``.
    compressor : Compressor, optional
        `NestedNystroem` (the default) or `HSSANN`.
    random_state : int, numpy Generator or None
        Determines the samples. A seed gives the same matrix with any number of threads.
    scratch : Scratch, optional
        Stores the matrix and its factors in files instead of memory.
    **parameters
        Parameters of the default `NestedNystroem`: rtol, max_rank, oversampling.

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
    coordinates = kernel.coordinates(X)
    tree = ClusterTree.build(coordinates) if tree is None else tree
    if tree.n != X.shape[0]:
        raise ValueError(f"the tree has {tree.n} points, but X has {X.shape[0]} rows")
    if compressor is None:
        compressor = NestedNystroem(**parameters)  # type: ignore[arg-type]
    elif parameters:
        raise TypeError(f"pass {', '.join(parameters)} to the compressor, not to compress")
    require_finite(X)
    kernel.check_rows(X)
    rng = np.random.default_rng(random_state)
    levels = compressor.compress(kernel.matrix(X), coordinates, tree, rng, scratch)
    return HSSMatrix(kernel, X, tree, levels, compressor.projection, scratch)
