"""The duals of one-vs-one classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.parts import BaseProblem, Part, PartBatch, Places
from hssvm.problems.svc import SVCProblem


class PairsProblem(BaseProblem):
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
    used : (n, n_classes - 1) bool, optional
        Packed coefficients that may differ from 0; else all.
    problem_type : type, default=SVCProblem
        Of each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import PairsProblem
    >>> problem = PairsProblem(np.array([0, 1, 2, 1]), np.ones(4), 3)
    >>> [pair.places.rows.tolist() for pair in problem.parts()]  # rows
    [[0, 1, 3], [0, 2], [1, 3, 2]]
    """

    part_name = "pairs of classes"

    def __init__(
        self,
        codes: NDArray[np.int64],
        cost: Floats,
        n_classes: int,
        used: NDArray[np.bool_] | None = None,
        problem_type: type[SVCProblem] = SVCProblem,
    ) -> None:
        self.codes = codes
        self.cost = cost
        self.n_classes = n_classes
        self.used = used
        self.problem_type = problem_type
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(1, n_classes))
        self._rows = np.split(order, ends)
        self._first, self._second = np.triu_indices(n_classes, 1)  # the order of LIBSVM

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.codes.size)

    @property
    def k(self) -> int:
        """Number of columns of packed coefficients."""
        return self.n_classes - 1

    @property
    def n_columns(self) -> int:
        """Number of pairs."""
        return self.n_classes * (self.n_classes - 1) // 2

    @property
    def n_parts(self) -> int:
        """Number of pairs."""
        return self.n_columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the coefficients."""
        return self.cost.dtype

    @property
    def bound(self) -> Floats:
        """Bounds of the packed coefficients, (n, n_classes - 1)."""
        positive = np.arange(self.k) >= self.codes[:, None]
        return np.where(positive, self.cost[:, None], -self.cost[:, None])

    def rows(self, index: NDArray[Any]) -> PairsProblem:
        """Return the problem restricted to the given rows."""
        used = None if self.used is None else self.used[index]
        codes, cost = self.codes[index], self.cost[index]
        return PairsProblem(codes, cost, self.n_classes, used, self.problem_type)

    def using(self, used: NDArray[np.bool_]) -> PairsProblem:
        """Return the problem in which only the coefficients of a mask may differ from 0."""
        return PairsProblem(self.codes, self.cost, self.n_classes, used, self.problem_type)

    @property
    def column_of(self) -> NDArray[np.int64]:
        """The pair of each packed coefficient, (n, n_classes - 1)."""
        own, column = np.ogrid[: self.n_classes, : self.k]
        first, second = np.minimum(own, column), np.maximum(own, column + 1)
        pairs = pair_offsets(self.n_classes)[first] + second - first - 1
        return pairs[self.codes]

    @property
    def strata(self) -> NDArray[np.int64]:
        """The classes; rows without a cost are separate."""
        return self.codes + self.n_classes * (self.cost == 0)

    @property
    def part_sizes(self) -> NDArray[np.int64]:
        """Number of rows of each pair, (n_columns,)."""
        if self.used is None:
            sizes = np.array([rows.size for rows in self._rows])
            return sizes[self._first] + sizes[self._second]
        counts = np.array([self.used[rows].sum(axis=0) for rows in self._rows])
        return counts[self._first, self._second - 1] + counts[self._second, self._first]

    def part(self, index: int) -> Part:
        """Return the problem of two classes, of which the first one is positive.

        Its rows are the rows of the first class, followed by the rows of the second.
        """
        first, second = int(self._first[index]), int(self._second[index])
        ours, theirs = self._used_rows(first, second - 1), self._used_rows(second, first)
        bound = np.concatenate([self.cost[ours], -self.cost[theirs]])[:, None]
        columns = np.repeat([second - 1, first], [ours.size, theirs.size])
        places = Places(np.concatenate([ours, theirs]), columns)
        return Part(self.problem_type(bound), slice(index, index + 1), places)

    def support(self, Z: Floats) -> NDArray[np.int64]:
        """Indices of the rows with nonzero coefficients, by class."""
        support = super().support(Z)
        return support[np.argsort(self.codes[support], kind="stable")]

    def class_counts(self, support: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of support vectors of each class."""
        return np.bincount(self.codes[support], minlength=self.n_classes)

    def batch(self, indices: NDArray[np.int64]) -> PartBatch:
        """Return the problems of several pairs."""
        classes = np.stack([self._first[indices], self._second[indices]], axis=1).ravel()
        others = np.stack([self._second[indices] - 1, self._first[indices]], axis=1).ravel()
        parts = [
            self._used_rows(c, j) for c, j in zip(classes.tolist(), others.tolist(), strict=True)
        ]
        sizes = np.array([part.size for part in parts])
        rows = np.concatenate(parts)
        signs = np.tile(np.array([1, -1], self.dtype), indices.size)
        offsets = np.concatenate([[0], np.cumsum(sizes)[1::2]])
        bound = (self.cost[rows] * np.repeat(signs, sizes))[:, None]
        places = Places(rows, np.repeat(others, sizes))
        problem = self.problem_type(bound)
        return PartBatch(
            offsets, places, problem.lower, problem.upper, problem.linear, problem.l1_weight,
            problem.ridge,
        )  # fmt: skip

    def _used_rows(self, own: int, column: int) -> NDArray[np.int64]:
        """Rows of a class whose coefficients in a column are used."""
        rows = self._rows[own]
        return rows if self.used is None else rows[self.used[rows, column]]


def pair_offsets(n_classes: int) -> NDArray[np.int64]:
    """Where the pairs of each class with the classes after it begin and end, (n_classes + 1,)."""
    return np.concatenate([[0], np.cumsum(np.arange(n_classes - 1, -1, -1))])
