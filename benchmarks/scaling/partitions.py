"""Rows that the workers of a cluster make themselves: those of `growth`, with labels, in pieces."""

import numpy as np
from dask import delayed

from benchmarks.scaling.growth import draw, geometry

PIECE_BYTES = 2e6


def make_piece(n, number, n_features=18):
    """X and y of a piece: other rows for every number, of the same groups and mixture."""
    rng = np.random.default_rng([1, number])
    X = draw(n, *geometry(np.random.default_rng(0), n_features), rng)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 5 + 0.3 * rng.standard_normal(n) > 0


def make_pieces(n, n_features=18):
    """Delayed partitions with a total number of rows."""
    step = int(PIECE_BYTES / (4 * n_features))
    sizes = [min(step, n - begin) for begin in range(0, n, step)]
    make = delayed(make_piece, pure=False)
    return [make(size, number, n_features) for number, size in enumerate(sizes)]


def gamma_of(n_features):
    """Kernel width: h = 3 for 18 features, in proportion to the distances for others."""
    return 1 / n_features
