"""The duals of one-vs-one classification."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.svc import SVCProblem


@dataclass(frozen=True, eq=False)
class Pair:
    """The problem of two classes.

    Attributes
    ----------
    first, second : int
        The classes; the first one is positive.
    rows : (m,) int64
        The rows of the first class, then those of the second.
    n_first : int
        Number of rows of the first class.
    problem : SVCProblem
        On these rows.
    """

    first: int
    second: int
    rows: NDArray[np.int64]
    n_first: int
    problem: SVCProblem

    def pick(self, Z: Floats) -> Floats:
        """Return the coefficients of the pair, (m, 1), from packed ones, (n, n_classes - 1)."""
        ours, theirs = self.rows[: self.n_first], self.rows[self.n_first :]
        return np.concatenate([Z[ours, self.second - 1], Z[theirs, self.first]])[:, None]

    def put(self, z: Floats, Z: Floats) -> None:
        """Write the coefficients of the pair, (m, 1), to packed ones, (n, n_classes - 1)."""
        Z[self.rows[: self.n_first], self.second - 1] = z[: self.n_first, 0]
        Z[self.rows[self.n_first :], self.first] = z[self.n_first :, 0]


class PairsProblem:
    """A problem for every pair of classes, on the rows of these classes.

    Coefficients are packed as in LIBSVM, (n, n_classes - 1): a row has a coefficient for every
    other class. The coefficient for a class after its own is in the column before that class.

    Parameters
    ----------
    codes : (n,) int64
        Class of each row.
    cost : (n,)
        C times the weights of each row.
    n_classes : int

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import PairsProblem
    >>> problem = PairsProblem(np.array([0, 1, 2, 1]), np.ones(4), 3)
    >>> [(pair.first, pair.second, pair.rows.tolist()) for pair in problem.pairs()]
    [(0, 1, [0, 1, 3]), (0, 2, [0, 2]), (1, 2, [1, 3, 2])]
    """

    def __init__(self, codes: NDArray[np.int64], cost: Floats, n_classes: int) -> None:
        self.codes = codes
        self.cost = cost
        self.n_classes = n_classes
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(1, n_classes))
        self._rows = np.split(order, ends)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.codes.size)

    @property
    def k(self) -> int:
        """Number of columns of packed coefficients."""
        return self.n_classes - 1

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.n_classes * (self.n_classes - 1) // 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the coefficients."""
        return self.cost.dtype

    @property
    def bound(self) -> Floats:
        """Bounds of the packed coefficients, (n, n_classes - 1)."""
        positive = np.arange(self.k) >= self.codes[:, None]
        return np.where(positive, self.cost[:, None], -self.cost[:, None])

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs, in the order of LIBSVM."""
        for first, second in combinations(range(self.n_classes), 2):
            yield self.pair(first, second)

    def pair(self, first: int, second: int) -> Pair:
        """Return the problem of two classes."""
        rows = np.concatenate([self._rows[first], self._rows[second]])
        n_first = self._rows[first].size
        bound = self.cost[rows]
        bound[n_first:] *= -1
        return Pair(first, second, rows, n_first, SVCProblem(bound[:, None]))
