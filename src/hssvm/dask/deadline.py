"""The time at which a worker stops, which the driver has set."""

from __future__ import annotations

import time

from hssvm.solvers import Status
from hssvm.training import Monitor


class Deadline(Monitor):
    """Stops a fit at a given time, in seconds since the epoch."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.time()

    def stop(self) -> Status | None:
        """Return MAX_TIME after the deadline."""
        return Status.MAX_TIME if self.seconds_left < 0 else None
