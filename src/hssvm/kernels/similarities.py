"""Kernels for fingerprints, counts, histograms and directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from hssvm import _core
from hssvm.kernels.base import (
    CoreKernel,
    Floats,
    Rows,
    as_rows,
    require_positive,
    unit_diagonal,
)
from hssvm.kernels.inner import squared_norms


class SimilarityKernel(CoreKernel):
    """Base class of kernels for features that must not be scaled one by one."""

    scale_sensitive = False


class CountKernel(SimilarityKernel):
    """Base class of kernels for features that must not be negative."""

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError if a feature is negative."""
        values = X.data if scipy.sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                f"{self!r} needs features of at least 0, such as counts or histograms; do not "
                "center them, or use another kernel"
            )


@dataclass(frozen=True)
class Tanimoto(SimilarityKernel):
    """``<x, y> / (|x|**2 + |y|**2 - <x, y>)``, the similarity of molecular fingerprints.

    For rows of zeros and ones it is the Jaccard index, the number of bits in both rows divided by
    the number of bits in either. Two rows without any bits have the value 1. Pass fingerprints with
    few bits as a CSR matrix: values are then computed from the bits alone.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Tanimoto
    >>> Tanimoto().block(np.array([[1, 1, 0, 0], [1, 1, 1, 1]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("ratio")

    def diag(self, X: Rows) -> Floats:
        """Ones, (n,)."""
        return unit_diagonal(X)


@dataclass(frozen=True)
class MinMax(CountKernel):
    """``sum_j min(x_j, y_j) / sum_j max(x_j, y_j)``, for counts.

    For rows of zeros and ones it equals `Tanimoto`. The features must not be negative. Two rows
    of zeros have the value 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import MinMax
    >>> MinMax().block(np.array([[3, 1], [1, 1]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("ratio", similarity="minima")

    def diag(self, X: Rows) -> Floats:
        """Ones, (n,)."""
        return unit_diagonal(X)


@dataclass(frozen=True)
class HistogramIntersection(CountKernel):
    """``sum_j min(x_j, y_j)``, for histograms. The features must not be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import HistogramIntersection
    >>> HistogramIntersection().block(np.array([[3, 1], [1, 1]]))
    array([[4., 2.],
           [2., 2.]])
    """

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("polynomial", similarity="minima")

    def diag(self, X: Rows) -> Floats:
        """Sums of the features, (n,)."""
        sums: Floats = np.asarray(as_rows(X).sum(axis=1)).ravel()
        return sums


@dataclass(frozen=True)
class ChiSquared(CountKernel):
    """``exp(-gamma sum_j (x_j - y_j)**2 / (x_j + y_j))``, scikit-learn's ``chi2_kernel``.

    For histograms; the features must not be negative.

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import ChiSquared
    >>> ChiSquared(gamma=0.5).block(np.array([[3.0, 1.0], [1.0, 1.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        require_positive(gamma=self.gamma)

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("gaussian", self.gamma, similarity="harmonic_means")

    def diag(self, X: Rows) -> Floats:
        """Ones, (n,)."""
        return unit_diagonal(X)


@dataclass(frozen=True)
class Categorical(SimilarityKernel):
    """``exp(-gamma m)``, where m is the number of features in which two rows differ.

    For categories encoded as numbers, as by scikit-learn's ``OrdinalEncoder``; their order does not
    matter. The rows must be dense.

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Categorical
    >>> Categorical(gamma=0.5).block(np.array([[1.0, 3.0], [1.0, 7.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        require_positive(gamma=self.gamma)

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("gaussian", self.gamma / 2, similarity="matches")

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError if the rows are sparse."""
        if scipy.sparse.issparse(X):
            raise ValueError(f"{self!r} needs dense rows, with a number for each category")

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        for rows in (X, Y):
            self.check_rows(rows)
        return super().block(X, Y)

    def diag(self, X: Rows) -> Floats:
        """Ones, (n,)."""
        return unit_diagonal(X)


@dataclass(frozen=True)
class Cosine(SimilarityKernel):
    """``<x, y> / (|x| |y|)``, scikit-learn's ``cosine_similarity``; 0 for rows of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Cosine
    >>> Cosine().block(np.array([[0.0, 2.0], [3.0, 4.0]]))
    array([[1. , 0.8],
           [0.8, 1. ]])
    """

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("cosine")

    def diag(self, X: Rows) -> Floats:
        """Ones, but 0 for rows of zeros, (n,)."""
        norms = squared_norms(X)
        return (norms > 0).astype(norms.dtype)
