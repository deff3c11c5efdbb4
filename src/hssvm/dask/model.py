"""A model in parts, each on its worker."""

from __future__ import annotations

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

from hssvm.dask.pieces import Piece, as_pieces, itself
from hssvm.dask.plan import Layout
from hssvm.dask.runs import TrainedModels
from hssvm.dask.train import PartModel
from hssvm.dask.waiting import value_of, values_of
from hssvm.hss.parts import join_trees
from hssvm.kernels.base import Floats, Rows, sort_groups, stack_rows
from hssvm.predict import LeafwisePredictor


@dataclass(frozen=True, eq=False)
class Gathered:
    """A model in one place.

    Attributes
    ----------
    predictor : LeafwisePredictor
    support : (m,) int64
        Global numbers of the rows with a coefficient, ascending.
    support_y : (m,) or None
    support_vectors : (m, p) array or CSR matrix
    dual_coef : (m, k)
    """

    predictor: LeafwisePredictor
    support: NDArray[np.int64]
    support_y: NDArray[Any] | None
    support_vectors: Rows
    dual_coef: Floats


class DistributedModel:
    """Decision values from models of all parts.

    Parameters
    ----------
    client : distributed.Client
    layout : Layout
    trained : TrainedModels
    intercept : (k,)
    """

    def __init__(
        self,
        client: Client,
        layout: Layout,
        trained: TrainedModels,
        intercept: NDArray[np.float64],
    ) -> None:
        self.client = client
        self.layout = layout
        self.trained = trained
        self.intercept = intercept

    def values(self, X: Any) -> Any:
        """Decision values of all columns at new rows, (m, k).

        A dask array for anything that Dask holds: nothing is computed yet, and blocks of rows are
        computed in parallel, each row on the worker that has its part of the model. A NumPy array
        for rows in the memory of the driver.
        """
        pieces = as_pieces(self.client, X)
        sizes = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(pieces)
        k, dtype = self.intercept.size, self.layout.dtype
        blocks = [
            da.from_delayed(values, (size, k), dtype)
            for values, size in zip(self._values(pieces), sizes, strict=True)
        ]
        values = da.concatenate(blocks, allow_unknown_chunksizes=True)
        if is_remote(X):
            return values
        return value_of(self.client, self.client.compute(values))

    def _values(self, pieces: Sequence[Delayed]) -> list[Delayed]:
        """Values at the rows of every piece, (m, k)."""
        layout = delayed(itself, pure=False, traverse=False)(self.layout)
        values = []
        for piece in pieces:
            groups = delayed(group_rows, pure=False)(piece, layout)
            parts = [
                delayed(part_values, pure=False)(model, groups[part])
                for part, model in enumerate(self.trained.models)
            ]
            values.append(delayed(join_values, pure=False)(groups[-1], parts, self.intercept))
        return values

    def measure(
        self, measure: Callable[[Floats, Piece], NDArray[np.float64]], *data: Any
    ) -> NDArray[np.float64]:
        """Sum of ``measure(values, piece)`` over the pieces of data with y."""
        pieces = as_pieces(self.client, *data)
        sums = [
            delayed(measure, pure=False)(values, piece)
            for values, piece in zip(self._values(pieces), pieces, strict=True)
        ]
        total: NDArray[np.float64] = np.sum(
            values_of(self.client, self.client.compute(sums)), axis=0
        )
        return total

    def gather(self) -> Gathered:
        """Bring the model to the driver."""
        models = [require_model(model) for model in values_of(self.client, self.trained.models)]
        parts = [model.predictor for model in models]
        cuts, dtype = self.layout.cuts, self.layout.dtype
        tree = join_trees(
            cuts.directions.astype(dtype),
            cuts.thresholds.astype(dtype),
            [part.tree for part in parts],
            cuts.slots,
        )
        sizes = np.zeros((2**cuts.depth, 2 ** parts[0].tree.depth), np.int64)
        sizes[cuts.slots] = [np.diff(part.ends) for part in parts]
        predictor = LeafwisePredictor.restore(
            parts[0].kernel,
            stack_rows([part.X for part in parts]),
            np.concatenate([part.weights for part in parts]),
            np.concatenate([[0], np.cumsum(sizes)]),
            tree,
        )
        support = np.concatenate([model.support for model in models])
        order = np.argsort(support)
        labels = [model.support_y for model in models if model.support_y is not None]
        return Gathered(
            predictor,
            support[order],
            np.concatenate(labels)[order] if labels else None,
            stack_rows([model.support_vectors for model in models])[order],
            np.concatenate([model.dual_coef for model in models])[order],
        )


def is_remote(X: Any) -> bool:
    """Whether rows are somewhere else than in the memory of the driver."""
    return isinstance(X, (str, list, tuple)) or hasattr(X, "dask") or hasattr(X, "__fspath__")


def group_rows(piece: Piece, layout: Layout) -> list[Any]:
    """Rows of a piece by part, and at the end where they came from."""
    if piece.X.shape[1] != layout.n_features:
        raise ValueError(
            f"X has {piece.X.shape[1]} features, the model was trained on {layout.n_features}"
        )
    X = layout.scaling(piece.X.astype(layout.dtype, copy=False))
    order, ends = sort_groups(layout.cuts.route(X), layout.n_parts)
    return [*(X[order[a:b]] for a, b in pairwise(ends)), order]


def part_values(model: PartModel | None, X: Rows) -> Floats:
    """Values of a part's model at rows that lie in it."""
    return require_model(model).predictor(X)


def join_values(
    order: NDArray[np.int64], parts: Sequence[Floats], intercept: NDArray[np.float64]
) -> Floats:
    """Values in the order of the piece."""
    grouped = np.concatenate(parts)
    values = np.empty_like(grouped)
    values[order] = grouped + intercept.astype(grouped.dtype)
    return values


def require_model(model: PartModel | None) -> PartModel:
    """Return `model` if it is one."""
    if model is None:
        raise RuntimeError(
            "the workers that held a part of the model were lost; fit again, and keep a copy on "
            "the driver with to_local"
        )
    return model
