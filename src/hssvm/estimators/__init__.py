"""scikit-learn estimators on the engine.

`base` holds what all of them share: the kernel, the compression, the solver; `report` what a fit
says about itself; `callbacks` its progress; `certificate` its gap on the true kernel; `forecast`
what it would take; `scaling` its features; `saving` what a model file keeps of it; `svc` the
classifier; `path` all values of C at once; `svr` regression; `one_class` novelty.
"""

from hssvm.estimators.one_class import OneClassSVM
from hssvm.estimators.path import SVCPath, svc_path
from hssvm.estimators.report import FitReport
from hssvm.estimators.svc import SVC
from hssvm.estimators.svr import SVR

__all__ = ["SVC", "SVR", "FitReport", "OneClassSVM", "SVCPath", "svc_path"]
