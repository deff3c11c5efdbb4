"""The support vector classifier on Dask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import hssvm.estimators
from hssvm.dask.base import DASK_INSTEAD, BaseDaskSVM
from hssvm.dask.classify import by_class, classified, correct_weight
from hssvm.dask.plan import Layout
from hssvm.dask.train import HeldOut
from hssvm.estimators.calibration import require_calibrator
from hssvm.estimators.inputs.labels import (
    class_weights,
    classify,
    require_two_classes,
    require_two_rows,
)
from hssvm.estimators.inputs.parameters import CLASSIFIER_INSTEAD, as_calibrator
from hssvm.estimators.monitoring.warn import warn
from hssvm.estimators.probability import ProbabilityMixin
from hssvm.kernels.base import Floats
from hssvm.training import Approximation, Classification
from hssvm.training.certificate import Certificate


class SVC(ProbabilityMixin, ClassifierMixin, BaseDaskSVM):
    """C-support vector classification on the workers of a Dask cluster.

    Like `hssvm.SVC`, for data that does not fit on one machine. Every worker stores a part of the
    rows and of the compressed kernel matrix; the driver stores neither. With ``refine=True``, the
    workers together compute the solution on the exact kernel. More than two classes
    are one-vs-rest. If the rows fit on one machine, `hssvm.SVC` is simpler.

    If a worker is lost, training resumes from a checkpoint. With ``refine=True``, the model is the
    same, bit for bit, as without the loss. Otherwise, its gap is also below `tol`, but decision
    values may differ within that tolerance.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, class_weight, tol, solver, max_iter, max_time, \
refine, scaling, approximation, probability, random_state, verbose
        As in `hssvm.SVC`; a callable kernel must be importable on the workers.
    client : distributed.Client, default=None
        None means the current client.

    Attributes
    ----------
    classes_ : (n_classes,) array
    intercept_ : (1 or n_classes,) array
    n_iter_ : (1 or n_classes,) array
        ADMM iterations plus steps on the exact kernel, at most `max_iter`; see `hssvm.SVC`.
    feature_importances_ : (p,) array
        As in `hssvm.SVC`; the scales are learned from a sample of all rows, on one worker.
    fit_report_ : FitReport
        As in `hssvm.SVC`; stages are timed on the slowest worker.
    n_features_in_ : int

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from hssvm.dask import SVC
    >>> client = Client(processes=False, n_workers=2, dashboard_address=":0")
    >>> X = da.random.default_rng(0).standard_normal((8000, 2), chunks=(2000, 2))
    >>> y = (X**2).sum(axis=1) < 1
    >>> model = SVC(C=10, random_state=0).fit(X, y)
    >>> model.predict(np.array([[0.1, 0.2], [2.0, 1.0]]))
    array([ True, False])
    >>> model.predict(X)  # doctest: +ELLIPSIS
    dask.array<classified, shape=(8000,), ..., chunktype=numpy.ndarray>
    >>> local = model.to_local()
    >>> client.close()
    >>> local.predict(np.array([[0.1, 0.2], [2.0, 1.0]]))
    array([ True, False])
    """

    _task_name = "classification"
    _instead: ClassVar[Mapping[str, str]] = CLASSIFIER_INSTEAD | DASK_INSTEAD
    _local: ClassVar[type[hssvm.estimators.SVC]] = hssvm.estimators.SVC

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        tol: float | None = None,
        solver: Literal["admm", "paper"] = "admm",
        max_iter: int | None = None,
        max_time: float | None = None,
        refine: bool | Literal["auto"] = "auto",
        scaling: Literal["standard", "minmax", "quantiles", "learned", "learned-quantiles"]
        | None = None,
        approximation: Approximation | None = None,
        probability: Literal["sigmoid", "isotonic", "temperature"] | bool | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Client | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.max_time = max_time
        self.refine = refine
        self.scaling = scaling
        self.approximation = approximation
        self.probability = probability
        self.random_state = random_state
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVC:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : dask array or dataframe, path or paths of Parquet files, list of delayed, or rows
            Each delayed object returns ``(X, y)`` or ``(X, y, sample_weight)`` for some of the
            rows. Rows in the memory of the driver, such as NumPy arrays, are sent to the workers.
        y : like X, or a str
            Labels, or the name of a column of a dataframe or of Parquet files.
        sample_weight : like y, optional
            Factors on C by row.

        Returns
        -------
        self
        """
        return self._fit_columns(X, y, sample_weight, np.array([self.C]), self.gamma)

    def _fit_columns(
        self, X: Any, y: Any, sample_weight: Any, Cs: NDArray[np.float64], gamma: float | str
    ) -> Self:
        """Train models for several values of C."""
        require_calibrator(as_calibrator(self.probability))
        task_of = partial(self._classification, Cs=Cs)
        held_out = self._fit(X, y, sample_weight, task_of, gamma, classify=True)
        assert self._model.layout.classes is not None
        self.classes_ = self._model.layout.classes.labels
        self.fit_report_.n_classes = self.classes_.size
        self._use_out_of_fold(held_out)
        return self

    def _use_out_of_fold(self, held_out: HeldOut | None) -> None:
        """Set what follows from decision values of rows that the models have not seen."""
        if held_out is None or as_calibrator(self.probability) is None:
            self._calibrate(None, np.empty(0, np.int64), np.empty(0), 0)
            return
        codes, weight = held_out.y, held_out.weight
        seen = np.bincount(codes[weight > 0], minlength=self.classes_.size)
        if not seen.all():
            warn(
                "The model has no probabilities, which need two rows of every class, of positive "
                f"weight, on the same worker: class {str(self.classes_[seen.argmin()])!r} has "
                "fewer; add rows, or use fewer workers.",
                UserWarning,
            )
            self._calibrate(None, codes, weight, 0)
            return
        values = self._by_class(held_out.values)
        correct = classify(values, self.classes_) == self.classes_[codes]
        self.fit_report_.out_of_fold_score = float(np.average(correct, weights=weight))
        self._calibrate(values, codes, weight, self._seed())

    def _fitted_task(self, layout: Layout) -> Classification:
        return self._classification(layout, np.array([self.C]))

    def _classification(self, layout: Layout, Cs: NDArray[np.float64]) -> Classification:
        assert layout.classes is not None
        classes = layout.classes
        given = self.class_weight if isinstance(self.class_weight, dict) else {}
        if unknown := set(given) - set(classes.labels.tolist()):
            labels = ", ".join(sorted(map(repr, unknown)))
            raise ValueError(f"class_weight has labels that are not in y: {labels}; leave them out")
        factors = class_weights(self.class_weight, classes.labels, classes.counts)
        require_two_classes(type(self).__name__, factors * classes.weights)
        if as_calibrator(self.probability) is not None:
            require_two_rows(classes.labels, classes.counts)
        return Classification(factors, Cs.astype(np.float64))

    def _finish_local(self, local: Any, support_y: NDArray[Any] | None) -> None:
        assert support_y is not None
        local.classes_ = self.classes_
        local.n_support_ = np.bincount(support_y, minlength=self.classes_.size)
        local.calibration_, local.nonconformity_scores_ = (
            self.calibration_,
            self.nonconformity_scores_,
        )

    def decision_function(self, X: Any) -> Any:
        """Signed distance to the decision boundary, in units of the margin.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        array of shape (m,) for two classes, positive for ``classes_[1]``; else (m, n_classes)
            A lazy dask array, or a NumPy array if the rows are in the memory of the driver.
        """
        check_is_fitted(self)
        return self._from_values(self._by_class, X)

    @property
    def _by_class(self) -> Callable[[Floats], Floats]:  # type: ignore[override]
        """Function from the values (m, k) of the columns to the result of `decision_function`.

        It is not a method: tasks cannot contain the estimator, whose model is on the workers.
        """
        return partial(by_class, n_classes=self.classes_.size)

    def _from_values(self, function: Callable[[Floats], NDArray[Any]], X: Any) -> Any:
        """Apply `function` to the decision values, lazily if they are on the cluster."""
        values = self._values(X)
        if isinstance(values, np.ndarray):
            return function(values)
        like = function(np.zeros((1, self.intercept_.size), values.dtype))[:0]
        if like.ndim == 1:
            return values.map_blocks(function, drop_axis=1, meta=like)
        return values.map_blocks(function, chunks=(values.chunks[0], like.shape[1:]), meta=like)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy: the fraction of rows whose class is predicted correctly.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        self._check_names(X, y, sample_weight)
        measure = partial(correct_weight, classes=self.classes_)
        correct, total = self._model.measure(measure, X, y, sample_weight)
        return float(correct / total)

    def certify(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the duality gap on the exact kernel; see `hssvm.SVC.certify`.

        Every worker evaluates partitions of the data, for which it receives all support vectors.

        Parameters
        ----------
        X, y, sample_weight
            The training data, in the same order.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        return self._certify(X, y, sample_weight, n_rows)

    def predict(self, X: Any) -> Any:
        """Predict the class of every row of `X`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (m,) array of labels
            A lazy dask array, or a NumPy array if the rows are in the memory of the driver.
        """
        check_is_fitted(self)
        return self._from_values(partial(classified, classes=self.classes_), X)
