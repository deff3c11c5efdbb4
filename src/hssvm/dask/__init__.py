"""The same estimators on data that no single machine holds, on `dask.distributed`.

`SVC`, `SVR`, `OneClassSVM` and `svc_path` take Dask arrays and dataframes, Parquet files, or pieces
that the workers read. Reading order::

    pieces      every kind of input as pieces of rows
    plan        first pass: description (moments, sample) of the rows; cuts of the top of the tree
    shuffle     second pass: every row to the part that it belongs to
    build       every part compressed on its worker, and the top (`hssvm.hss.parts`)
    train       the ordinary solver on the rows of every part
    meeting     where the parts meet: sums, and the top of the tree
    runs        a worker lost: once more, from the coefficients on a shelf
    fit         all of it, as the driver sees it
    model       the parts of a model; decision values
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("hssvm.dask needs Dask: pip install 'hssvm[dask]'") from error

from hssvm.dask.one_class import OneClassSVM
from hssvm.dask.path import DaskSVCPath, svc_path
from hssvm.dask.svc import SVC
from hssvm.dask.svr import SVR

__all__ = ["SVC", "SVR", "DaskSVCPath", "OneClassSVM", "svc_path"]
