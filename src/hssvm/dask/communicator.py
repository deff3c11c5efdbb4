"""The communicator of a part, and its connection to the top levels, through the coordinator."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from zlib import crc32

import numpy as np
from dask.system import CPU_COUNT
from distributed.comm import get_address_host
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.comm import Communicator, Reduction
from hssvm.dask.messages import Link, Reply, Request
from hssvm.hss.matrix import RootExchange
from hssvm.hss.parts import TopConnection
from hssvm.kernels.base import Floats
from hssvm.solvers import Status


class ActorCommunicator(Communicator):
    """Communication with the other parts through a `Coordinator`.

    Parameters
    ----------
    link : Link
    rank : int
        Index of the part.
    size : int
        Number of parts.

    Attributes
    ----------
    stop : Status or None
        A status if the fit should stop, as of the last synchronization.
    seconds, n_bytes : float, int
        Time spent in synchronizations so far, and the size of the arrays that were sent and
        received.
    n_threads : int or None
        Number of threads for work for which the other parts wait; see `share_threads`.
    """

    def __init__(self, link: Link, rank: int, size: int) -> None:
        self.link = link
        self.rank, self.size = rank, size
        self.stop: Status | None = None
        self.seconds, self.n_bytes = 0.0, 0
        self.n_threads: int | None = None
        self._pending: list[_PendingSum] = []

    @property
    def n_rounds(self) -> int:
        """Number of synchronizations so far."""
        return self.link.n_rounds

    def synchronize(self, kind: str, arrays: Sequence[NDArray[Any]], number: int = 0) -> Reply:
        """Send a request with all pending sums, and wait for the reply."""
        pending, self._pending = self._pending, []
        request = Request(kind, arrays, [item.value for item in pending], number)
        start = time.perf_counter()
        reply = self.link.exchange(request)
        self.seconds += time.perf_counter() - start
        messages = (request.arrays, request.piggybacked, reply.arrays, reply.piggybacked)
        self.n_bytes += sum(array.nbytes for arrays in messages for array in arrays)
        self.stop = reply.stop
        for item, value in zip(pending, reply.piggybacked, strict=True):
            item.value, item.done = value, True
        return reply

    def allreduce(self, values: NDArray[Any], op: Reduction = "sum") -> NDArray[Any]:
        """Combine the arrays of all parts elementwise."""
        return self.synchronize(op, [np.asarray(values)]).arrays[0]

    def allreduce_async(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Start a sum over all parts, which is sent along with the next message."""
        pending = _PendingSum(self, np.asarray(values))
        self._pending.append(pending)
        return pending

    def allgather(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Concatenate each array over all parts, in rank order."""
        return list(self.synchronize("gather", arrays).arrays)

    def share_threads(self, address: str, n_threads: int) -> None:
        """Count the threads of all workers with parts on the same host.

        Parameters
        ----------
        address : str
            Address of the worker of this part.
        n_threads : int
            Number of threads of this worker.
        """
        host = crc32(get_address_host(address).encode())
        worker = crc32(address.encode())
        (parts,) = self.allgather([np.array([[host, worker, n_threads]])])
        here = {other: count for there, other, count in parts.tolist() if there == host}
        self.n_threads = max(n_threads, min(sum(here.values()), CPU_COUNT))

    def while_others_wait(self) -> AbstractContextManager[Any]:
        """Return a context in which this part may use the threads of all parts on its host."""
        if self.n_threads is None:
            return super().while_others_wait()
        return openmp_threads(self.n_threads)


class _PendingSum:
    """A sum that is sent along with the next message."""

    def __init__(self, communicator: ActorCommunicator, value: NDArray[Any]) -> None:
        self.communicator, self.value, self.done = communicator, value, False

    def __call__(self) -> NDArray[Any]:
        if not self.done:
            self.communicator.synchronize("sum", [])
        return self.value


class RemoteTop(TopConnection):
    """Connection to the top levels, which are stored in the coordinator.

    Parameters
    ----------
    communicator : ActorCommunicator
    """

    def __init__(self, communicator: ActorCommunicator) -> None:
        self.communicator = communicator

    def far_field(self, c: Floats) -> Floats:
        """Send the root's coefficients (rank, k); return the contributions of the other parts."""
        return self.communicator.synchronize("far_field", [c]).arrays[0]

    def factor(self, R: Floats) -> RootExchange:
        """Factor the top levels from the R of all parts; return the exchange for solves."""
        number = self.communicator.synchronize("factor", [R]).number
        return lambda c: self.communicator.synchronize("solve", [c], number).arrays[0]
