"""The subproblems of a round of the working-set solver: its columns at rows of the working set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats


@dataclass(frozen=True, eq=False)
class Subproblem:
    """One column of a problem restricted to some rows of a working set; all other rows are fixed.

    Attributes
    ----------
    members : (m,) int64
        Positions of the rows in the working set, ascending.
    z, gradient, lower, upper, ridge : (m,)
        Coefficients, gradient, box and ridge at these rows; see `Problem`.
    l1_weight : float
    tol : float
        Largest violation at which the subproblem counts as solved.
    """

    members: NDArray[np.int64]
    z: Floats
    gradient: Floats
    lower: Floats
    upper: Floats
    ridge: Floats
    l1_weight: float
    tol: float


def make_subproblems(
    Z: Floats,
    gradient: Floats,
    lower: Floats,
    upper: Floats,
    ridge: Floats,
    relative: NDArray[np.float64],
    l1_weight: NDArray[np.float64],
    goal: NDArray[np.float64],
) -> list[Subproblem]:
    """Return a subproblem for every column, without the rows that the gradient holds at a bound.

    Parameters
    ----------
    Z, gradient, lower, upper : (q, k)
        At the rows of the working set.
    ridge : (q,)
    relative : (q, k)
        Violations relative to the largest.
    l1_weight : (k,)
    goal : (k,)
        Largest violation at which a column counts as solved.
    """
    subproblems = []
    for j in range(Z.shape[1]):
        members = np.flatnonzero(relative[:, j] > -1)
        if members.size > Z.shape[0] / 2:
            members = np.arange(Z.shape[0])  # using all of K is faster than copying a part
        subproblems.append(
            Subproblem(
                members,
                Z[members, j],
                gradient[members, j],
                lower[members, j],
                upper[members, j],
                ridge[members],
                float(l1_weight[j]),
                float(goal[j]),
            )
        )
    return subproblems


def put(parts: list[Floats], subproblems: list[Subproblem], into: Floats) -> Floats:
    """Write an array of each subproblem to its members in a column of (q, k); return the latter."""
    for j, (part, subproblem) in enumerate(zip(parts, subproblems, strict=True)):
        into[subproblem.members, j] = part
    return into
