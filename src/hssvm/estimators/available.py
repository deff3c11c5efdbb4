"""Methods that some models of a class do not have."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any


def available_after(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a method that exists only if a check passes.

    Like `sklearn.utils.metaestimators.available_if`, except that the error of the check is not
    chained to another: it is the last line of the traceback, and can say what to do.

    Parameters
    ----------
    check : callable
        Called with the model; raises AttributeError if it does not have the method.
    """

    def decorate(method: Callable[..., Any]) -> _CheckedMethod:
        return _CheckedMethod(method, check)

    return decorate


class _CheckedMethod:
    """Descriptor that checks the model before it returns the method."""

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], None]) -> None:
        self.method, self.check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        if model is None:
            return self.method
        self.check(model)
        return MethodType(self.method, model)
