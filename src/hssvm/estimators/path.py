"""Classifiers for many values of C, trained together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names, check_array

from hssvm._display import ShownAsText
from hssvm.estimators.inputs.containers import as_known
from hssvm.estimators.inputs.parameters import (
    CLASSIFIER_INSTEAD,
    POSITIVES,
    check_parameter,
    refuse_parameters,
)
from hssvm.estimators.inputs.points import predict_points
from hssvm.estimators.inputs.validation import floats_of, naming_columns
from hssvm.estimators.svc import SVC
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.indexed import IndexedKernel
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor
from hssvm.training import FitReport
from hssvm.training.data.scaling import Scaling

PATH_INSTEAD = CLASSIFIER_INSTEAD | {
    "C": "pass the values as Cs",
    "prediction": "use SVC for exact prediction",
    "out_of_fold": "use SVC for out-of-fold decision values",
    "probability": "use SVC for probabilities",
    "loss": "use SVC for each C",
    "warm_start": "a path has no earlier fit to start from",
}
"""Alternatives to parameters that `svc_path` does not have."""


@dataclass(frozen=True, eq=False, repr=False)
class SVCPath(ShownAsText):
    """Binary classifiers for several values of C, as returned by `svc_path`.

    Attributes
    ----------
    Cs : (k,) array
    classes_ : (2,) array
    support_ : (n_support,) array
        Indices of the support vectors, for all values of C together.
    support_vectors_ : (n_support, p) array or CSR matrix
    dual_coef_ : (k, n_support) array
        Signed coefficients, one row per C.
    intercept_ : (k,) array
    fit_report_ : FitReport
        With the gap, objective and iterations of every C.
    feature_names_in_ : (p,) array of str or None
        Names of the columns, if the rows were a frame.
    """

    Cs: NDArray[np.float64]
    classes_: NDArray[Any]
    support_: NDArray[np.int64]
    support_vectors_: Rows
    dual_coef_: Floats
    intercept_: NDArray[np.float64]
    fit_report_: FitReport
    predictor: LeafwisePredictor | ExpansionPredictor
    scaling: Scaling
    feature_names_in_: NDArray[Any] | None

    def __str__(self) -> str:
        """The report, and a line for every C."""
        report = self.fit_report_
        support = np.count_nonzero(self.dual_coef_, axis=1)
        lines = [
            f"{C:>12.4g}{n_support:>17,}{gap:>14.2g}  {status}"
            for C, n_support, gap, status in zip(
                self.Cs, support, report.gap, report.status, strict=True
            )
        ]
        head = f"{'C':>12}{'support vectors':>17}{'relative gap':>14}  status"
        return "\n".join([report.summary(), head, *lines])

    def decision_function(self, X: Any) -> Floats:
        """Decision values for every C, (m, k)."""
        kernel = self.predictor.kernel
        if isinstance(kernel, IndexedKernel):
            values = predict_points(self.predictor, kernel, X)
        else:
            X = as_known(X)
            _check_feature_names(self, X, reset=False)
            with naming_columns(X):
                X = check_array(X, accept_sparse="csr", dtype=floats_of(X), order="C")
            X = self.scaling(X)
            kernel.check_rows(X)
            values = self.predictor(X)
        return values + self.intercept_.astype(values.dtype)

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes for every C, (m, k)."""
        return self.classes_[(self.decision_function(X) > 0).astype(np.int64)]


class PathSVC(SVC):
    """An `SVC` that trains a path."""

    def fit_path(
        self, X: Any, y: Any, Cs: NDArray[np.float64], sample_weight: Any = None
    ) -> SVCPath:
        """Train a classifier for every C."""
        with self._fitting(X, y, sample_weight) as monitor:
            data = self._check_fit(X, y, sample_weight)
            if self.classes_.size > 2:
                raise ValueError(
                    f"svc_path needs two classes, but y has {self.classes_.size}; use SVC or SVCCV"
                )
            self._train(self._task(data.y, data.weight, Cs, "ovr"), data, monitor)
        return SVCPath(
            Cs,
            self.classes_,
            self.support_,
            self.support_vectors_,
            self.dual_coef_,
            self.intercept_,
            self.fit_report_,
            self._require_exact("svc_path") if self._compressed is None else self._compressed,
            self._scaling,
            getattr(self, "feature_names_in_", None),
        )


def svc_path(
    X: Any, y: Any, Cs: Sequence[float] | Floats, *, sample_weight: Any = None, **parameters: Any
) -> SVCPath:
    """Train a binary classifier for every C, with the same kernel values.

    All values of C are columns of the same problem, so that ten of them cost a small multiple of
    one `SVC.fit`. With more than 2,000 rows, the path is an approximation, unless ``refine=True``.

    Parameters
    ----------
    X : (n, p) array-like or CSR matrix
    y : (n,) array-like
        Labels of two classes.
    Cs : sequence of float
    sample_weight : (n,) array-like, optional
    **parameters
        Parameters of `SVC`, except C, prediction, probability, out_of_fold and warm_start; refine
        is False by default.

    Returns
    -------
    SVCPath

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import svc_path
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> path = svc_path(X, y, Cs=[0.1, 1.0, 10.0], random_state=0)
    >>> path.predict(np.array([[0.0, 0.0], [3.0, 0.0]]))
    array([[ True,  True,  True],
           [False, False, False]])
    """
    refuse_parameters("svc_path", parameters, PATH_INSTEAD)
    check_parameter("Cs", Cs, [POSITIVES])
    model = PathSVC(**{"refine": False, **parameters})
    return model.fit_path(X, y, np.asarray(Cs, dtype=np.float64), sample_weight)
