"""Kernel values as ONNX operators: sums over the features, and functions of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.export.contents import Arrays
from hssvm.export.onnx_operators import Graph

INNER_PRODUCT_KERNELS = ("linear", "polynomial")
"""Kernels of inner products; the others are functions of a distance."""


def sums_of_all(graph: Graph, arrays: Arrays, rows: str, points: NDArray[Any]) -> str:
    """Inner products, squared or absolute distances of the rows and all points, (m, n)."""
    kind = str(arrays["kernel"])
    if kind == "laplacian":
        return _absolute_distances(graph, rows, points)
    inner = graph.op("MatMul", rows, graph.op("Transpose", graph.double(points), perm=[1, 0]))
    if kind in INNER_PRODUCT_KERNELS:
        return inner
    each = np.asarray(points, np.float64)
    own = graph.op("ReduceSum", graph.op("Mul", rows, rows), graph.constant([1]), keepdims=1)
    both = graph.op("Add", own, graph.constant(np.einsum("ij,ij->i", each, each)))
    squares = graph.op("Sub", both, graph.op("Mul", inner, graph.constant(2.0)))
    return graph.op("Max", squares, graph.constant(0.0))


def leaf_sums(graph: Graph, arrays: Arrays, row: str, points: str) -> str:
    """The same of each row, (m, 1, p), and the points of its leaf, (m, L, p); (m, L)."""
    kind = str(arrays["kernel"])
    if kind in INNER_PRODUCT_KERNELS:
        terms = graph.op("Mul", points, row)
    else:
        apart = graph.op("Sub", points, row)
        terms = graph.op("Abs", apart) if kind == "laplacian" else graph.op("Mul", apart, apart)
    return graph.op("ReduceSum", terms, graph.constant([2]), keepdims=0)


def _absolute_distances(graph: Graph, rows: str, points: NDArray[Any]) -> str:
    """L1 distances, (m, n): a loop over the features, so that memory is that of the result."""
    from onnx import TensorProto, helper

    steps = [
        helper.make_node("Sub", ["own", "point"], ["apart"]),
        helper.make_node("Abs", ["apart"], ["term"]),
        helper.make_node("Add", ["sum", "term"], ["next"]),
    ]
    sums, own, point, total = (
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, None)
        for name in ("sum", "own", "point", "next")
    )
    body = helper.make_graph(steps, "absolute_difference", [sums, own, point], [total])
    columns = graph.op("Unsqueeze", graph.op("Transpose", rows, perm=[1, 0]), graph.constant([2]))
    features = graph.double(np.ascontiguousarray(points.T)[:, None])
    first = graph.op("Gather", rows, graph.constant([0]), axis=1)
    zeros = graph.op("Mul", first, graph.constant(np.zeros((1, points.shape[0]))))
    return graph.op("Scan", zeros, columns, features, body=body, num_scan_inputs=2)


def values_of_sums(graph: Graph, arrays: Arrays, sums: str) -> str:
    """Kernel values from inner products, or from squared or absolute distances."""
    kind = str(arrays["kernel"])
    if kind == "linear":
        return sums
    if kind == "polynomial":
        base = graph.op("Add", sums, graph.constant(arrays["coef0"] / arrays["gamma"]))
        return graph.op("Pow", base, graph.constant(np.float64(arrays["degree"])))
    if kind in ("gaussian", "laplacian"):
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
