"""Loading of models: estimators from the files that `hssvm.persistence` reads.

`model` has `load`, for files written by the `save` method of an estimator; `libsvm` has
`load_libsvm`, for files of LIBSVM.
"""

from hssvm.loading.libsvm import load_libsvm
from hssvm.loading.model import load

__all__ = ["load", "load_libsvm"]
