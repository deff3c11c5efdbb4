"""The connection between a running fit and its caller."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hssvm.solvers import Checkpoint, Status, WorkingSetState
from hssvm.training.report import FitReport


class Monitor:
    """Receives the progress of a fit, and may stop it. This base class only collects advice.

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

    def stage_done(self, name: str) -> None:
        """Called at the end of a stage."""

    def stop(self) -> Status | None:
        """Return a status if the fit should stop."""
        return None

    def after_check(self, iteration: int, gap: Any) -> Status | None:
        """Called by solvers after every check of the gap; a status stops them."""
        return None

    def advise(self, advice: str | None, report: FitReport) -> None:
        """Add advice about the data to the report, if there is any."""
        if advice is not None:
            report.advice.append(advice)
