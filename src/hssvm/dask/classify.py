"""Functions that workers apply to decision values: classes, and the weight of correct ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition
from hssvm.estimators.inputs.labels import classify
from hssvm.kernels.base import Floats


def by_class(values: Floats, n_classes: int) -> Floats:
    """Return the result of `decision_function` for the values (m, k) of the columns."""
    return values[:, 0] if n_classes == 2 else values


def classified(values: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes for the values (m, k) of the columns."""
    return classify(by_class(values, classes.size), classes)


def correct_weight(
    values: Floats, partition: Partition, classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the weight of the correctly classified rows, and of all rows."""
    weight = np.ones(values.shape[0]) if partition.weight is None else partition.weight
    correct = classified(values, classes) == partition.y
    return np.array([weight[correct].sum(), weight.sum()])
