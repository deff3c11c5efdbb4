"""Prediction with the exact kernel for every pair of classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.predictors.expansion import ExpansionPredictor
from hssvm.predictors.votes import PAIR_VALUES, values_by_class
from hssvm.problems.pairs import pair_offsets


class PairwisePredictor(ExpansionPredictor):
    """Evaluates one-vs-one classifiers at new points.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
        Support vectors, grouped by class.
    Z : (n, n_classes - 1)
        Coefficients, packed as in `hssvm.problems.PairsProblem`.
    counts : (n_classes,) int64
        Number of support vectors of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear
    >>> from hssvm.predictors import PairwisePredictor
    >>> Z = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> f = PairwisePredictor(Linear(), np.eye(3), Z, np.array([1, 1, 1]))
    >>> f(np.eye(3)[:1])  # 0 against 1, 0 against 2, 1 against 2
    array([[1., 1., 0.]])
    """

    kind = "pairwise"

    counts: NDArray[np.int64]

    def __init__(self, kernel: Kernel, X: Rows, Z: Floats, counts: NDArray[np.int64]) -> None:
        super().__init__(kernel, X, Z)
        self.counts = counts

    def __call__(self, X: Rows) -> Floats:
        """Values at the rows of `X`, (m, n_pairs), in the precision of the training rows."""
        out: Floats = np.zeros((X.shape[0], self.n_columns), self.X.dtype)
        for predictor, (_, pairs) in zip(self._class_predictors, self.classes(), strict=True):
            out[:, pairs] += predictor(X)
        return out

    def classes(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield the rows of each class that has some, and the pairs of their columns in `Z`."""
        offsets, ends = pair_offsets(self.counts.size), np.cumsum(self.counts)
        for c in np.flatnonzero(self.counts):
            before = offsets[:c] + np.arange(c - 1, -1, -1)  # the pairs of earlier classes with c
            pairs = np.concatenate([before, np.arange(offsets[c], offsets[c + 1])])
            yield slice(int(ends[c] - self.counts[c]), int(ends[c])), pairs.astype(np.int64)

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, besides the rows."""
        return {"W": self.Z, "counts": self.counts}

    def decisions(self, X: Rows, intercept: NDArray[np.float64]) -> Floats:
        """Decision values of the classes, (m, n_classes), computed for some rows at a time."""
        values: Floats = np.empty((X.shape[0], self.counts.size), self.X.dtype)
        step = max(1, PAIR_VALUES // self.n_columns)
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            values[rows] = values_by_class(super().decisions(X[rows], intercept), self.counts.size)
        return values

    @property
    def n_columns(self) -> int:
        """Number of pairs."""
        return self.counts.size * (self.counts.size - 1) // 2

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in super().__getstate__().items()
            if name != "_class_predictors"
        }

    @cached_property
    def _class_predictors(self) -> list[ExpansionPredictor]:
        """The predictors of the classes with rows."""
        parts = [own for own, _ in self.classes()]
        return [ExpansionPredictor(self.kernel, self.X[part], self.Z[part]) for part in parts]


def expansion_predictor(
    kernel: Kernel, X: Rows, Z: Floats, counts: NDArray[np.int64] | None = None
) -> ExpansionPredictor:
    """Return the predictor of a model on the exact kernel; `counts` are for pairs of classes."""
    if counts is None:
        return ExpansionPredictor(kernel, X, Z)
    return PairwisePredictor(kernel, X, Z, counts)
