"""Memory alignment of the arrays of unpickled objects."""

from __future__ import annotations

from typing import Any

import numpy as np


class Aligned:
    """Mixin that aligns the arrays of an object when it is unpickled.

    Arrays received from another process may start at any address within the message buffer, while
    the core requires arrays aligned to their data type.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value = np.require(value, None, "A")
            self.__dict__[name] = value
