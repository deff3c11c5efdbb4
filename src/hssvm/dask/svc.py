"""The support vector classifier on Dask."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import hssvm.estimators
from hssvm.dask.base import BaseDaskSVM
from hssvm.dask.partitions import Partition
from hssvm.dask.plan import Layout
from hssvm.estimators.labels import class_weights, classify, require_two_classes
from hssvm.hss import NestedNystroem
from hssvm.kernels.base import Floats
from hssvm.training import Classification


class SVC(ClassifierMixin, BaseDaskSVM):
    """C-support vector classification on the workers of a Dask cluster.

    Like `hssvm.SVC`, for data that does not fit on one machine. Every worker stores a part of the
    rows and of the compressed kernel matrix; the driver stores neither. The solution is that on
    the compressed kernel, without refinement. Up to about five million rows, one machine is
    enough, and `hssvm.SVC` is simpler.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, class_weight, tol, solver, max_iter, max_time, \
scaling, n_trees, leaf_size, max_rank, compressor, random_state, verbose
        As in `hssvm.SVC`; a callable kernel must be importable on the workers.
    client : distributed.Client, default=None
        None means the current client.

    Attributes
    ----------
    classes_ : (n_classes,) array
    intercept_ : (1 or n_classes,) array
    n_iter_ : (1 or n_classes,) array
    fit_report_ : FitReport
        As in `hssvm.SVC`; the seconds of a stage are those of the slowest worker.
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
    dask.array<classify, shape=(8000,), ..., chunktype=numpy.ndarray>
    >>> local = model.to_local()
    >>> client.close()
    >>> local.predict(np.array([[0.1, 0.2], [2.0, 1.0]]))
    array([ True, False])
    """

    _task_name = "classification"
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
        scaling: Literal["standard", "minmax"] | None = None,
        n_trees: int | None = None,
        leaf_size: int | None = None,
        max_rank: int | None = None,
        compressor: NestedNystroem | None = None,
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
        self.scaling = scaling
        self.n_trees = n_trees
        self.leaf_size = leaf_size
        self.max_rank = max_rank
        self.compressor = compressor
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
        self._fit(X, y, sample_weight, classify=True)
        assert self._model.layout.classes is not None
        self.classes_ = self._model.layout.classes.labels
        self.fit_report_.n_classes = self.classes_.size
        return self

    def _task(self, layout: Layout) -> Classification:
        assert layout.classes is not None
        classes = layout.classes
        given = self.class_weight if isinstance(self.class_weight, dict) else {}
        if unknown := set(given) - set(classes.labels.tolist()):
            labels = ", ".join(sorted(map(repr, unknown)))
            raise ValueError(f"class_weight has labels that are not in y: {labels}; leave them out")
        factors = class_weights(self.class_weight, classes.labels, classes.counts)
        require_two_classes(type(self).__name__, factors * classes.weights)
        return Classification(factors, self._Cs(classes.labels.size))

    def _Cs(self, n_classes: int) -> NDArray[np.float64]:
        return np.array([self.C], np.float64)

    def _finish_local(self, local: Any, support_y: NDArray[Any] | None) -> None:
        assert support_y is not None
        local.classes_ = self.classes_
        local.n_support_ = np.bincount(support_y, minlength=self.classes_.size)

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
        values = self._values(X)
        return values[:, 0] if self.classes_.size == 2 else values

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
        measure = partial(_correct, classes=self.classes_)
        correct, total = self._model.measure(measure, X, y, sample_weight)
        return float(correct / total)

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
        values = self.decision_function(X)
        if isinstance(values, np.ndarray):
            return classify(values, self.classes_)
        axis = 1 if values.ndim == 2 else None
        return values.map_blocks(classify, self.classes_, dtype=self.classes_.dtype, drop_axis=axis)


def _correct(values: Floats, partition: Partition, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Weight of the correctly classified rows, and of all rows."""
    weight = np.ones(values.shape[0]) if partition.weight is None else partition.weight
    correct = classify(values[:, 0] if classes.size == 2 else values, classes) == partition.y
    return np.array([weight[correct].sum(), weight.sum()])
