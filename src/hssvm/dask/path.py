"""All values of C in one block of columns, on Dask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from hssvm.dask.columns import ClassColumns
from hssvm.dask.model import DistributedModel
from hssvm.dask.plan import Layout
from hssvm.dask.svc import SVC, class_weights
from hssvm.estimators.parameters import POSITIVES, check_parameter
from hssvm.estimators.path import SVCPath
from hssvm.estimators.report import FitReport
from hssvm.kernels.base import Floats


@dataclass(frozen=True, eq=False)
class DaskSVCPath:
    """Classifiers of two classes for many values of C, on a cluster; made by `svc_path`.

    Attributes
    ----------
    Cs : (k,) array
    classes : (2,) array
    intercept : (k,) array
    report : FitReport
    model : DistributedModel
    """

    Cs: NDArray[np.float64]
    classes: NDArray[Any]
    intercept: NDArray[np.float64]
    report: FitReport
    model: DistributedModel

    def decision_function(self, X: Any) -> Any:
        """Decision values for every C, (m, k); as `hssvm.dask.SVC.decision_function`."""
        return self.model.values(X)

    def predict(self, X: Any) -> Any:
        """Classes for every C, (m, k)."""
        values = self.decision_function(X)
        if isinstance(values, np.ndarray):
            return _classify(values, self.classes)
        return values.map_blocks(_classify, self.classes, dtype=self.classes.dtype)

    def to_local(self) -> SVCPath:
        """Bring the path to this process."""
        gathered, layout = self.model.gather(), self.model.layout
        coefficients: Floats = np.zeros((layout.n_rows, self.Cs.size), layout.dtype)
        coefficients[gathered.support] = gathered.dual_coef
        return SVCPath(
            self.Cs,
            self.classes,
            coefficients,
            self.intercept,
            self.report,
            gathered.predictor,
            layout.scaling,
        )


def _classify(values: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    return classes[(values > 0).astype(np.int64)]


class _PathSVC(SVC):
    """An SVC with several C."""

    Cs: NDArray[np.float64]

    def _columns(self, layout: Layout) -> ClassColumns:
        weights = class_weights(layout, self.class_weight)
        if weights.size > 2:
            raise ValueError(f"svc_path is for two classes, y has {weights.size}; use SVC")
        return ClassColumns(weights, self.Cs)


def svc_path(
    X: Any,
    y: Any = None,
    Cs: Sequence[float] | Floats = (),
    *,
    sample_weight: Any = None,
    client: Client | None = None,
    **parameters: Any,
) -> DaskSVCPath:
    """Train a classifier of two classes for every C, on one compression, on a Dask cluster.

    Parameters
    ----------
    X, y, sample_weight
        As in `hssvm.dask.SVC.fit`.
    Cs : sequence of float
    client : distributed.Client, optional
    **parameters
        Those of `hssvm.dask.SVC`, except C.

    Returns
    -------
    DaskSVCPath

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from hssvm.dask import svc_path
    >>> client = Client(processes=False, n_workers=2, dashboard_address=":0")
    >>> X = da.random.default_rng(0).standard_normal((4000, 2), chunks=(1000, 2))
    >>> path = svc_path(X, (X**2).sum(axis=1) < 1, Cs=[0.1, 1.0, 10.0], random_state=0)
    >>> path.predict(np.array([[0.0, 0.0], [3.0, 0.0]]))
    array([[ True,  True,  True],
           [False, False, False]])
    >>> client.close()
    """
    if "C" in parameters:
        raise TypeError("svc_path takes no C: see Cs")
    check_parameter("Cs", Cs, [POSITIVES])
    trained = _PathSVC(**parameters, client=client)
    trained.Cs = np.asarray(Cs, np.float64)
    trained.fit(X, y, sample_weight)
    return DaskSVCPath(
        trained.Cs, trained.classes_, trained.intercept_, trained.fit_report_, trained._model
    )
