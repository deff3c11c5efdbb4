"""Fits that are stopped in a certain tree of their forest, or at a certain gap."""

from collections import Counter
from contextlib import contextmanager

import pytest

from hssvm.estimators.monitoring.callbacks import FitMonitor
from hssvm.progress import StageEnded
from hssvm.solvers import Solution, Status
from hssvm.training import Monitor


class StopInTree(Monitor):
    """Stops a fit in a tree, the first one being 0: while it is solved, or before it begins.

    The stage before the solution, and the last one of a tree, have other names for cells.
    """

    def __init__(self, tree, *, in_solver, cells=False):
        self.tree, self.in_solver = tree, in_solver
        self.before, self.last = ("tree", "solve") if cells else ("compress", "finish")
        self.n_ended = Counter()

    def listen(self, event):
        match event:
            case StageEnded(name):
                self.n_ended[name] += 1

    def stop(self):
        if self.in_solver:
            return Status.STOPPED if self.n_ended[self.before] > self.tree else None
        return Status.MAX_TIME if self.n_ended[self.last] >= self.tree else None


@contextmanager
def stopped_in_tree(index, *, in_solver=True, cells=False):
    """Stop fits of estimators in a tree; see `StopInTree`."""
    stop = StopInTree(index, in_solver=in_solver, cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FitMonitor, "listen", lambda monitor, event: stop.listen(event))
        patch.setattr(FitMonitor, "stop", lambda monitor: stop.stop())
        yield


def checked_gaps(monkeypatch):
    """Return a list to which solvers add the gaps of all columns at every check."""
    gaps, remember = [], Solution.remember

    def watched(solution, iteration):
        remember(solution, iteration)
        gaps.append(solution.gap.copy())

    monkeypatch.setattr(Solution, "remember", watched)
    return gaps
