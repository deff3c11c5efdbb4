"""Models on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition, as_partitions, identity
from hssvm.dask.plan import Layout
from hssvm.dask.supervisor import TrainedModels
from hssvm.dask.train import PartModel
from hssvm.dask.waiting import value_of, values_of
from hssvm.hss.parts import join_trees
from hssvm.kernels.base import Floats, Rows, sort_groups, stack_rows
from hssvm.predictors import ExpansionPredictor, LeafExpansions, LeafwisePredictor


@dataclass(frozen=True, eq=False)
class Gathered:
    """A model that was gathered from the workers.

    Attributes
    ----------
    compressed : LeafwisePredictor or None
        Predicts with the compressed kernel; None if the solution is on the exact kernel.
    exact : ExpansionPredictor
        Predicts with the exact kernel.
    support : (m,) int64
        Global indices of the support vectors, ascending.
    support_y : (m,) or None
    """

    compressed: LeafwisePredictor | None
    exact: ExpansionPredictor
    support: NDArray[np.int64]
    support_y: NDArray[Any] | None


class DistributedModel(ABC):
    """A model whose decision values are computed on the workers.

    Parameters
    ----------
    client : distributed.Client
    layout : Layout
    intercept : (k,)
    """

    exact: bool
    """Whether the solution is on the exact kernel."""

    def __init__(self, client: Client, layout: Layout, intercept: NDArray[np.float64]) -> None:
        self.client = client
        self.layout = layout
        self.intercept = intercept

    @abstractmethod
    def _values(self, partitions: Sequence[Delayed]) -> list[Delayed]:
        """Decision values at the rows of every partition, (m, k) each."""

    @abstractmethod
    def gather(self) -> Gathered:
        """Gather the model on the driver."""

    def values(self, X: Any) -> Any:
        """Decision values of all columns at new rows, (m, k).

        For data on the cluster, the result is a lazy dask array, whose blocks are computed in
        parallel: each row on the worker that has its part of the model or, on the exact kernel, on
        all workers. For rows in the memory of the driver, it is a
        NumPy array.
        """
        partitions = as_partitions(self.client, X)
        sizes = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(partitions)
        k, dtype = self.intercept.size, self.layout.dtype
        blocks = [
            da.from_delayed(values, (size, k), dtype)
            for values, size in zip(self._values(partitions), sizes, strict=True)
        ]
        values = da.concatenate(blocks, allow_unknown_chunksizes=True)
        if is_remote(X):
            return values
        return value_of(self.client, self.client.compute(values))

    def measure(
        self, measure: Callable[[Floats, Partition], NDArray[np.float64]], *data: Any
    ) -> NDArray[np.float64]:
        """Sum of ``measure(values, partition)`` over the partitions of data with y."""
        partitions = as_partitions(self.client, *data)
        sums = [
            delayed(measure, pure=False)(values, partition)
            for values, partition in zip(self._values(partitions), partitions, strict=True)
        ]
        total: NDArray[np.float64] = np.sum(
            values_of(self.client, self.client.compute(sums)), axis=0
        )
        return total


class PartsModel(DistributedModel):
    """Computes decision values from the models of all parts.

    Parameters
    ----------
    client : distributed.Client
    layout : Layout
    trained : TrainedModels
    intercept : (k,)
    exact : bool
    """

    def __init__(
        self,
        client: Client,
        layout: Layout,
        trained: TrainedModels,
        intercept: NDArray[np.float64],
        *,
        exact: bool,
    ) -> None:
        super().__init__(client, layout, intercept)
        self.trained = trained
        self.exact = exact

    def _values(self, partitions: Sequence[Delayed]) -> list[Delayed]:
        layout = delayed(identity, pure=False, traverse=False)(self.layout)
        models, values = self.trained.models, []
        for partition in partitions:
            if self.exact:
                X = delayed(model_rows, pure=False)(partition, layout)
                parts = [delayed(part_values, pure=False)(model, X) for model in models]
                values.append(delayed(add_values, pure=False)(parts, self.intercept))
                continue
            groups = delayed(group_rows, pure=False)(partition, layout)
            parts = [
                delayed(part_values, pure=False)(model, groups[part])
                for part, model in enumerate(models)
            ]
            values.append(delayed(join_values, pure=False)(groups[-1], parts, self.intercept))
        return values

    def support(self) -> Delayed:
        """Indices of the support vectors, and the exact predictor."""
        return delayed(join_support, pure=False)(self.trained.models)

    def gather(self) -> Gathered:
        """Gather the model on the driver."""
        models = [require_model(model) for model in values_of(self.client, self.trained.models)]
        predictors = [
            model.predictor.compressed for model in models if model.predictor.compressed is not None
        ]
        support, exact = join_support(models)
        labels = [model.support_y for model in models if model.support_y is not None]
        order = np.argsort(support)
        return Gathered(
            self._join(predictors) if predictors else None,
            ExpansionPredictor(exact.kernel, exact.X[order], exact.Z[order]),
            support[order],
            np.concatenate(labels)[order] if labels else None,
        )

    def _join(self, parts: Sequence[LeafwisePredictor]) -> LeafwisePredictor:
        """Join the predictors of all parts into one, tree by tree."""
        splits, dtype = self.layout.splits, self.layout.dtype
        begins = np.cumsum([0, *(part.X.shape[0] for part in parts)])
        trees = []
        for own in zip(*(part.trees for part in parts), strict=True):
            tree = join_trees(
                splits.directions.astype(dtype),
                splits.thresholds.astype(dtype),
                [one.tree for one in own],
                splits.slots,
            )
            sizes = np.zeros((2**splits.depth, 2 ** own[0].tree.depth), np.int64)
            sizes[splits.slots] = [np.diff(one.ends) for one in own]
            trees.append(
                LeafExpansions(
                    tree,
                    np.concatenate(
                        [begin + one.rows for begin, one in zip(begins, own, strict=False)]
                    ),
                    np.concatenate([[0], np.cumsum(sizes)]),
                    np.concatenate([one.weights for one in own]),
                    own[0].intercept,
                )
            )
        return LeafwisePredictor(parts[0].kernel, stack_rows([part.X for part in parts]), trees)


def is_remote(X: Any) -> bool:
    """Whether the rows are not in the memory of the driver."""
    return isinstance(X, (str, list, tuple)) or hasattr(X, "dask") or hasattr(X, "__fspath__")


def model_rows(partition: Partition, layout: Layout) -> Rows:
    """Return the rows of a partition as the model needs them."""
    if partition.X.shape[1] != layout.n_features:
        raise ValueError(
            f"X has {partition.X.shape[1]} features, but the model was trained on "
            f"{layout.n_features}"
        )
    return layout.scaling(partition.X.astype(layout.dtype, copy=False))


def group_rows(partition: Partition, layout: Layout) -> list[Any]:
    """Return the rows of a partition by part, and, last, their positions in the partition."""
    X = model_rows(partition, layout)
    order, ends = sort_groups(layout.splits.route(X), layout.n_parts)
    return [*(X[order[a:b]] for a, b in pairwise(ends)), order]


def part_values(model: PartModel | None, X: Rows) -> Floats:
    """Decision values of the model of a part at rows of that part, or its contribution to them."""
    return require_model(model).predictor(X)


def add_values(parts: Sequence[Floats], intercept: NDArray[np.float64]) -> Floats:
    """Add the contributions of all parts to decision values, in a fixed order."""
    total = np.sum(parts, axis=0)
    values: Floats = total + intercept.astype(total.dtype)
    return values


def join_values(
    order: NDArray[np.int64], parts: Sequence[Floats], intercept: NDArray[np.float64]
) -> Floats:
    """Join the decision values of all parts, in the order of the partition."""
    grouped = np.concatenate(parts)
    values = np.empty_like(grouped)
    values[order] = grouped + intercept.astype(grouped.dtype)
    return values


def join_support(
    models: Sequence[PartModel | None],
) -> tuple[NDArray[np.int64], ExpansionPredictor]:
    """Join the support vectors of all parts: their global indices, and the exact predictor."""
    parts = [require_model(model) for model in models]
    predictor = ExpansionPredictor(
        parts[0].predictor.kernel,
        stack_rows([part.support_vectors for part in parts]),
        np.concatenate([part.dual_coef for part in parts]),
    )
    return np.concatenate([part.support_ids for part in parts]), predictor


def require_model(model: PartModel | None) -> PartModel:
    """Return `model`; raise RuntimeError if it is None."""
    if model is None:
        raise RuntimeError(
            "the workers that stored a part of the model were lost; fit again, and call to_local "
            "to keep a copy on the driver"
        )
    return model
