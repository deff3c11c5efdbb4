"""Export of fitted estimators: to NumPy, and to ONNX through skl2onnx.

The functions are methods of `KernelModel`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from hssvm.export import Contents, contents_of, write_numpy
from hssvm.export.onnx_outputs import convert, output_types, set_shapes

if TYPE_CHECKING:
    from hssvm.estimators.models.model import KernelModel


def save_numpy(self: KernelModel, path: str | os.PathLike[str]) -> None:
    """Write the fitted model as a Python file that needs NumPy, but not hssvm.

    The file has the functions ``predict``, ``decision_function`` (for regression, the same) and
    ``predict_proba`` (if the model has probabilities). They accept dense rows and compute in
    float64. Predictions are the same up to rounding, but slower. Import such files only from
    people you trust, as with all Python code.

    Parameters
    ----------
    path : str or path
        Use a valid module name, such as ``rings.py``.

    Raises
    ------
    ValueError
        If the kernel is not radial, polynomial or linear.

    Examples
    --------
    >>> import os, runpy, tempfile
    >>> import numpy as np
    >>> import hssvm
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.where(np.hypot(*X.T) < 1, "in", "out")
    >>> path = os.path.join(tempfile.mkdtemp(), "rings.py")
    >>> hssvm.SVC(C=10, random_state=0).fit(X, y).save_numpy(path)
    >>> runpy.run_path(path)["predict"]([[0.1, 0.2], [2.0, 1.0]])
    array(['in', 'out'], dtype='<U3')
    """
    check_is_fitted(self)
    write_numpy(_contents(self), type(self).__name__, path)


def onnx_parser(self: KernelModel) -> Callable[..., list[Any]]:
    """For skl2onnx: return a function that declares the outputs."""
    return lambda scope, inputs: [
        scope.declare_local_variable(*output) for output in output_types(self, inputs[0].type)
    ]


def onnx_shape_calculator(self: KernelModel) -> Callable[[Any], None]:
    """For skl2onnx: return a function that sets the shapes of the outputs."""
    return lambda operator: set_shapes(self, operator)


def onnx_converter(self: KernelModel) -> Callable[[Any, Any, Any], None]:
    """For skl2onnx: return a function that adds the operators of the model to a graph."""
    contents = _contents(self)
    return lambda scope, operator, container: convert(contents, scope, operator, container)


def _contents(model: KernelModel) -> Contents:
    return contents_of(model, [(one, one._predictor()) for one in model._averaged])  # noqa: SLF001
