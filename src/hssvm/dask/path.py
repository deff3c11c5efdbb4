"""Classifiers for many values of C, trained together on Dask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

import hssvm.estimators
from hssvm.dask.base import DASK_INSTEAD
from hssvm.dask.model import DistributedModel
from hssvm.dask.plan import Layout
from hssvm.dask.svc import SVC
from hssvm.estimators.inputs.parameters import (
    CLASSIFIER_INSTEAD,
    POSITIVES,
    check_parameter,
    refuse_parameters,
)
from hssvm.kernels.base import Floats
from hssvm.training import Classification, FitReport


@dataclass(frozen=True, eq=False)
class SVCPath:
    """Binary classifiers for several values of C on a cluster, as returned by `svc_path`.

    Attributes
    ----------
    Cs : (k,) array
    classes_ : (2,) array
    intercept_ : (k,) array
    fit_report_ : FitReport
    model : DistributedModel
    feature_names_in_ : (p,) array of str or None
        Names of the columns, if the rows were a frame.
    """

    Cs: NDArray[np.float64]
    classes_: NDArray[Any]
    intercept_: NDArray[np.float64]
    fit_report_: FitReport
    model: DistributedModel
    feature_names_in_: NDArray[Any] | None

    def decision_function(self, X: Any) -> Any:
        """Decision values for every C, (m, k); as `hssvm.dask.SVC.decision_function`."""
        return self.model.values(X)

    def predict(self, X: Any) -> Any:
        """Classes for every C, (m, k)."""
        values = self.decision_function(X)
        if isinstance(values, np.ndarray):
            return _classify(values, self.classes_)
        return values.map_blocks(_classify, self.classes_, dtype=self.classes_.dtype)

    def to_local(self) -> hssvm.estimators.SVCPath:
        """Gather the path in this process."""
        gathered = self.model.gather()
        return hssvm.estimators.SVCPath(
            self.Cs,
            self.classes_,
            gathered.support,
            gathered.exact.X,
            np.ascontiguousarray(gathered.exact.Z.T),
            self.intercept_,
            self.fit_report_,
            gathered.compressed or gathered.exact,
            self.model.layout.scaling,
            self.feature_names_in_,
        )


def _classify(values: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    return classes[(values > 0).astype(np.int64)]


class PathSVC(SVC):
    """An `SVC` that trains a path."""

    def fit_path(self, X: Any, y: Any, Cs: NDArray[np.float64], sample_weight: Any) -> SVCPath:
        """Train a classifier for every C."""
        self._fit_columns(X, y, sample_weight, Cs, self.gamma)
        names = getattr(self, "feature_names_in_", None)
        return SVCPath(Cs, self.classes_, self.intercept_, self.fit_report_, self._model, names)

    def _classification(self, layout: Layout, Cs: NDArray[np.float64]) -> Classification:
        if layout.classes is not None and layout.classes.labels.size > 2:
            n_classes = layout.classes.labels.size
            raise ValueError(f"svc_path needs two classes, but y has {n_classes}; use SVC")
        return super()._classification(layout, Cs)


def svc_path(
    X: Any,
    y: Any = None,
    Cs: Sequence[float] | Floats = (),
    *,
    sample_weight: Any = None,
    client: Client | None = None,
    **parameters: Any,
) -> SVCPath:
    """Train a binary classifier for every C, with one compression, on a Dask cluster.

    Parameters
    ----------
    X, y, sample_weight
        As in `hssvm.dask.SVC.fit`.
    Cs : sequence of float
    client : distributed.Client, optional
    **parameters
        Parameters of `hssvm.dask.SVC`, except C; refine is False by default.

    Returns
    -------
    SVCPath

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
    instead = CLASSIFIER_INSTEAD | DASK_INSTEAD | {"C": "pass the values as Cs"}
    refuse_parameters("svc_path", parameters, instead)
    check_parameter("Cs", Cs, [POSITIVES])
    model = PathSVC(**{"refine": False, **parameters}, client=client)
    return model.fit_path(X, y, np.asarray(Cs, np.float64), sample_weight)
