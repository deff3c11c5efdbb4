"""Nonlinear support vector machines at scale.

`SVC` is the classifier, `SVCCV` chooses its C and gamma, `svc_path` trains many C at once; `SVR` is
for regression, `OneClassSVM` for novelty; `load` reads a saved model. Below them, each on the ones
after it: `model_selection`, `estimators`; `persistence`; `solvers`, `problems` and `predict`;
`systems`; and the engine in `hss` and `kernels`: the kernel matrix of n points, compressed to O(n)
numbers and factored once. `dask` has the estimators for more than one machine, `io` reads data from
files, `plotting` draws what comes out, `cli` is the command line.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hssvm.estimators import SVC, SVR, OneClassSVM, svc_path
    from hssvm.model_selection import SVCCV
    from hssvm.persistence import load

__version__ = version("hssvm")
__all__ = ["SVC", "SVCCV", "SVR", "OneClassSVM", "__version__", "load", "svc_path"]

_PARTS = (
    "cli", "dask", "estimators", "hss", "io", "kernels", "model_selection", "persistence",
    "plotting", "predict", "problems", "solvers", "systems",
)  # fmt: skip
_HOMES = {
    "SVC": "estimators",
    "SVR": "estimators",
    "OneClassSVM": "estimators",
    "svc_path": "estimators",
    "SVCCV": "model_selection",
    "load": "persistence",
}


def __getattr__(name: str) -> Any:
    # Estimators need scikit-learn, which takes a second to import; the engine does not.
    if name in _HOMES:
        return getattr(import_module(f"hssvm.{_HOMES[name]}"), name)
    if name in _PARTS:
        return import_module(f"hssvm.{name}")
    if name == "_core":  # `from hssvm import _core` asks here first
        return import_module("hssvm._openmp").load_core()
    raise AttributeError(f"module 'hssvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PARTS]
