"""Communication between processes that train one model together, in MPI terminology.

Each process, a *rank*, holds some of the rows and runs the same solver on them. Every quantity that
controls a solver, such as the duality gap, is reduced over all ranks, so all ranks take the same
steps. `SERIAL` is the communicator of a model that is trained in a single process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

Reduction: TypeAlias = Literal["sum", "max"]


class Communicator(ABC):
    """One rank's view of all ranks. All ranks must make the same calls in the same order.

    Attributes
    ----------
    rank : int
        Index of this rank, starting at 0.
    size : int
        Number of ranks.
    """

    rank: int
    size: int

    @abstractmethod
    def allreduce(self, values: NDArray[Any], op: Reduction = "sum") -> NDArray[Any]:
        """Combine the arrays of all ranks elementwise."""

    @abstractmethod
    def allreduce_async(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Start a sum over all ranks; calling the returned function waits for the result.

        The values may be sent along with the next communication between the ranks.
        """

    @abstractmethod
    def allgather(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Concatenate each array over all ranks, in rank order."""

    def while_others_wait(self) -> AbstractContextManager[Any]:
        """Return a context for work of one rank, in which it may use the threads of the others."""
        return nullcontext()


class SerialCommunicator(Communicator):
    """Communicator of a single process.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.comm import SERIAL
    >>> SERIAL.rank, SERIAL.size, SERIAL.allreduce(np.array([1.0, 2.0]))
    (0, 1, array([1., 2.]))
    """

    rank, size = 0, 1

    def allreduce(self, values: NDArray[Any], op: Reduction = "sum") -> NDArray[Any]:
        """Return the values unchanged."""
        return values

    def allreduce_async(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Return a function that returns the values."""
        return lambda: values

    def allgather(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the arrays unchanged."""
        return list(arrays)


SERIAL = SerialCommunicator()
