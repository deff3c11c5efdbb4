"""The connection between a running fit and its caller."""

from __future__ import annotations

import math
from collections.abc import Callable

from hssvm.solvers import Checkpoint, Status, WorkingSetState
from hssvm.training.reports.report import FitReport


class Monitor:
    """Steers a fit: it may stop it. This base class only collects advice.

    Attributes
    ----------
    checkpoint : callable or None
        Called as ``checkpoint(iteration, Z)``; see `hssvm.solvers.ADMM`.
    refine_checkpoint : callable or None
        Called as ``refine_checkpoint(round, state)``; see `hssvm.solvers.WorkingSet`.
    """

    checkpoint: Checkpoint | None = None
    refine_checkpoint: Callable[[int, WorkingSetState], None] | None = None

    @property
    def seconds_left(self) -> float:
        """Seconds until the fit should stop."""
        return math.inf

    def stop(self) -> Status | None:
        """Return a status if the fit should stop; solvers call it at least after every check."""
        return None

    def advise(self, advice: str | None, report: FitReport) -> None:
        """Add advice about the data to the report, if there is any."""
        if advice is not None:
            report.advice.append(str(advice))
