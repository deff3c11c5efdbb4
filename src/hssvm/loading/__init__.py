"""Loading of models: estimators from the files that `hssvm.persistence` reads.

`model` has `load`, and `saving` has `save`, which also knows pipelines with the encoder of a table;
`libsvm` has `load_libsvm`, for files of LIBSVM; `parts` has the columns that a loaded model reads
and writes.
"""

from hssvm.loading.libsvm import load_libsvm
from hssvm.loading.model import load
from hssvm.loading.saving import save

__all__ = ["load", "load_libsvm", "save"]
