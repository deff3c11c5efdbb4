"""Selection of kernel, scaling, C and gamma by cross-validation."""

from hssvm.model_selection.quantile_svr_cv import QuantileSVRCV
from hssvm.model_selection.svc_cv import SVCCV
from hssvm.model_selection.svr_cv import SVRCV

__all__ = ["SVCCV", "SVRCV", "QuantileSVRCV"]
