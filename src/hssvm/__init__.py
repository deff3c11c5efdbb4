"""Nonlinear support vector machines at scale.

`SVC` is the classifier, `svc_path` trains many values of C at once; `SVR`, `QuantileSVR`,
`CensoredSVR`, `KernelRidge` and `GaussianProcessRegressor` are for regression, `OneClassSVM` for
novelty detection; `SVCCV`, `SVRCV` and `QuantileSVRCV` also choose the parameters; `Cells` and
`HSS` are their approximations for many rows; `save` and `load` are for model files, `load_libsvm`
for those of LIBSVM; `patch_sklearn` makes scripts that use `sklearn.svm` train with hssvm.

The packages, each built on the next ones: `arrow` (predictions of record batches); `loading`;
`model_selection`, `dask` (estimators for more than one machine), `dropin` (the classes of
`sklearn.svm`) and `tables` (the encoder of data frames); `estimators`; `export` (to NumPy and ONNX)
and `io` (data files); `persistence` (model files); `training`, the pipeline of all estimators;
`solvers` and `predictors`; `problems` and `operators`; and the engine in `hss` and `kernels`, which
compresses the kernel matrix of n points to O(n) numbers and factors it. `plotting` draws the
results, `cli` is the command line.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hssvm.dropin import patch_sklearn, unpatch_sklearn
    from hssvm.estimators import (
        SVC,
        SVR,
        CensoredSVR,
        GaussianProcessRegressor,
        KernelRidge,
        OneClassSVM,
        QuantileSVR,
        svc_path,
    )
    from hssvm.loading import load, load_libsvm, save
    from hssvm.model_selection import SVCCV, SVRCV, QuantileSVRCV
    from hssvm.training import HSS, Cells

__version__ = version("hssvm")
__all__ = [
    "HSS", "SVC", "SVCCV", "SVR", "SVRCV", "Cells", "CensoredSVR", "GaussianProcessRegressor",
    "KernelRidge", "OneClassSVM",
    "QuantileSVR", "QuantileSVRCV", "__version__", "load", "load_libsvm", "patch_sklearn", "save",
    "svc_path", "unpatch_sklearn",
]  # fmt: skip

_PACKAGES = (
    "arrow", "cli", "dask", "dropin", "estimators", "export", "hss", "io", "kernels", "loading",
    "model_selection", "persistence", "operators", "plotting", "predictors", "problems", "solvers",
    "tables", "training",
)  # fmt: skip
_MODULES = {
    "Cells": "training",
    "HSS": "training",
    "SVC": "estimators",
    "SVR": "estimators",
    "CensoredSVR": "estimators",
    "GaussianProcessRegressor": "estimators",
    "KernelRidge": "estimators",
    "OneClassSVM": "estimators",
    "QuantileSVR": "estimators",
    "svc_path": "estimators",
    "SVCCV": "model_selection",
    "SVRCV": "model_selection",
    "QuantileSVRCV": "model_selection",
    "load": "loading",
    "load_libsvm": "loading",
    "save": "loading",
    "patch_sklearn": "dropin",
    "unpatch_sklearn": "dropin",
}


def __getattr__(name: str) -> Any:
    # Estimators need scikit-learn, which takes a second to import; the engine does not.
    if name in _MODULES:
        return getattr(import_module(f"hssvm.{_MODULES[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"hssvm.{name}")
    if name == "_core":  # `from hssvm import _core` calls this first
        return import_module("hssvm._openmp").load_core()
    raise AttributeError(f"module 'hssvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES]
