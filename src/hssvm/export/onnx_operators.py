"""A graph of ONNX operators that grows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Graph:
    """Adds operators to a `container` of skl2onnx, under names that are new in its `scope`."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def op(
        self,
        kind: str,
        *inputs: str,
        output: str | None = None,
        n_outputs: int = 1,
        **attributes: Any,
    ) -> str:
        """Add an operator, and return the name of its (first) output."""
        output = output or self._scope.get_unique_variable_name("hssvm")
        others = [self._scope.get_unique_variable_name("hssvm") for _ in range(1, n_outputs)]
        name = self._scope.get_unique_operator_name(kind)
        self._container.add_node(kind, list(inputs), [output, *others], name=name, **attributes)
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

    def double(self, values: NDArray[Any]) -> str:
        """Add an array in float64, stored in its own precision."""
        name = self.constant(values)
        return name if values.dtype == np.float64 else self.cast(name, np.float64)
