"""Fits that are stopped in a certain tree of their forest."""

from contextlib import contextmanager

import pytest

from hssvm.estimators.callbacks import FitMonitor
from hssvm.solvers import Status


@contextmanager
def stopped_in_tree(number, *, in_solver=True):
    """Stop fits in a tree, the first one being 0: while it is solved, or before it begins."""
    n_compressed, done = 0, FitMonitor.stage_done

    def stage_done(monitor, name):
        nonlocal n_compressed
        n_compressed += name == "compress"
        return done(monitor, name)

    def stop(monitor):
        return Status.MAX_TIME if n_compressed >= number and not in_solver else None

    def after_check(monitor, iteration, gap):
        return Status.STOPPED if n_compressed > number and in_solver else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FitMonitor, "stage_done", stage_done)
        patch.setattr(FitMonitor, "stop", stop)
        patch.setattr(FitMonitor, "after_check", after_check)
        yield
