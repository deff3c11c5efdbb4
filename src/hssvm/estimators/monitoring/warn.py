"""Warnings that point to the user's code instead of the library."""

from __future__ import annotations

import inspect
import warnings

LIBRARIES = ("hssvm", "sklearn")


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the innermost frame outside of hssvm and scikit-learn.

    The stack level is not fixed, as decorators and scikit-learn's callbacks add frames.
    """
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_back is not None and _package(frame.f_globals) in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__")).partition(".")[0]
