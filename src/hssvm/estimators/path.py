"""All values of C in one block of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import serial_blas
from hssvm.estimators.base import REPORT_ROWS
from hssvm.estimators.callbacks import logging_to_stderr
from hssvm.estimators.display import ShownAsText
from hssvm.estimators.parameters import POSITIVES, check_parameter
from hssvm.estimators.precision import in_precision_of_rows
from hssvm.estimators.report import FitReport
from hssvm.estimators.scaling import Scaling
from hssvm.estimators.svc import SVC
from hssvm.kernels.base import Floats, as_rows
from hssvm.predict import ExpansionPredictor, LeafwisePredictor
from hssvm.problems import SVCProblem


@dataclass(frozen=True, eq=False, repr=False)
class SVCPath(ShownAsText):
    """Classifiers of two classes for many values of C; made by `svc_path`.

    Attributes
    ----------
    Cs : (k,) array
    classes : (2,) array
    dual_coef : (n, k) array
        Signed coefficients, a column for each C.
    intercept : (k,) array
    report : FitReport
        With the gap, objective and iterations of every C.
    """

    Cs: NDArray[np.float64]
    classes: NDArray[Any]
    dual_coef: Floats
    intercept: NDArray[np.float64]
    report: FitReport
    predictor: LeafwisePredictor | ExpansionPredictor
    scaling: Scaling

    def __str__(self) -> str:
        """The report, and a line for every C."""
        support = np.count_nonzero(self.dual_coef, axis=0)
        lines = [
            f"{C:>12.4g}{n_support:>17,}{gap:>14.2g}  {status}"
            for C, n_support, gap, status in zip(
                self.Cs, support, self.report.gap, self.report.status, strict=True
            )
        ]
        head = f"{'C':>12}{'support vectors':>17}{'relative gap':>14}  status"
        return "\n".join([self.report.summary(), head, *lines])

    def decision_function(self, X: Any) -> Floats:
        """Decision values for every C, (m, k)."""
        values = self.predictor(self.scaling(as_rows(X)))
        return values + self.intercept.astype(values.dtype)

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes for every C, (m, k)."""
        return self.classes[(self.decision_function(X) > 0).astype(np.int64)]


def svc_path(
    X: Any, y: Any, Cs: Sequence[float] | Floats, *, sample_weight: Any = None, **parameters: Any
) -> SVCPath:
    """Train a classifier of two classes for every C, on one compression.

    The kernel matrix is compressed once, and all C are columns of the same solves: ten of them
    cost a small multiple of one `SVC.fit`.

    Parameters
    ----------
    X : (n, p) array-like or CSR matrix
    y : (n,) array-like
        Labels of two classes.
    Cs : sequence of float
    sample_weight : (n,) array-like, optional
    **parameters
        Those of `SVC`, except C and prediction; refine=False is the default here.

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
    for name in ("C", "prediction"):
        if name in parameters:
            raise TypeError(f"svc_path takes no {name}: see Cs, and SVC for exact prediction")
    check_parameter("Cs", Cs, [POSITIVES])
    values: NDArray[np.float64] = np.asarray(Cs, dtype=np.float64)
    model = SVC(**{"refine": False, **parameters})
    tasks = model._tasks()
    with serial_blas(), logging_to_stderr(model.verbose):
        X, codes, weight, cost = model._check_fit(X, y, sample_weight)
        if model.classes_.size > 2:
            raise ValueError(
                f"svc_path is for two classes, y has {model.classes_.size}; use SVC or SVCCV"
            )
        report, seed = model._report(), model._seed()
        matrix, refine = model._prepare(X, weight, values.size, report, seed)
        signs = model._signs(codes, X.dtype)
        bound = in_precision_of_rows(signs * cost[:, None] * values, X.dtype, "C")
        problem = SVCProblem(bound)
        system = model._factor(matrix, problem, report)
        solution, refine = model._solve(problem, system, report, tasks, refine=refine)
        with report.stage("finish"):
            predictor: LeafwisePredictor | ExpansionPredictor
            if refine or not matrix.projection:
                support = np.flatnonzero(solution.Z.any(axis=1))
                predictor = ExpansionPredictor(
                    matrix.kernel, matrix.X[support], solution.Z[support]
                )
            else:
                predictor = LeafwisePredictor(matrix, solution.Z)
            report.estimate(system, solution, REPORT_ROWS, seed)
    return SVCPath(
        values,
        model.classes_,
        solution.Z,
        solution.intercept,
        report,
        predictor,
        model._scaling,
    )
