"""The interface of predictors, and the evaluation of few rows in the core.

If there are few rows per leaf, the core evaluates them one at a time, without BLAS: the overhead of
matrix products would exceed the computation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import CoreKernel, Floats, Kernel, Rows, core_rows

if TYPE_CHECKING:
    from hssvm.predictors.expansion import ExpansionPredictor
    from hssvm.predictors.leafwise import LeafwisePredictor


class LeafArrays(NamedTuple):
    """The rows of each leaf of a tree, their offsets and weights, the cuts, and the constants."""

    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: Floats
    directions: Floats
    thresholds: Floats
    constants: Floats | None = None


ROWS_PER_LEAF = 4
"""Number of rows per leaf up to which a predictor evaluates them one at a time."""


def is_plain(X: Any, dtype: np.dtype[Any]) -> bool:
    """Whether `X` is an array that the core accepts as it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype == dtype
        and X.flags.c_contiguous
        and X.flags.aligned
    )


class Predictor(Aligned, ABC):
    """Base class of predictors, which evaluate few rows in the core.

    Attributes
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
    """

    kind: ClassVar[str]
    """Name of the kind of predictor in model files."""

    kernel: Kernel
    X: Rows

    clip: float = math.inf
    """The values of a tree are clipped to [-clip, clip] before they are averaged."""

    @property
    def exact(self) -> ExpansionPredictor | None:
        """The predictor itself, if it uses the exact kernel."""
        return None

    @property
    def compressed(self) -> LeafwisePredictor | None:
        """The predictor itself, if it uses compressed kernels."""
        return None

    @property
    def rows_are_support(self) -> bool:
        """Whether the rows of X are the support vectors, as without compression."""
        return True

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """Weights of the rows of X, (n, k), in the first tree if there are several."""

    @abstractmethod
    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, besides the rows; see `hssvm.persistence`."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of columns, k."""

    @property
    @abstractmethod
    def n_leaves(self) -> int:
        """Number of leaves of a tree."""

    @abstractmethod
    def leaf_arrays(self) -> Iterator[LeafArrays]:
        """Yield the arrays of each tree."""

    @cached_property
    def _few_rows(self) -> list[_core.LeafExpansions] | None:
        if not isinstance(self.kernel, CoreKernel) or scipy.sparse.issparse(self.X):
            return None
        core, Y = self.kernel.core, core_rows(self.X)
        return [_core.LeafExpansions(core, Y, *tree, self.clip) for tree in self.leaf_arrays()]

    def _values_of_few(self, X: Rows) -> Floats | None:
        """Mean over the trees, or None if `X` has many rows or has to be converted."""
        few = X.shape[0] <= ROWS_PER_LEAF * self.n_leaves
        if not few or not is_plain(X, self.X.dtype) or self._few_rows is None:
            return None
        values: Floats = np.zeros((X.shape[0], self.n_columns), X.dtype)
        for tree in self._few_rows:
            tree.add_to(X, values)
        values /= len(self._few_rows)
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_few_rows"}
