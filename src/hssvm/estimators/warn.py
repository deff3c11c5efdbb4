"""Warnings that name the line of the user's program, not one of the library."""

from __future__ import annotations

import sys
import warnings

LIBRARIES = ("hssvm", "sklearn")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost call from outside of hssvm and scikit-learn.

    How many frames lie between differs: decorators and scikit-learn's callbacks add some.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame.f_globals) in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__")).partition(".")[0]
