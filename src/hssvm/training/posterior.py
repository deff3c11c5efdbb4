"""The factor from which a trained Gaussian process has its variances."""

from __future__ import annotations

from hssvm.hss import ClusterTree, NestedNystroem, PosteriorVariance, compress, factor
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.training.config import EXACT_ROWS, RIDGE_LEAF_SIZE, RIDGE_START_RANK


def posterior_variance(kernel: Kernel, X: Rows, noise: float | Floats) -> PosteriorVariance:
    """Return the variances of a process with the training rows X, relative to its signal.

    The kernel is compressed if there are more than EXACT_ROWS rows.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
    noise : float or (n,) array
    """
    n = X.shape[0]
    leaf_size = n if n <= EXACT_ROWS else RIDGE_LEAF_SIZE
    tree = ClusterTree.build(kernel.coordinates(X), leaf_size)
    compressor = NestedNystroem(max_rank=RIDGE_START_RANK)
    matrix = compress(kernel, X, tree, compressor)
    return PosteriorVariance(factor(matrix, noise))
