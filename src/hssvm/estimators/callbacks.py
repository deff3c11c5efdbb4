"""Progress and end of a fit: the log, scikit-learn's fit callbacks (1.9 on), Ctrl-C, the clock."""

from __future__ import annotations

import logging
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from hssvm._threads import SharedSetting
from hssvm.estimators.notebook import NotebookBar, in_notebook
from hssvm.estimators.progress import FewSteps
from hssvm.solvers import Status

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's, which this version does not have."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return `method` as it is."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "FitTasks",
    "ending_on_interrupt",
    "logging_to_stderr",
    "with_callbacks",
]


class FitTasks:
    """The tasks of one fit, told to the estimator's callbacks.

    Parameters
    ----------
    estimator : KernelMachine
    max_time : float, optional
        Seconds from now after which the fit shall end.
    """

    def __init__(self, estimator: Any, max_time: float | None = None) -> None:
        self.estimator = estimator
        self.deadline = math.inf if max_time is None else time.perf_counter() + max_time
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

    @property
    def seconds_left(self) -> float:
        """Until the fit shall end."""
        return self.deadline - time.perf_counter()

    def after_look(self, iteration: int, gap: Any) -> Status | None:
        """Tell that a solver has looked at the gap; a solver's callback."""
        if self.done(f"iteration {iteration}") or _interrupt.came:
            return Status.STOPPED
        return Status.MAX_TIME if self.seconds_left <= 0 else None

    def end(self) -> None:
        """Tell that the fit has ended."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator)


class _Interrupt:
    """Whether Ctrl-C came inside `ending_on_interrupt`."""

    came = False


_interrupt = _Interrupt()


@contextmanager
def ending_on_interrupt(acknowledge: Callable[[], None] | None = None) -> Iterator[None]:
    """Context in which Ctrl-C ends a fit with the best coefficients so far; twice, the program.

    For the main thread of a program, such as the command line: a library must not take Ctrl-C from
    whoever calls it.

    Parameters
    ----------
    acknowledge : callable, optional
        Called at the first Ctrl-C, from the handler of the signal; it may raise to end at once.

    Examples
    --------
    >>> from hssvm.estimators.callbacks import ending_on_interrupt
    >>> with ending_on_interrupt():
    ...     pass  # model.fit(X, y)
    """

    def handle(number: int, frame: Any) -> None:
        if _interrupt.came:
            raise KeyboardInterrupt
        _interrupt.came = True
        if acknowledge is not None:
            acknowledge()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _interrupt.came = False


_shown = SharedSetting()


def logging_to_stderr(verbose: int) -> AbstractContextManager[None]:
    """Show the progress of a fit: for 1 its stages, for 2 every step and level of the tree.

    In a notebook 1 is a bar. Elsewhere, and for 2, the log of hssvm goes to stderr, or to the
    handlers that the program has set up for it. Both belong to the process: of several fits at
    once, the last one out restores them.
    """
    if not verbose:
        return nullcontext()
    if verbose > 1:
        return _shown.held(lambda: _show_log(logging.DEBUG))
    in_bar = in_notebook() and not logging.getLogger("hssvm").handlers
    return _shown.held(_show_bar if in_bar else lambda: _show_log(logging.INFO))


def _show_log(level: int) -> Callable[[], None]:
    """Set the level, and a handler where there is none; return what undoes it."""
    logger = logging.getLogger("hssvm")
    before, handler = logger.level, logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[hssvm] %(message)s"))
    if level > logging.DEBUG:
        handler.addFilter(FewSteps())
    if not logger.hasHandlers():
        logger.addHandler(handler)
    logger.setLevel(level)

    def restore() -> None:
        logger.setLevel(before)
        logger.removeHandler(handler)

    return restore


def _show_bar() -> Callable[[], None]:
    """Show a bar in place of the log; return what undoes it."""
    logger, bar = logging.getLogger("hssvm"), NotebookBar()
    before = logger.level, logger.propagate
    logger.addHandler(bar)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False

    def restore() -> None:
        logger.setLevel(before[0])
        logger.propagate = before[1]
        logger.removeHandler(bar)
        bar.close()

    return restore
