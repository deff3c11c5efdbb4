"""Rows of a problem may be one part of all rows: sums and quantiles are then over all parts.

Every part runs the same solver on its own rows. Whatever steers a solver, such as a duality gap, is
a number of all parts, the same in each, so they all take the same steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray


class Parts(ABC):
    """All parts, as one of them reaches them. Each must make the same calls in the same order."""

    columns_at_once: ClassVar[int]
    """Columns of a problem whose quantiles are searched for together."""

    @abstractmethod
    def sum_later(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Sum over all parts, elementwise; asked for when the result is called.

        It may travel with the next exchange of the parts, whatever that is.
        """

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over all parts, elementwise."""
        return self.sum_later(values)()

    @abstractmethod
    def max(self, values: NDArray[Any]) -> NDArray[Any]:
        """Largest of all parts, elementwise."""

    @abstractmethod
    def gather(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Concatenate each array with those of the other parts, in the order of the parts."""


class OnePart(Parts):
    """The rows are all there are."""

    columns_at_once: ClassVar[int] = 1

    def sum_later(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Return the values."""
        return lambda: values

    def max(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values."""
        return values

    def gather(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the arrays."""
        return list(arrays)


ALONE = OnePart()
