"""The predictions of a model as a graph of ONNX operators.

All numbers are computed in float64, because distances from inner products lose too many digits in
float32. A tree evaluates all its cuts at every row, follows them to the leaf of the row, and
gathers the points of the leaf; leaves are padded to the same number of points, with weights of 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.export.contents import Arrays
from hssvm.export.onnx_kernels import leaf_sums, sums_of_all, values_of_sums
from hssvm.export.onnx_operators import Graph
from hssvm.export.onnx_quantiles import normal_scores

MAX_BYTES = 2**31
"""Size that an ONNX file cannot exceed."""


def decision_values(graph: Graph, arrays: Arrays, X: str) -> str:
    """Add the decision values of all columns of a member, (m, k), and return their name.

    X and the values are in float64.
    """
    rows = X
    if "quantiles" in arrays:
        rows = normal_scores(graph, arrays["quantiles"], rows)
    rows = graph.op("Sub", rows, graph.constant(arrays["shift"]))
    rows = graph.op("Mul", rows, graph.constant(arrays["factor"]))
    points = _points(arrays)
    total = ""
    for index in range(int(arrays["n_trees"])):
        tree = [arrays[f"{name}_{index}"] for name in ("rows", "ends", "weights")]
        if str(arrays["kernel"]) == "polynomial":
            # onnxruntime would merge a factor next to MatMul into it, and round it to float32.
            tree[2] = tree[2] * (arrays["gamma"] ** arrays["degree"]).astype(tree[2].dtype)
        cuts = arrays[f"directions_{index}"], arrays[f"thresholds_{index}"]
        if cuts[1].size:
            constants, clip = arrays[f"constants_{index}"], arrays["clip"]
            values, leaf = _leafwise(graph, arrays, rows, points, tree, cuts)
            if constants.any() or np.isfinite(clip):
                own = graph.op("Gather", graph.double(constants), leaf, axis=0)
                values = graph.op("Min", graph.op("Add", values, own), graph.constant(clip))
                values = graph.op("Max", values, graph.constant(-clip))
        else:
            values = _expansion(graph, arrays, rows, points[tree[0]], tree[2])
        total = graph.op("Add", total, values) if total else values
    mean = graph.op("Div", total, graph.constant(np.float64(arrays["n_trees"])))
    return graph.op("Add", mean, graph.constant(arrays["intercept"]))


def mean(graph: Graph, values: list[str]) -> str:
    """Add the mean of the values of the members."""
    total = values[0]
    for one in values[1:]:
        total = graph.op("Add", total, one)
    return graph.op("Div", total, graph.constant(float(len(values)))) if values[1:] else total


def scores(graph: Graph, arrays: Arrays, values: str) -> str:
    """Add what `decision_function` returns: (m,), or (m, n_classes) for more than two classes."""
    if not _one_column(arrays):
        return values
    return graph.op("Squeeze", values, graph.constant([1]))


def by_class(graph: Graph, arrays: Arrays, values: str) -> str:
    """Add the decision values of a member by class, (m, n_classes), or (m, 1)."""
    if not arrays["one_vs_one"]:
        return values
    first, second = _pairs(arrays)
    sums = graph.op("MatMul", values, graph.constant(first - second))
    bound = graph.op("Add", graph.op("Abs", sums), graph.constant(1.0))
    confidence = graph.op("Div", sums, graph.op("Mul", bound, graph.constant(3.0)))
    return graph.op("Add", _votes(graph, arrays, values), confidence)


def class_index(graph: Graph, arrays: Arrays, values: list[str], mean: str) -> str:
    """Add the index of the predicted class, (m,), from the values of the members and their mean."""
    if _one_column(arrays):
        positive = graph.op("Greater", mean, graph.constant(0.0))
        return graph.op("Squeeze", graph.cast(positive, np.int64), graph.constant([1]))
    votes = arrays["one_vs_one"] and len(values) == 1
    chosen = _votes(graph, arrays, values[0]) if votes else mean
    return graph.op("ArgMax", chosen, axis=1, keepdims=0)


def probabilities(graph: Graph, arrays: Arrays, score: str) -> str:
    """Add the probabilities of all classes, (m, n_classes)."""
    two = _one_column(arrays)
    columns = graph.op("Unsqueeze", score, graph.constant([1])) if two else score
    method, one = str(arrays["calibration"]), graph.constant(1.0)
    if method == "temperature":
        if two:
            columns = graph.op("Concat", graph.op("Neg", columns), columns, axis=1)
        return graph.op(
            "Softmax", graph.op("Mul", columns, graph.constant(arrays["curve_0"])), axis=1
        )
    curves = [arrays[f"curve_{j}"] for j in range(1 if two else _k(arrays))]
    if method == "sigmoid":
        slope, intercept = np.transpose(curves)
        line = graph.op("Mul", columns, graph.constant(-slope))
        each = graph.op("Sigmoid", graph.op("Sub", line, graph.constant(intercept)))
    else:
        parts = [_interpolated(graph, columns, j, *curve) for j, curve in enumerate(curves)]
        each = graph.op("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    if two:
        return graph.op("Concat", graph.op("Sub", one, each), each, axis=1)
    total = graph.op("ReduceSum", each, graph.constant([1]), keepdims=1)
    uniform = graph.constant(np.full(_k(arrays), 1 / _k(arrays)))
    positive = graph.op("Greater", total, graph.constant(0.0))
    return graph.op("Where", positive, graph.op("Div", each, total), uniform)


def _one_column(arrays: Arrays) -> bool:
    if "classes" in arrays:
        return _k(arrays) == 2
    return int(arrays["n_outputs"]) == 1 and "quantile_ranks" not in arrays


def _k(arrays: Arrays) -> int:
    return int(arrays["classes"].size)


def _points(arrays: Arrays) -> NDArray[Any]:
    if "X" in arrays:
        X = arrays["X"]
    else:
        parts = arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]
        n_features = arrays["shift"].size
        rows = scipy.sparse.csr_array(parts, shape=(parts[2].size - 1, n_features))
        _require_size(rows.shape[0] * n_features * rows.dtype.itemsize)
        X = rows.toarray()
    _require_size(X.nbytes)
    return X


def _require_size(n_bytes: int) -> None:
    if n_bytes >= MAX_BYTES:
        raise ValueError(
            f"the dense support vectors take {n_bytes / 1e9:.1f} GB, and ONNX files at most 2; use "
            "save_numpy, or fewer support vectors"
        )


def _expansion(
    graph: Graph, arrays: Arrays, rows: str, points: NDArray[Any], weights: NDArray[Any]
) -> str:
    """``K(rows, points) @ weights`` with all points, (m, k)."""
    values = values_of_sums(graph, arrays, sums_of_all(graph, arrays, rows, points))
    return graph.op("MatMul", values, graph.double(weights))


def _leafwise(
    graph: Graph,
    arrays: Arrays,
    rows: str,
    points: NDArray[Any],
    tree: list[NDArray[Any]],
    cuts: tuple[NDArray[Any], NDArray[Any]],
) -> tuple[str, str]:
    """``K(row, points) @ weights`` with the points of each row's leaf, (m, k), and the leaf."""
    directions, thresholds = (np.asarray(part, np.float64) for part in cuts)
    projected = graph.op("MatMul", rows, graph.constant(directions.T))
    beyond = graph.cast(graph.op("Greater", projected, graph.constant(thresholds)), np.int64)
    node = graph.op("Gather", beyond, graph.constant([0]), axis=1)
    for level in range(1, (thresholds.size + 1).bit_length() - 1):
        cut = graph.op("Add", node, graph.constant(2**level - 1))
        side = graph.op("GatherElements", beyond, cut, axis=1)
        node = graph.op("Add", graph.op("Mul", node, graph.constant(2)), side)
    leaf = graph.op("Squeeze", node, graph.constant([1]))
    index, weights = _padded(*tree)
    own = graph.op("Gather", graph.constant(index), leaf, axis=0)
    leaf_points = graph.cast(graph.op("Gather", graph.constant(points), own, axis=0), np.float64)
    row = graph.op("Unsqueeze", rows, graph.constant([1]))
    sums = leaf_sums(graph, arrays, row, leaf_points)
    values = graph.op("Unsqueeze", values_of_sums(graph, arrays, sums), graph.constant([1]))
    own_weights = graph.op("Gather", graph.double(weights), leaf, axis=0)
    product = graph.op("MatMul", values, own_weights)
    return graph.op("Squeeze", product, graph.constant([1])), leaf


def _padded(
    rows: NDArray[Any], ends: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return indices (n_leaves, L) and weights (n_leaves, L, k) of leaves of the same size."""
    size = max(1, int(np.max(np.diff(ends))))
    index = np.zeros((ends.size - 1, size), np.int64)
    padded = np.zeros((ends.size - 1, size, weights.shape[1]), weights.dtype)
    for g, (begin, end) in enumerate(pairwise(ends)):
        index[g, : end - begin] = rows[begin:end]
        padded[g, : end - begin] = weights[begin:end]
    return index, padded


def _pairs(arrays: Arrays) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrices (n_pairs, n_classes) of the first and second class of each pair."""
    first, second = np.triu_indices(_k(arrays), 1)
    return np.eye(_k(arrays))[first], np.eye(_k(arrays))[second]


def _votes(graph: Graph, arrays: Arrays, values: str) -> str:
    first, second = _pairs(arrays)
    wins = graph.cast(graph.op("Greater", values, graph.constant(0.0)), np.float64)
    losses = graph.op("Sub", graph.constant(1.0), wins)
    won = graph.op("MatMul", wins, graph.constant(first))
    return graph.op("Add", won, graph.op("MatMul", losses, graph.constant(second)))


def _interpolated(
    graph: Graph, columns: str, j: int, x: NDArray[np.float64], y: NDArray[np.float64]
) -> str:
    """``np.interp(columns[:, j], x, y)``, (m, 1): the sum of the clipped steps."""
    value = graph.op("Gather", columns, graph.constant([j]), axis=1)
    if x.size == 1:
        return graph.op("Add", graph.op("Mul", value, graph.constant(0.0)), graph.constant(y))
    share = graph.op("Sub", value, graph.constant(x[:-1]))
    share = graph.op("Div", share, graph.constant(np.diff(x)))
    share = graph.op("Max", graph.op("Min", share, graph.constant(1.0)), graph.constant(0.0))
    steps = graph.op("MatMul", share, graph.constant(np.diff(y)[:, None]))
    return graph.op("Add", steps, graph.constant(y[:1]))
