"""What a task is, and the targets from which scales are learned."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import BaseProblem


class Targets(NamedTuple):
    """Targets of a regression that stands in for a task.

    Attributes
    ----------
    Y : (n, k)
        The targets, or a column of 0 and 1 for each class; one column for two classes.
    classes : bool
        Whether they are classes.
    """

    Y: Floats
    classes: bool


def class_targets(codes: NDArray[np.int64], n_classes: int) -> Targets:
    """Return the targets of classes, given their indices (n,)."""
    columns = np.arange(n_classes)[1 if n_classes == 2 else 0 :]
    return Targets((codes[:, None] == columns).astype(np.float64), classes=True)


def value_targets(y: NDArray[Any] | None) -> Targets:
    """Return the targets of a regression, given its values, (n,) or (n, t).

    Several columns have the same variance, so that all of them count.
    """
    assert y is not None
    Y = y.reshape(len(y), -1).astype(np.float64)
    spread = Y.std(axis=0)
    return Targets(Y / np.where(spread > 0, spread, 1) if Y.shape[1] > 1 else Y, classes=False)


class Task(Protocol):
    """Creates a problem from rows and targets."""

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> BaseProblem:
        """Return the problem for rows (n, p), targets (n,) and sample weights (n,).

        If the solution is `exact`, each pair of classes can be a problem on its own rows only.
        """
        ...

    def of_sample(self, y: NDArray[Any] | None) -> tuple[Task, NDArray[Any] | None]:
        """Return the task and the targets for a sample of the rows, which may lack classes."""
        ...

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Return the targets from which scales are learned."""
        ...
