"""Estimators with the scikit-learn API: they validate, call `hssvm.training`, and store.

`configured` translates the parameters for `hssvm.training`; `base` has the common base class, and
`classifier` the base class of `SVC` and `SVCCV`; `svr`, `quantile_svr` (with `quantile_outputs`),
`censored_svr`, `kernel_ridge` and `gaussian_process` are for regression, `one_class` for novelty
detection, `path` for many values of C at once. `parameters` checks values, `kernel` and `labels`
interpret them; `callbacks` and `notebook` show the progress of a fit; `saving` defines the contents
of a model file.
"""

from hssvm.estimators.censored_svr import CensoredSVR
from hssvm.estimators.gaussian_process import GaussianProcessRegressor
from hssvm.estimators.kernel_ridge import KernelRidge
from hssvm.estimators.one_class import OneClassSVM
from hssvm.estimators.path import SVCPath, svc_path
from hssvm.estimators.quantile_svr import QuantileSVR
from hssvm.estimators.svc import SVC
from hssvm.estimators.svr import SVR
from hssvm.training import FitReport

__all__ = [
    "SVC",
    "SVR",
    "CensoredSVR",
    "FitReport",
    "GaussianProcessRegressor",
    "KernelRidge",
    "OneClassSVM",
    "QuantileSVR",
    "SVCPath",
    "svc_path",
]
