"""Models that leave hssvm: a file that predicts with NumPy alone, and ONNX.

`contents` collects the arrays of a model, for both. `numpy_file` writes them behind a copy of
`standalone`; `onnx_graph` makes a graph of `onnx_operators` for skl2onnx, with the kernels of
`onnx_kernels` and the normal scores of `onnx_quantiles`. The methods of the estimators are in
``hssvm.estimators.models.export``.
"""

from hssvm.export.contents import Contents, contents_of
from hssvm.export.numpy_file import write_numpy

__all__ = ["Contents", "contents_of", "write_numpy"]
