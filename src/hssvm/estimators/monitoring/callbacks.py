"""Monitoring of a fit: log messages, scikit-learn callbacks (from 1.9 on), Ctrl-C, max_time."""

from __future__ import annotations

import logging
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from hssvm._threads import SharedSetting
from hssvm.estimators.monitoring.notebook import in_notebook, showing_bar
from hssvm.estimators.monitoring.warn import warn
from hssvm.exceptions import DataWarning
from hssvm.progress import Event, Gap, StageEnded, Violation, show_log
from hssvm.solvers import Status
from hssvm.training import FitReport, Monitor

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Placeholder for the class of scikit-learn 1.9."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return `method` unchanged."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "FitMonitor",
    "logging_to_stderr",
    "stop_on_interrupt",
    "with_callbacks",
]


class FitMonitor(Monitor):
    """Context manager that notifies an estimator's callbacks of a fit, and stops it on request.

    Parameters
    ----------
    estimator : BaseKernelSVM
    max_time : float, optional
        Seconds after which the fit should stop.
    **data
        X, y and metadata of the fit, for callbacks that score the model.
    """

    def __init__(self, estimator: Any, max_time: float | None = None, **data: Any) -> None:
        self.estimator = estimator
        self.data = data
        self.deadline = math.inf if max_time is None else time.perf_counter() + max_time
        self.context: Any = None
        self.stopped = False

    def __enter__(self) -> FitMonitor:
        if getattr(self.estimator, "_skl_callbacks", None):
            begin = self.estimator._init_callback_context  # noqa: SLF001, for estimators to call
            self.context = begin(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator)
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if self.context is not None and kind is None:
            parameters = self.estimator.get_params(deep=False)
            fitted = {k: v for k, v in vars(self.estimator).items() if k not in parameters}
            self.context.call_on_fit_task_end(
                estimator=self.estimator, **self.data, reconstruction_attributes=fitted
            )

    @property
    def seconds_left(self) -> float:
        """Seconds until the fit should stop."""
        return self.deadline - time.perf_counter()

    def listen(self, event: Event) -> None:
        """Notify the callbacks of the end of a stage or an iteration."""
        match event:
            case StageEnded(name):
                self._notify(name)
            case Gap(iteration) | Violation(iteration):
                self._notify(f"iteration {iteration}")

    def stop(self) -> Status | None:
        """Return a status if a callback has asked to stop, Ctrl-C was pressed, or time is up."""
        if self.stopped or _interrupt.received:
            return Status.STOPPED
        return Status.MAX_TIME if self.seconds_left <= 0 else None

    def advise(self, advice: str | None, report: FitReport) -> None:
        """Add advice about the data to the report, and warn."""
        super().advise(advice, report)
        if advice is not None:
            warn(advice, DataWarning)

    def _notify(self, name: str) -> None:
        if self.context is None:
            return
        task = self.context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator)
        if task.call_on_fit_task_end(estimator=self.estimator):
            self.stopped = True


class _Interrupt:
    """Whether Ctrl-C was pressed inside `stop_on_interrupt`."""

    received = False


_interrupt = _Interrupt()


@contextmanager
def stop_on_interrupt(acknowledge: Callable[[], None] | None = None) -> Iterator[None]:
    """Context in which Ctrl-C stops a fit with the best coefficients so far.

    A second Ctrl-C raises KeyboardInterrupt. This is for the main thread of a program, such as the
    command line: a library must not replace the signal handler of its caller.

    Parameters
    ----------
    acknowledge : callable, optional
        Called from the signal handler at the first Ctrl-C; it may raise to stop immediately.

    Examples
    --------
    >>> from hssvm.estimators.monitoring.callbacks import stop_on_interrupt
    >>> with stop_on_interrupt():
    ...     pass  # model.fit(X, y)
    """

    def handle(number: int, frame: Any) -> None:
        if _interrupt.received:
            raise KeyboardInterrupt
        _interrupt.received = True
        if acknowledge is not None:
            acknowledge()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _interrupt.received = False


_shown = SharedSetting()


def logging_to_stderr(verbose: int) -> AbstractContextManager[None]:
    """Show the progress of a fit: its stages for 1, every step and level of the tree for 2.

    In a notebook, 1 shows a progress bar. Otherwise the log goes to stderr, or to the handlers that
    the program has set up. The log is a setting of the process: if several fits run at once, the
    last one to finish restores it.
    """
    if not verbose:
        return nullcontext()
    logger = logging.getLogger("hssvm")
    if verbose == 1 and in_notebook() and not logger.handlers:
        return showing_bar()
    handler = logging.NullHandler() if logger.hasHandlers() else logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[hssvm] %(message)s"))
    level = logging.INFO if verbose == 1 else logging.DEBUG
    return _shown.held(lambda: show_log(handler, level))
