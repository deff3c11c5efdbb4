"""What a fit does if the exact kernel is out of reach, or if the user asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hssvm.hss import Compressor


@dataclass(frozen=True)
class Cells:
    """Exact models of small parts of the data, averaged over several partitions.

    A random tree divides the rows into cells of equal size. An exact model is trained on each
    cell, and predicts the new rows that fall into it. The decision values of several trees, which
    have different borders, are averaged. Time and memory are linear in the number of rows. See
    :doc:`/approximations`.

    Parameters
    ----------
    size : int, default=None
        Maximum number of rows of a cell. Larger cells are more accurate and slower: time grows in
        proportion. None means up to 8,000, as far as a few minutes on two cores or `max_time`
        permit, and at least 2,000.
    n_trees : int, default=None
        Number of trees. None means 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVC, Cells
    >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = SVC(approximation=Cells(size=1000), random_state=0).fit(X[:10_000], y[:10_000])
    >>> model.score(X[10_000:], y[10_000:]) > 0.98
    True
    """

    size: int | None = None
    n_trees: int | None = None

    def __post_init__(self) -> None:
        _set_integers(self, size=20, n_trees=1)


@dataclass(frozen=True)
class HSS:
    """A compressed kernel matrix, or several, in hierarchically semiseparable (HSS) form.

    A tree divides the rows into leaves. Blocks of the kernel matrix between different leaves have
    a low rank, so that one model of all rows is trained in time and memory linear in their number.
    The decision values of several trees are averaged. See :doc:`/approximations`.

    Parameters
    ----------
    n_trees : int, default=None
        Number of trees, each with its own compressed kernel. None means 4.
    leaf_size : int, default=None
        Maximum number of rows in a leaf of a tree. None: chosen from the data.
    max_rank : int, default=None
        Maximum rank of a leaf; ranks grow toward the root. A larger rank is more accurate and
        slower. None: chosen from the data.
    compressor : Compressor of `hssvm.hss`, default=None
        `NestedNystroem` to set parameters other than `max_rank`, or `HSSANN`, the compression of
        Cipolla and Gondzio, which predicts with the exact kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import HSS, SVC
    >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = SVC(approximation=HSS(n_trees=2), random_state=0).fit(X[:10_000], y[:10_000])
    >>> model.score(X[10_000:], y[10_000:]) > 0.98
    True
    """

    n_trees: int | None = None
    leaf_size: int | None = None
    max_rank: int | None = None
    compressor: Compressor | None = None

    def __post_init__(self) -> None:
        _set_integers(self, n_trees=1, leaf_size=2, max_rank=1)
        if self.compressor is not None and not isinstance(self.compressor, Compressor):
            raise TypeError(
                f"compressor={self.compressor!r} must be None or a compressor of hssvm.hss such as "
                "NestedNystroem(rtol=1e-2)"
            )
        if self.compressor is not None and self.max_rank is not None:
            raise ValueError(
                f"max_rank={self.max_rank} has no effect with compressor={self.compressor!r}; "
                "pass max_rank to the compressor"
            )
        if self.compressor is not None and not self.compressor.projection and self.trees > 1:
            raise ValueError(
                f"n_trees={self.n_trees} needs a compressed kernel that extends to new points, but "
                f"compressor={self.compressor!r} makes one that does not; set compressor=None or "
                "n_trees=None"
            )

    @property
    def trees(self) -> int:
        """Number of trees that were asked for, or 1."""
        return self.n_trees or 1

    @property
    def extends_to_new_points(self) -> bool:
        """Whether the compressed kernel has values at new points."""
        return self.compressor is None or self.compressor.projection


Approximation: TypeAlias = Cells | HSS


def _set_integers(approximation: Any, **least: int) -> None:
    """Convert the given attributes to int unless they are None; raise an error if too small."""
    for name, smallest in least.items():
        value = getattr(approximation, name)
        if value is None:
            continue
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise TypeError(f"{name}={value!r} must be None or an integer >= {smallest}")
        if value < smallest:
            raise ValueError(f"{name}={value} must be None or an integer >= {smallest}")
        object.__setattr__(approximation, name, int(value))
