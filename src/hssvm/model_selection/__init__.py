"""Selection of C and gamma by cross-validation, with one compression per gamma."""

from hssvm.model_selection.svc_cv import SVCCV

__all__ = ["SVCCV"]
