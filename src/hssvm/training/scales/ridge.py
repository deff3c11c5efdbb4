"""Kernel ridge regression on a block of rows, and the gradients of its solution.

A row of weight c has the ridge ``RIDGE / c``, as if it occurred c times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel

RIDGE = 0.03
"""Ridge of a row of weight 1; kernels are 1 at a distance of 0."""

MAX_WEIGHT = 10.0
"""Largest weight up to which the equations are solved in float32: their condition number is at most
``n_rows * weight / RIDGE``."""

MAX_COLUMNS = 8
"""Number of columns whose gradients are summed exactly; of more, random combinations are summed,
which have the same expected sum of squares."""


class Block(NamedTuple):
    """Rows with centered targets.

    Attributes
    ----------
    X : (m, p) array or CSR matrix
    Y : (m, k)
    weight : (m,)
        Positive.
    """

    X: Rows
    Y: Floats
    weight: Floats


class Step(NamedTuple):
    """The solution on a block.

    Attributes
    ----------
    squares : (p,)
        Weighted mean over the rows of the squared partial derivatives, summed over the columns.
    values : (n_new, k)
        Predictions for new rows.
    """

    squares: NDArray[np.float64]
    values: NDArray[np.float64]


def take_step(block: Block, new: Rows, kernel: RadialKernel, seed: int) -> Step:
    """Solve for a block of scaled rows, and evaluate the solution at new rows."""
    W = solve(block, kernel)
    values = (kernel.block(new, block.X) @ W).astype(np.float64)
    some = combined(W, seed)
    squares = kernel.squared_gradients(block.X, block.X, some, block.weight)
    return Step(squares, values)


def solve(block: Block, kernel: RadialKernel) -> Floats:
    """Return the coefficients (m, k); in float32 if that is accurate enough."""
    K = kernel.block(block.X)
    dtypes = (np.float32, np.float64) if block.weight.max() <= MAX_WEIGHT else (np.float64,)
    for dtype in dtypes:
        A = K.astype(dtype)
        np.fill_diagonal(A, 1 + RIDGE / block.weight)
        try:
            factor = scipy.linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:  # equal rows, and rounding errors of their distances
            continue
        W: Floats = scipy.linalg.cho_solve(factor, block.Y.astype(dtype), check_finite=False)
        return W
    raise np.linalg.LinAlgError("the kernel matrix is not positive definite")


def combined(W: Floats, seed: int) -> Floats:
    """Return at most `MAX_COLUMNS` columns with the same expected sum of squares."""
    k = W.shape[1]
    if k <= MAX_COLUMNS:
        return W
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (k, MAX_COLUMNS))
    return W @ (signs / MAX_COLUMNS**0.5).astype(W.dtype)
