"""The factor from which a trained Gaussian process has its variances."""

from __future__ import annotations

from hssvm.hss import ClusterTree, NestedNystroem, PosteriorVariance, compress, factor
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.training.approximation import HSS
from hssvm.training.config import RIDGE_EXACT_ROWS, RIDGE_LEAF_SIZE, RIDGE_START_RANK


def posterior_variance(
    kernel: Kernel, X: Rows, noise: float | Floats, hss: HSS
) -> PosteriorVariance:
    """Return the variances of a process with the training rows X, relative to its signal.

    The kernel is compressed if there are more than RIDGE_EXACT_ROWS rows.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
    noise : float or (n,) array
    hss : HSS
        Parameters of the compressed kernel.
    """
    n = X.shape[0]
    leaf_size = max(n, 2) if n <= RIDGE_EXACT_ROWS else hss.leaf_size or RIDGE_LEAF_SIZE
    tree = ClusterTree.build(kernel.coordinates(X), leaf_size)
    compressor = hss.compressor or NestedNystroem(max_rank=hss.max_rank or RIDGE_START_RANK)
    matrix = compress(kernel, X, tree, compressor)
    return PosteriorVariance(factor(matrix, noise))
