"""The iteration on a sample of the rows, and the decision how many steps to keep.

Two halves of the sample learn scales on their own, and each is the held-out part of the other. The
result is the mean of both, after the number of steps with the smallest held-out error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.kernels import Laplacian
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel
from hssvm.progress import Share, emit
from hssvm.training.data.scaling import Scaling
from hssvm.training.data.widths import median_gamma
from hssvm.training.reports.monitor import Monitor
from hssvm.training.scales.ridge import Block, take_step
from hssvm.training.scales.selection import HeldOut
from hssvm.training.tasks import Targets
from hssvm.training.threads import map_in_threads

HALF_ROWS = 3500
"""Maximum number of rows of a half."""

MANY_ROWS, MANY_HALF_ROWS = 100_000, 5000
"""Number of rows of the data from which on halves may be larger, as the fit takes longer anyway. On
464,810 rows of covtype, in cells with the exponential kernel, that adds 0.3 points of accuracy."""

MIN_ROWS = 50
"""Number of rows below which the scales remain 1: the halves are too small to tell features apart,
and the other half too small to judge."""

MAX_STEPS = 6

FLOOR = 1e-3
"""Smallest scale, relative to the largest."""


@dataclass(frozen=True, eq=False)
class LearnedScales:
    """Scales of features of comparable size.

    Attributes
    ----------
    factors : (p,)
    n_rows : int
        Number of rows of the sample.
    n_steps : int
        Number of steps that were kept; 0 means that all factors are 1.
    errors : list of float
        Held-out squared error after 0, 1, ... steps, relative to the variance of the targets; empty
        if there were too few rows to learn from.
    """

    factors: NDArray[np.float64]
    n_rows: int
    n_steps: int
    errors: list[float]


def max_sample_rows(n_rows: int) -> int:
    """Maximum number of rows of both halves, if the data has `n_rows`."""
    return 2 * (MANY_HALF_ROWS if n_rows >= MANY_ROWS else HALF_ROWS)


def sample_rows(weight: Floats, seed: int, max_rows: int | None = None) -> NDArray[np.int64]:
    """Return random rows of positive weight for both halves, in random order."""
    rows = np.flatnonzero(weight)
    n = min(rows.size, max_rows or max_sample_rows(weight.size))
    return np.random.default_rng(seed).choice(rows, n, replace=False)


@with_serial_blas
def learn_scales(
    X: Rows,
    targets: Targets,
    weight: Floats,
    kernel: type[RadialKernel],
    *,
    seed: int = 0,
    monitor: Monitor | None = None,
    n_workers: int = 2,
    beyond_chance: bool = True,
) -> LearnedScales:
    """Learn the scales of rows with features of comparable size.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
        The sample, in random order; see `sample_rows`.
    targets : Targets
        Of these rows.
    weight : (n,)
        Positive.
    kernel : type
        Its gamma is chosen in every step.
    seed : int
    monitor : Monitor, optional
        May stop the iteration early.
    n_workers : int
        Number of halves that are solved at a time.
    beyond_chance : bool
        Whether scales are kept only if their gain is beyond chance.
    """
    n, p = X.shape
    if n < MIN_ROWS:
        return LearnedScales(np.ones(p), n, 0, [])
    Y, monitor = targets.Y, monitor or Monitor()
    middle = n // 2
    halves = [
        _Half(X[a], Y[a], weight[a], X[b], seed)
        for a, b in ((slice(middle), slice(middle, n)), (slice(middle, n), slice(middle)))
    ]
    held_out, means = HeldOut(targets, weight), [np.ones(p)]

    def step(half: _Half, monitor: Monitor) -> NDArray[np.float64]:
        return half.step(kernel)

    n_workers = min(n_workers, _core.thread_count())
    each = _core.thread_count() // n_workers
    for index in range(MAX_STEPS + 1):
        values = list(map_in_threads(step, halves, monitor, n_workers, each))
        held_out.add(np.concatenate(values[::-1]))
        emit(Share((index + 1) / (MAX_STEPS + 1)), "scales: error %.4g", held_out.errors[-1])
        if held_out.ends or monitor.stop() is not None:
            break
        mean = np.mean([half.scales for half in halves], axis=0)
        means.append(normalized(mean, kernel))
    n_steps = held_out.best(beyond_chance=beyond_chance)
    return LearnedScales(means[n_steps], n, n_steps, held_out.errors)


class _Half:
    """One half of the sample, and the scales that it learns."""

    def __init__(self, X: Rows, Y: Floats, weight: Floats, new: Rows, seed: int) -> None:
        self.mean = np.average(Y, axis=0, weights=weight)
        self.block = Block(X, Y - self.mean, weight)
        self.new, self.seed = new, seed
        self.scales = np.ones(X.shape[1])

    def step(self, kernel: type[RadialKernel]) -> NDArray[np.float64]:
        """Take a step from the current scales; return their predictions for the other half."""
        scaled = Scaling(factor=self.scales)
        X = scaled(self.block.X)
        gamma = median_gamma(kernel, X, self.block.weight)
        found = take_step(self.block._replace(X=X), scaled(self.new), kernel(gamma), self.seed)
        self.scales = normalized(self.scales * np.sqrt(found.squares), kernel)
        return found.values + self.mean


def normalized(scales: NDArray[np.float64], kernel: type[RadialKernel]) -> NDArray[np.float64]:
    """Return scales with a mean square of 1, or a mean of 1 for L1 kernels, and none too small."""
    largest = scales.max()
    if not largest > 0:  # constant targets, or constant features
        return np.ones_like(scales)
    scales = np.maximum(scales / largest, FLOOR)
    l1 = issubclass(kernel, Laplacian)
    return scales / (scales.mean() if l1 else np.sqrt(np.mean(scales**2)))
