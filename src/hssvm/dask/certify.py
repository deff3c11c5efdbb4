"""Certificates of models on a cluster: a task for every partition of the training data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from dask import delayed
from numpy.typing import NDArray

from hssvm.dask.model import PartsModel, model_rows
from hssvm.dask.partitions import Partition, as_partitions, identity
from hssvm.dask.plan import Layout
from hssvm.dask.shuffle import targets
from hssvm.dask.waiting import values_of
from hssvm.predictors import ExpansionPredictor
from hssvm.training import Task
from hssvm.training.certificate import Certificate, CertificateSums, certificate_sums


def certify(
    model: PartsModel, task: Task, data: Sequence[Any], n_rows: int | None, seed: int
) -> Certificate:
    """Evaluate a model on the exact kernel, at the rows it was trained on.

    Parameters
    ----------
    model : PartsModel
    task : Task
    data : (X, y, sample_weight)
        The training data, as in `as_partitions`.
    n_rows : int or None
        Number of rows to evaluate; None evaluates all rows.
    seed : int
    """
    client, layout = model.client, model.layout
    partitions = as_partitions(client, *data)
    sizes = values_of(client, client.compute([delayed(size_of)(one) for one in partitions]))
    begins = np.cumsum([0, *sizes])
    if begins[-1] != layout.offsets[-1]:
        raise ValueError(
            f"X has {begins[-1]} rows, but the model was trained on {layout.offsets[-1]}; pass the "
            "rows that the model was trained on to certify"
        )
    shared = delayed(identity, pure=False, traverse=False)((layout, task, model.intercept))
    joined = model.support()
    sums = []
    for i, partition in enumerate(partitions):
        own = None if n_rows is None else max(4, round(n_rows * sizes[i] / begins[-1]))
        sums.append(
            delayed(certify_partition, pure=False)(
                partition, int(begins[i]), shared, joined, own, seed + i
            )
        )
    total: CertificateSums = reduce(add, values_of(client, client.compute(sums)))
    return total.certificate(model.intercept)


def size_of(partition: Partition) -> int:
    """Number of rows of a partition."""
    return int(partition.X.shape[0])


def certify_partition(
    partition: Partition,
    begin: int,
    shared: tuple[Layout, Task, NDArray[np.float64]],
    joined: tuple[NDArray[np.int64], ExpansionPredictor],
    n_rows: int | None,
    seed: int,
) -> CertificateSums:
    """Sum over the rows of a partition, whose first row has the global index `begin`."""
    layout, task, intercept = shared
    ids, predictor = joined
    X = model_rows(partition, layout).astype(np.float64)
    weight = np.ones(X.shape[0]) if partition.weight is None else partition.weight
    kernel = predictor.kernel
    problem = task.problem(X, targets(partition.y, layout), weight, kernel).part(0).problem
    support, coefficients = predictor.X.astype(np.float64), predictor.Z.astype(np.float64)
    ids = ids - begin
    here = (ids >= 0) & (ids < X.shape[0])
    Z = np.zeros((X.shape[0], problem.k))
    Z[ids[here]] = coefficients[here]
    return certificate_sums(
        problem,
        lambda rows: kernel.product(X[rows], support, coefficients),
        Z,
        intercept,
        n_rows,
        seed,
    )
