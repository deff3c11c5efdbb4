"""Gauss-Legendre rules for `hssvm.predictors.shapley`, with bounds on their error.

``cpp/shapley/rules.hpp`` derives the bound, and chooses a rule for each row, background row and
group of support vectors.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre

from hssvm import _core

Floats = NDArray[np.float64]

TOLERANCE = 1e-13
"""Bound on the error of a value, relative to the sum of the absolute coefficients. Rounding errors
of the sum have about this size."""

EVERY, GROWTH = 16, 1.15
"""There is a rule of every number of nodes up to EVERY; beyond, the numbers grow by this factor."""

ELLIPSES = (0.5, 8.0), (0.05, 32.0)
"""Two ellipses, by their rho. They are the best ones if this share of all factors differ completely
between a row and the background; but no wider than the second number, from which few features gain
nothing."""

RADII = np.geomspace(1.05, 100, 200)
"""Candidates for rho."""


def rules_for(n_features: int) -> _core.ShapleyRules:
    """Return the rules for products of a number of factors, the fewest nodes first.

    Parameters
    ----------
    n_features : int
    """
    return _core.ShapleyRules(*_arrays_for(n_features, TOLERANCE))


@lru_cache(maxsize=32)
def _arrays_for(
    n_features: int, tolerance: float
) -> tuple[NDArray[np.int64], Floats, Floats, Floats, Floats, float]:
    radii = np.array([min(most, _best_radius(share * n_features)) for share, most in ELLIPSES])
    sizes = np.array(_sizes(n_features, radii))
    rules = [roots_legendre(n) for n in sizes]
    return (
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([(nodes + 1) / 2 for nodes, _ in rules]),
        np.concatenate([weights / 2 for _, weights in rules]),
        _widths(radii),
        tolerance / _errors(radii, sizes[:, None]),
        tolerance,
    )


def _widths(radii: Floats) -> Floats:
    """``h`` of `rules.hpp`: how far products exceed their values between the foci."""
    widths: Floats = ((radii + 1 / radii) / 2 - 1) / 2
    return widths


def _errors(radii: Floats, n_nodes: NDArray[np.int64] | int) -> Floats:
    """Bound on the error of a rule for integrands of at most 1 on an ellipse."""
    errors: Floats = 8 / 3 * radii ** (-2.0 * n_nodes) / (1 - radii**-2.0)
    return np.maximum(errors, np.finfo(np.float64).tiny)


def _nodes_needed(radii: Floats, n_different: float) -> Floats:
    """Number of nodes for products of which `n_different` factors differ completely."""
    accuracy = np.log(_errors(radii, 0) / TOLERANCE)
    needed: Floats = (n_different * np.log1p(_widths(radii)) + accuracy) / (2 * np.log(radii))
    return needed


def _best_radius(n_different: float) -> float:
    return float(RADII[np.argmin(_nodes_needed(RADII, n_different))])


def _sizes(n_features: int, radii: Floats) -> list[int]:
    """Numbers of nodes of the rules; the last one is accurate enough for all products."""
    most = min((n_features + 1) // 2, math.ceil(_nodes_needed(radii, n_features).min()))
    sizes = list(range(1, min(most, EVERY) + 1))
    while sizes[-1] < most:
        sizes.append(min(most, math.ceil(GROWTH * sizes[-1])))
    return sizes
