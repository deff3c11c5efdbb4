"""Distributed estimators on `dask.distributed`, for data that does not fit on one machine.

`SVC`, `SVCCV`, `SVR`, `OneClassSVM` and `svc_path` accept Dask arrays and dataframes, Parquet
files, or delayed partitions that the workers read. Reading order::

    partitions      conversion of all inputs to partitions of rows
    plan            first pass: summary of the rows (moments, sample), splits of the top levels
    shuffle         second pass: sends every row to its part
    compression     compresses every part on its worker, and the top levels (`hssvm.hss.parts`)
    train           the training of `hssvm.training` on the rows of every part
    communicator    communication between the parts, through the actor of `coordinator`
    supervisor      restarts from the last checkpoint (`checkpoints`) if a worker is lost
    fit             all stages of a fit, on the driver
    model           the parts of a model; decision values
    cells           forests of cells, whose workers need nothing from each other
    certify         the duality gap of a model on the exact kernel
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("hssvm.dask needs Dask: pip install 'hssvm[dask]'") from error

from hssvm.dask.one_class import OneClassSVM
from hssvm.dask.path import SVCPath, svc_path
from hssvm.dask.svc import SVC
from hssvm.dask.svc_cv import SVCCV
from hssvm.dask.svr import SVR

__all__ = ["SVC", "SVCCV", "SVR", "OneClassSVM", "SVCPath", "svc_path"]
