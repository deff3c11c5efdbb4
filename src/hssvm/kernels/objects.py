"""A kernel of Python objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import costs
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.indexed import IndexedKernel, as_points, choose_landmarks
from hssvm.kernels.wrapped import checked_values

PARALLEL_VALUES = 2**12
"""Number of values from which several processes compute a block."""

Objects = NDArray[np.object_]


@dataclass(frozen=True)
class ObjectKernel(IndexedKernel):
    """A kernel given by a function of two lists of objects: strings, graphs, molecules.

    Pass lists of objects instead of X to `fit` and `predict`. Rows of the kernel matrix are kept in
    memory as far as they fit. A model keeps all training objects; it can be pickled, but not saved
    to a model file.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns the (n, m) kernel values of two lists of objects, and must be
        symmetric and positive semi-definite.
    n_jobs : int, optional
        Number of processes that compute a block, or of threads within
        ``joblib.parallel_config(backend="threading")``; see joblib.

    Examples
    --------
    >>> from hssvm import SVC
    >>> from hssvm.kernels import ObjectKernel
    >>> def common_letters(A, B):
    ...     return [[len(set(a) & set(b)) for b in B] for a in A]
    >>> words = ["sun", "sunny", "run", "tree", "three", "trees"]
    >>> model = SVC(kernel=ObjectKernel(common_letters)).fit(words, [0, 0, 0, 1, 1, 1])
    >>> model.predict(["funny", "reset"])
    array([0, 1])
    """

    function: Callable[[Sequence[Any], Sequence[Any]], Any]
    n_jobs: int | None = None
    landmarks: tuple[int, ...] = field(default=(), repr=False)
    objects: Objects | None = field(default=None, repr=False, compare=False)
    training_objects: Objects | None = field(default=None, repr=False, compare=False)

    def bind(self, X: Any) -> ObjectKernel:
        """Return the kernel of the training objects `X`."""
        objects = _as_objects(X)
        landmarks = choose_landmarks(objects.size)
        return replace(self, landmarks=landmarks, objects=objects, training_objects=objects)

    def at(self, X: Any) -> ObjectKernel:
        """Return the kernel of new objects with the training objects."""
        return replace(self, objects=_as_objects(X))

    def select(self, rows: NDArray[np.int64]) -> list[Any]:
        """Return some of the training objects."""
        assert self.training_objects is not None, "the kernel has no objects"
        return list(self.training_objects[rows])

    def without_points(self) -> ObjectKernel:
        """Return the kernel with the training objects only."""
        return replace(self, objects=None)

    def points(self) -> Floats:
        """Indices of the objects, (n, 1)."""
        assert self.objects is not None, "the kernel has no objects"
        return as_points(np.arange(self.objects.size), np.float64)

    def values(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """Kernel values of the objects with these indices."""
        assert self.objects is not None, "the kernel has no objects"
        assert self.training_objects is not None, "the kernel has no objects"
        A, B = self.objects[rows].tolist(), self.training_objects[columns].tolist()
        if self.n_jobs is None or len(A) * len(B) < PARALLEL_VALUES:
            return checked_values(self.function(A, B), len(A), len(B))
        from joblib import Parallel, delayed, effective_n_jobs  # type: ignore[import-untyped]

        step = -(-len(A) // effective_n_jobs(self.n_jobs))
        parts = [A[begin : begin + step] for begin in range(0, len(A), step)]
        blocks = Parallel(self.n_jobs)(delayed(self.function)(part, B) for part in parts)
        checked = [
            checked_values(block, len(part), len(B))
            for part, block in zip(parts, blocks, strict=True)
        ]
        return np.concatenate(checked)

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per value."""
        return costs.SECONDS_PER_OBJECT_VALUE


def _as_objects(X: Any) -> Objects:
    """Return a one-dimensional array of objects, which may be sequences themselves."""
    if isinstance(X, str | dict | set) or not hasattr(X, "__len__") or hasattr(X, "columns"):
        raise TypeError(
            f"X must be a list of objects, got {type(X).__name__}; make a list of it, for example "
            "with X.to_dict('records')"
        )
    items = list(X)
    if not items:
        raise ValueError("X has no objects")
    objects = np.empty(len(items), object)
    for i, value in enumerate(items):  # they may be sequences, which NumPy would take apart
        objects[i] = value
    return objects
