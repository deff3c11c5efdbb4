"""Kernels of the Euclidean distance as sums of Gaussian kernels.

The exponential and the Matern kernels are mixtures of Gaussian kernels of all widths, as they are
completely monotone functions of the squared distance (Bernstein's theorem)::

    k(d) = integral exp(-v d**2) dm(v) = sum_q w_q exp(-v_q d**2) + error,    v, w > 0

With v in a geometric sequence, the sum is a trapezoidal rule in log v, whose error falls
exponentially with the density of the sequence. Non-negative least squares adjusts the weights, and
leaves out what is not needed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hssvm.kernels.radial import EuclideanKernel

MIXTURE_ERROR = 1e-8
"""Bound on the error of the sum, at any distance."""

WIDTHS = np.exp(np.arange(-5, 36, 0.4))
"""Candidates for v at gamma = 1. The largest ones are for distances near 0, where the exponential
kernel has a kink."""

DISTANCES = np.concatenate([[0.0], np.geomspace(1e-10, 100, 1500)])
"""Distances at which the weights are fitted, at gamma = 1."""

LEAST_WEIGHT, MAX_STEPS = 1e-12, 20_000


@lru_cache(maxsize=8)
def unit_mixture(
    kind: type[EuclideanKernel],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return v and w of a kernel with gamma = 1.

    Parameters
    ----------
    kind : type
        `Exponential`, `Matern32` or `Matern52`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Matern52
    >>> from hssvm.kernels.mixtures import unit_mixture
    >>> v, w = unit_mixture(Matern52)
    >>> print(f"{w @ np.exp(-v * 0.5**2):.6f}", Matern52(1.0).block([[0.0]], [[0.5]]).round(6))
    0.828649 [[0.828649]]
    """
    values = kind(1.0).block(DISTANCES[:, None], np.zeros((1, 1)))[:, 0]
    weights, _ = nnls(np.exp(-np.outer(DISTANCES**2, WIDTHS)), values, maxiter=MAX_STEPS)
    used = weights > LEAST_WEIGHT
    return WIDTHS[used], weights[used]
