"""scikit-learn estimators on the engine.

`base` holds what all of them share: the kernel, the compression, the solver; `report` what a fit
says about itself; `callbacks` its progress; `saving` what a model file keeps of it; `svc` the
classifier; `path` all values of C at once.
"""

from hssvm.estimators.path import SVCPath, svc_path
from hssvm.estimators.report import FitReport
from hssvm.estimators.svc import SVC

__all__ = ["SVC", "FitReport", "SVCPath", "svc_path"]
