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

MAX_BYTES = 2**31
"""Size that an ONNX file cannot exceed."""

INNER_PRODUCT_KERNELS = ("linear", "polynomial")
"""Kernels of inner products; the others are functions of the distance."""


class Graph:
    """Adds operators to a `container` of skl2onnx, under names that are new in its `scope`."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        output = output or self._scope.get_unique_variable_name("hssvm")
        name = self._scope.get_unique_operator_name(kind)
        self._container.add_node(kind, list(inputs), output, name=name, **attributes)
        return output

    def constant(self, values: Any) -> str:
        """Add an array, and return its name."""
        from onnx import numpy_helper

        array = np.asarray(values)
        array = array.astype(object) if array.dtype.kind == "U" else np.ascontiguousarray(array)
        name = self._scope.get_unique_variable_name("hssvm")
        self._container.initializers.append(numpy_helper.from_array(array, name))
        return name

    def cast(self, name: str, dtype: Any, output: str | None = None) -> str:
        """Convert to a type of NumPy."""
        from onnx import helper

        to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.op("Cast", name, to=to, output=output)


def decision_values(graph: Graph, arrays: Arrays, X: str) -> str:
    """Add the decision values of all columns, (m, k) in float64, and return their name."""
    rows = graph.cast(X, np.float64)
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
                own = graph.op("Gather", _double(graph, constants), leaf, axis=0)
                values = graph.op("Min", graph.op("Add", values, own), graph.constant(clip))
                values = graph.op("Max", values, graph.constant(-clip))
        else:
            values = _expansion(graph, arrays, rows, points[tree[0]], tree[2])
        total = graph.op("Add", total, values) if total else values
    mean = graph.op("Div", total, graph.constant(np.float64(arrays["n_trees"])))
    return graph.op("Add", mean, graph.constant(arrays["intercept"]))


def scores(graph: Graph, arrays: Arrays, values: str) -> str:
    """Add what `decision_function` returns: (m,), or (m, n_classes) for more than two classes."""
    if arrays["intercept"].size == 1:
        return graph.op("Squeeze", values, graph.constant([1]))
    if not arrays["one_vs_one"]:
        return values
    first, second = _pairs(arrays)
    sums = graph.op("MatMul", values, graph.constant(first - second))
    bound = graph.op("Add", graph.op("Abs", sums), graph.constant(1.0))
    confidence = graph.op("Div", sums, graph.op("Mul", bound, graph.constant(3.0)))
    return graph.op("Add", _votes(graph, arrays, values), confidence)


def class_index(graph: Graph, arrays: Arrays, values: str) -> str:
    """Add the index of the predicted class, (m,)."""
    if arrays["intercept"].size == 1:
        positive = graph.op("Greater", values, graph.constant(0.0))
        return graph.op("Squeeze", graph.cast(positive, np.int64), graph.constant([1]))
    chosen = _votes(graph, arrays, values) if arrays["one_vs_one"] else values
    return graph.op("ArgMax", chosen, axis=1, keepdims=0)


def probabilities(graph: Graph, arrays: Arrays, score: str) -> str:
    """Add the probabilities of all classes, (m, n_classes)."""
    two = arrays["intercept"].size == 1
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


def _k(arrays: Arrays) -> int:
    return int(arrays["classes"].size)


def _points(arrays: Arrays) -> NDArray[Any]:
    n_features = int(arrays["n_features"])
    if "X" in arrays:
        X = arrays["X"]
    else:
        parts = arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]
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
    each = np.asarray(points, np.float64)
    inner = graph.op("MatMul", rows, graph.op("Transpose", _double(graph, points), perm=[1, 0]))
    sums = inner
    if str(arrays["kernel"]) not in INNER_PRODUCT_KERNELS:
        own = graph.op("ReduceSum", graph.op("Mul", rows, rows), graph.constant([1]), keepdims=1)
        both = graph.op("Add", own, graph.constant(np.einsum("ij,ij->i", each, each)))
        squares = graph.op("Sub", both, graph.op("Mul", inner, graph.constant(2.0)))
        sums = graph.op("Max", squares, graph.constant(0.0))
    return graph.op("MatMul", _kernel(graph, arrays, sums), _double(graph, weights))


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
    axis = graph.constant([2])
    if str(arrays["kernel"]) in INNER_PRODUCT_KERNELS:
        factors = leaf_points, row
    else:
        apart = graph.op("Sub", leaf_points, row)
        factors = apart, apart
    sums = graph.op("ReduceSum", graph.op("Mul", *factors), axis, keepdims=0)
    values = graph.op("Unsqueeze", _kernel(graph, arrays, sums), graph.constant([1]))
    own_weights = graph.op("Gather", _double(graph, weights), leaf, axis=0)
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


def _kernel(graph: Graph, arrays: Arrays, sums: str) -> str:
    """Kernel values from inner products, or from squared distances."""
    kind = str(arrays["kernel"])
    if kind == "linear":
        return sums
    if kind == "polynomial":
        base = graph.op("Add", sums, graph.constant(arrays["coef0"] / arrays["gamma"]))
        return graph.op("Pow", base, graph.constant(np.float64(arrays["degree"])))
    if kind == "gaussian":
        return graph.op("Exp", graph.op("Mul", sums, graph.constant(-arrays["gamma"])))
    factor = {"exponential": 1.0, "matern32": 3.0**0.5, "matern52": 5.0**0.5}[kind]
    a = graph.op("Mul", graph.op("Sqrt", sums), graph.constant(factor * arrays["gamma"]))
    decay = graph.op("Exp", graph.op("Neg", a))
    if kind == "exponential":
        return decay
    polynomial = graph.op("Add", a, graph.constant(1.0))
    if kind == "matern52":
        square = graph.op("Div", graph.op("Mul", a, a), graph.constant(3.0))
        polynomial = graph.op("Add", polynomial, square)
    return graph.op("Mul", polynomial, decay)


def _double(graph: Graph, values: NDArray[Any]) -> str:
    """A constant in float64, stored in its own precision."""
    name = graph.constant(values)
    return name if values.dtype == np.float64 else graph.cast(name, np.float64)


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
