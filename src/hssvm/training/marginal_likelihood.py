"""The parameters of a Gaussian process, from the likelihood of a sample of the rows.

The covariance of the targets is ``signal C`` with ``C = K + diag(noise / weight)``. For given
scales of the features, gamma and noise, the best signal is ``y' C^-1 y / n``, so the likelihood is
a function of the others. Up to a constant, minus its logarithm is

    L = n/2 log(signal) + 1/2 log det C,    dL = sum of G * dC,    G = (C^-1 - b b' / signal) / 2

with ``b = C^-1 y``. All parameters are positive, and the search is over their logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels import Gaussian
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel
from hssvm.progress import Share, emit
from hssvm.training.config import RIDGE_EXACT_ROWS
from hssvm.training.data.widths import median_gamma
from hssvm.training.reports.monitor import Monitor

SAMPLE_ROWS = 2000
"""Number of rows of the sample. The time grows with its cube; twice as many rows changed the
predictions little on the data sets of the benchmarks."""

MAX_STEPS = 40

FIRST_NOISE = 0.1
LARGEST_FACTOR, LEAST_NOISE, MOST_NOISE = 1e3, 1e-5, 1e2
"""Bounds of the factors on the first scales, and of the noise of a row of mean weight."""

ARRAYS, MEMORY = 6, 4e9
"""Arrays of the size of the sample, as dense float64, and bytes if there is no memory limit."""


@dataclass(frozen=True, eq=False)
class ProcessParameters:
    """Parameters of a Gaussian process.

    Attributes
    ----------
    scales : (p,)
        Factors on the features.
    gamma : float
        Of the kernel of the scaled features.
    noise : float
        Variance of the noise of a row of weight 1, relative to the signal.
    equal_rows : bool
        Whether some rows of the sample are equal.
    """

    scales: NDArray[np.float64]
    gamma: float
    noise: float
    equal_rows: bool = False


@with_serial_blas
def maximize_likelihood(
    X: Rows,
    y: NDArray[np.float64],
    weight: Floats,
    kernel: type[RadialKernel],
    *,
    gamma: float | None = None,
    noise: float | None = None,
    learn_scales: bool = True,
    monitor: Monitor | None = None,
    memory_limit: float | None = None,
) -> ProcessParameters:
    """Learn the parameters that are None, and the scales.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
        A sample of rows with features of comparable size.
    y : (n,)
        Targets minus their mean.
    weight : (n,)
        Positive.
    kernel : type
    gamma, noise : float, optional
        Known parameters. A known gamma is the width at which the scales are all 1.
    learn_scales : bool
        Whether features get different scales.
    monitor : Monitor, optional
        May stop the search early.
    memory_limit : float, optional
        Bytes.

    Returns
    -------
    ProcessParameters
    """
    p, monitor, unit = X.shape[1], monitor or Monitor(), float(weight.mean())
    _require_memory(X, memory_limit)
    lowest = least_noise(X)
    X = X.toarray() if hasattr(X, "toarray") else X
    first = median_gamma(kernel, X, weight) if gamma is None else gamma
    n_scales = p if learn_scales else int(gamma is None)
    if not np.any(y) or n_scales + (noise is None) == 0:
        return ProcessParameters(np.ones(p), first, noise or FIRST_NOISE * unit)
    equal_rows = len(np.unique(X, axis=0)) < len(X)
    likelihood = Likelihood(X.astype(np.float64), y, unit / weight, kernel(first))

    def split(theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the factors, and the noise of a row of mean weight."""
        ridge = np.exp(theta[-1]) if noise is None else noise / unit
        return np.exp(theta[:n_scales]), float(ridge)

    def value(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        return likelihood(*split(theta), theta.size - n_scales)

    def after_step(intermediate_result: scipy.optimize.OptimizeResult) -> None:
        steps.append(float(intermediate_result.fun))
        emit(Share(len(steps) / MAX_STEPS), "likelihood: step %d, %.6g", len(steps), -steps[-1])
        if monitor.stop() is not None:
            raise StopIteration

    steps = list[float]()
    reach = np.log(LARGEST_FACTOR)
    bounds = [(-reach, reach)] * n_scales
    start = np.zeros(n_scales)
    if noise is None:
        bounds.append((np.log(lowest), np.log(MOST_NOISE)))
        start = np.append(start, np.log(FIRST_NOISE))
    found = scipy.optimize.minimize(
        value, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_step,
        options={"maxiter": MAX_STEPS},
    )  # fmt: skip
    factors, ridge = split(found.x)
    if learn_scales:
        return ProcessParameters(factors, first, ridge * unit, equal_rows)
    power = 2 if issubclass(kernel, Gaussian) else 1  # of the distance in gamma d
    width = first * float(np.prod(factors)) ** power
    return ProcessParameters(np.ones(p), width, ridge * unit, equal_rows)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Minus the logarithm of the likelihood of centered targets, and its derivatives."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    inverse_weight: Floats
    kernel: RadialKernel

    def __call__(
        self, factors: NDArray[np.float64], noise: float, n_noise: int
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the value, and the derivatives by the logarithms of the factors and the noise.

        Factors are one for each feature, one for all, or none.
        """
        scaled, n = self.X * factors if factors.size else self.X, self.y.size
        ridge = noise * self.inverse_weight
        C = self.kernel.block(scaled)
        C[np.diag_indices(n)] = 1 + ridge
        try:
            lower = scipy.linalg.cholesky(C, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"noise={noise:.2g} is too small for rows that nearly coincide; raise noise"
            ) from None
        b = scipy.linalg.cho_solve((lower, True), self.y, check_finite=False)
        signal = float(self.y @ b) / n
        value = n / 2 * np.log(signal) + np.log(np.diagonal(lower)).sum()
        inverse = scipy.linalg.lapack.dpotri(lower, lower=1)[0]  # its lower triangle
        G = (np.tril(inverse) + np.tril(inverse, -1).T - np.outer(b, b) / signal) / 2
        by_scale = np.empty(0)
        if factors.size:
            G_slopes = G * self.kernel.slopes(scaled, scaled)
            directions = self.kernel.weighted_directions(G_slopes, scaled, scaled)
            by_scale = 2 * np.einsum("ij,ij->j", scaled, directions)
            if factors.size != by_scale.size:  # one factor for all features
                by_scale = by_scale.sum(keepdims=True)
        by_noise = np.array([np.diagonal(G) @ ridge] * n_noise)
        return float(value), np.concatenate([by_scale, by_noise])


def least_noise(X: Rows) -> float:
    """Return the smallest noise, relative to the signal, at which rounding errors do not matter."""
    n = min(X.shape[0], RIDGE_EXACT_ROWS)
    return max(LEAST_NOISE, 2 * n * float(np.finfo(X.dtype).eps))


def centered(y: NDArray[Any], center: float) -> NDArray[np.float64]:
    """Return targets minus their mean, and 0 if they differ from it by rounding errors only."""
    found = y.astype(np.float64) - center
    constant = np.abs(found).max(initial=0) <= 1e-13 * abs(center)
    return np.zeros_like(found) if constant else found


def _require_memory(X: Rows, limit: float | None) -> None:
    """Raise MemoryError if a sparse sample is too wide to be made dense."""
    needed = ARRAYS * 8.0 * X.shape[0] * X.shape[1]
    limit = MEMORY if limit is None else limit
    if hasattr(X, "toarray") and needed > limit:
        raise MemoryError(
            f"the likelihood of {X.shape[0]:,} rows with {X.shape[1]:,} columns needs "
            f"{needed / 1e9:.2g} GB, more than {limit / 1e9:.2g} GB; reduce the columns, for "
            "example by TruncatedSVD of scikit-learn, or use KernelRidge"
        )
