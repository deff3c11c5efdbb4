"""The outputs of a model in ONNX, as skl2onnx asks for them.

skl2onnx calls the methods ``onnx_parser``, ``onnx_shape_calculator`` and ``onnx_converter`` of
estimators that it does not know, also inside pipelines. A classifier has the outputs ``label``,
``scores`` (what `decision_function` returns) and, if it has them, ``probabilities``; a regressor
has ``variable``; a novelty detector ``label`` and ``scores``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.export.contents import Contents, labels_of, quantile_ranks
from hssvm.export.onnx_graph import (
    by_class,
    class_index,
    decision_values,
    mean,
    probabilities,
    scores,
)
from hssvm.export.onnx_operators import Graph


def output_types(model: Any, input_type: Any) -> list[tuple[str, Any]]:
    """Return the names and types of the outputs of a fitted model."""
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        Int64TensorType,
        StringTensorType,
        guess_tensor_type,
    )

    floats = guess_tensor_type(input_type)
    if hasattr(model, "classes_"):
        kind = _onnx_labels(labels_of(model)).dtype.kind
        types = {"U": StringTensorType, "f": DoubleTensorType, "i": Int64TensorType}
        found = [("label", types[kind]()), ("scores", floats)]
        return found if model.calibration_ is None else [*found, ("probabilities", floats)]
    if hasattr(model, "offset_"):
        return [("label", Int64TensorType()), ("scores", floats)]
    return [("variable", floats)]


def set_shapes(model: Any, operator: Any) -> None:
    """Set the shapes of the outputs of an operator of skl2onnx."""
    n_rows = operator.inputs[0].get_first_dimension()
    names = [name for name, _ in output_types(model, operator.inputs[0].type)]
    for name, variable in zip(names, operator.outputs, strict=True):
        by_class = name == "probabilities" or (
            name == "scores" and hasattr(model, "classes_") and model.classes_.size > 2
        )
        variable.type.shape = [n_rows, model.classes_.size] if by_class else [n_rows]
        n_outputs = model._averaged[0].intercept_.size  # noqa: SLF001
        if name == "variable" and (n_outputs > 1 or quantile_ranks(model) is not None):
            variable.type.shape = [n_rows, n_outputs]


def convert(contents: Contents, scope: Any, operator: Any, container: Any) -> None:
    """Add the operators that compute the outputs."""
    from skl2onnx.common.data_types import DoubleTensorType

    graph, (X, *_) = Graph(scope, container), operator.inputs
    floats = np.float64 if isinstance(X.type, DoubleTensorType) else np.float32
    outputs = [variable.full_name for variable in operator.outputs]
    arrays, rows = contents.common, graph.cast(X.full_name, np.float64)
    values = [decision_values(graph, member, rows) for member in contents.members]
    outputs_by_class = mean(graph, [by_class(graph, arrays, one) for one in values])
    score = scores(graph, arrays, outputs_by_class)
    if "quantile_ranks" in arrays:
        score = sorted_quantiles(graph, score, arrays["quantile_ranks"])
    task = str(arrays["task"])
    graph.cast(score, floats, output=outputs[0 if task == "regression" else 1])
    if task == "novelty":
        typical = graph.op("GreaterOrEqual", score, graph.constant(0.0))
        signs = graph.constant(np.int64(1)), graph.constant(np.int64(-1))
        graph.op("Where", typical, *signs, output=outputs[0])
    if task == "classification":
        labels = graph.constant(_onnx_labels(arrays["classes"]))
        index = class_index(graph, arrays, values, outputs_by_class)
        graph.op("Gather", labels, index, axis=0, output=outputs[0])
    if len(outputs) == 3:
        graph.cast(probabilities(graph, arrays, score), floats, output=outputs[2])


def sorted_quantiles(graph: Graph, values: str, ranks: NDArray[np.int64]) -> str:
    """Sort the values of each row, and add those of the given ranks."""
    k = graph.constant(np.array([ranks.size], np.int64))
    ascending = graph.op("TopK", values, k, n_outputs=2, axis=1, largest=0)
    return graph.op("Gather", ascending, graph.constant(ranks), axis=1)


def _onnx_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Convert labels to int64 or float64, in which they are the same, or leave them strings."""
    if labels.dtype.kind == "U":
        return labels
    if labels.dtype.kind == "u" and labels.max() >= 2**63:
        raise ValueError(
            f"ONNX labels must be integers below 2**63, got {labels.max()}; convert the labels to "
            "strings before fitting"
        )
    return labels.astype(np.float64 if labels.dtype.kind == "f" else np.int64)
