"""Progress of a fit: the log, and scikit-learn's fit callbacks where it has them (1.9 on)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from hssvm._threads import SharedSetting

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's, which this version does not have."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return `method` as it is."""
        return method


__all__ = ["CallbackSupportMixin", "FitTasks", "logging_to_stderr", "with_callbacks"]


class FitTasks:
    """The tasks of one fit, told to the estimator's callbacks."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.context = None
        if getattr(estimator, "_skl_callbacks", None):
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator)

    def done(self, name: str) -> bool:
        """Tell that a task has ended; True if a callback asks to stop."""
        if self.context is None:
            return False
        task = self.context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator))

    def after_look(self, iteration: int, gap: Any) -> bool:
        """Tell that a solver has looked at the gap; a solver's callback."""
        return self.done(f"iteration {iteration}")

    def end(self) -> None:
        """Tell that the fit has ended."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator)


_shown = SharedSetting()


def logging_to_stderr(verbose: int) -> AbstractContextManager[None]:
    """Show the log of hssvm on stderr: its progress for 1, every level of the tree for 2.

    Handlers that the program has set up get the same records; no second one is added to those.
    The level belongs to the process: of several fits at once, the last one out restores it.
    """
    if not verbose:
        return nullcontext()
    return _shown.held(lambda: _show_log(logging.DEBUG if verbose > 1 else logging.INFO))


def _show_log(level: int) -> Callable[[], None]:
    """Set the level, and a handler where there is none; return what undoes it."""
    logger = logging.getLogger("hssvm")
    before, handler = logger.level, logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[hssvm] %(message)s"))
    if not logger.hasHandlers():
        logger.addHandler(handler)
    logger.setLevel(level)

    def restore() -> None:
        logger.setLevel(before)
        logger.removeHandler(handler)

    return restore
