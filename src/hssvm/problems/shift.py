"""The shift of a prox that gives its columns the required sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats

MAX_NEWTON_STEPS = 100


@dataclass(frozen=True, eq=False)
class ProxSums:
    """Column sums of a prox, (k,) each: of z, of abs(z), and of 1 / beta over the free z."""

    z: NDArray[np.float64]
    abs_z: NDArray[np.float64]
    slope: NDArray[np.float64]


def find_shift(
    prox: Callable[[NDArray[np.float64]], tuple[Floats, ProxSums]],
    rhs: NDArray[np.float64],
    tau: NDArray[np.float64],
    enough: float,
) -> tuple[Floats, NDArray[np.float64]]:
    """Find the tau at which the columns of a prox have given sums.

    The sums are piecewise linear and nonincreasing in tau, so a safeguarded Newton method finds it.

    Parameters
    ----------
    prox : callable
        Returns Z and its sums, given tau.
    rhs : (k,)
        Required sums.
    tau : (k,)
        Initial value.
    enough : float
        Largest error of a sum, relative to the sum of ``|z|``.

    Returns
    -------
    Z : (n, k)
    tau : (k,)
    """
    low, high = np.full(rhs.size, -np.inf), np.full(rhs.size, np.inf)
    step = np.ones(rhs.size)
    for _ in range(MAX_NEWTON_STEPS):
        Z, sums = prox(tau)
        excess = sums.z - rhs
        done = np.abs(excess) <= enough * sums.abs_z
        if done.all():
            break
        low, high = np.where(excess > 0, tau, low), np.where(excess > 0, high, tau)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = tau + excess / sums.slope
        both = np.isfinite(low) & np.isfinite(high)
        fallback = np.where(both, (low + high) / 2, tau + np.sign(excess) * step)
        step *= 4
        moved = np.where((newton > low) & (newton < high), newton, fallback)
        tau = np.where(done, tau, moved)
    return Z, tau
