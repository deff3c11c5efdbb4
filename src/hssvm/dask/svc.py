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
from hssvm.dask.base import DaskMachine
from hssvm.dask.columns import ClassColumns
from hssvm.dask.pieces import Piece
from hssvm.dask.plan import Layout
from hssvm.estimators.svc import classify
from hssvm.kernels.base import Floats


class SVC(ClassifierMixin, DaskMachine):
    """C-support vector classification on the workers of a Dask cluster.

    `hssvm.SVC` for data that no single machine holds. Every worker has a part of the rows, and a
    part of the compressed kernel matrix; the driver holds neither. The solution is that on the
    compressed kernel: it is not refined. Below some five million rows one machine is enough, and
    `hssvm.SVC` simpler.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, class_weight, tol, max_iter, beta, max_time, scaling, \
leaf_size, max_rank, rtol, surplus, random_state, verbose
        As in `hssvm.SVC`; a callable kernel must be known to the workers.
    client : distributed.Client, default=None
        The current one if None.

    Attributes
    ----------
    classes_ : (n_classes,) array
    intercept_ : (1 or n_classes,) array
    n_iter_ : (1 or n_classes,) array
    fit_report_ : FitReport
        See `hssvm.SVC`; seconds of a stage are those of the slowest worker.
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
        tol: float | None = 1e-3,
        max_iter: int = 1000,
        beta: float | Literal["paper"] | None = None,
        max_time: float | None = None,
        scaling: Literal["standard", "minmax"] | None = None,
        leaf_size: int = 256,
        max_rank: int | None = None,
        rtol: float = 1e-3,
        surplus: float = 0.125,
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
        self.max_iter = max_iter
        self.beta = beta
        self.max_time = max_time
        self.scaling = scaling
        self.leaf_size = leaf_size
        self.max_rank = max_rank
        self.rtol = rtol
        self.surplus = surplus
        self.random_state = random_state
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVC:
        """Train on `X` and `y`.

        Parameters
        ----------
        X : dask array or dataframe, path or paths of Parquet files, list of delayed, or rows
            Delayed objects give ``(X, y)`` or ``(X, y, sample_weight)``, each some of the rows.
            Rows in the memory of the driver, such as NumPy arrays, are sent to the workers.
        y : like X, or a str
            Labels; the name of a column of a dataframe or of Parquet files.
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

    def _columns(self, layout: Layout) -> ClassColumns:
        return ClassColumns(class_weights(layout, self.class_weight), np.array([self.C]))

    def _finish_local(self, local: Any, support_y: NDArray[Any] | None) -> None:
        assert support_y is not None
        local.classes_ = self.classes_
        local.n_support_ = np.bincount(support_y, minlength=self.classes_.size)

    def decision_function(self, X: Any) -> Any:
        """Signed distance to the separating surface, in units of the margin.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        array of shape (m,) for two classes, positive for ``classes_[1]``; else (m, n_classes)
            A dask array, not yet computed, unless the rows are in the memory of the driver.
        """
        values = self._values(X)
        return values[:, 0] if self.classes_.size == 2 else values

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of the rows whose class is predicted right.

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
        right, total = self._model.measure(measure, X, y, sample_weight)
        return float(right / total)

    def predict(self, X: Any) -> Any:
        """Class of every row of `X`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (m,) array of labels
            A dask array, not yet computed, unless the rows are in the memory of the driver.
        """
        values = self.decision_function(X)
        if isinstance(values, np.ndarray):
            return classify(values, self.classes_)
        axis = 1 if values.ndim == 2 else None
        return values.map_blocks(classify, self.classes_, dtype=self.classes_.dtype, drop_axis=axis)


def _correct(values: Floats, piece: Piece, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Weight of the rows that are classified as they should be, and of all."""
    weight = np.ones(values.shape[0]) if piece.weight is None else piece.weight
    right = classify(values[:, 0] if classes.size == 2 else values, classes) == piece.y
    return np.array([weight[right].sum(), weight.sum()])


def class_weights(layout: Layout, class_weight: Any) -> NDArray[np.float64]:
    """Factors on C by class, (n_classes,).

    Raises
    ------
    ValueError
        If fewer than two classes have a positive weight.
    """
    classes = layout.classes
    assert classes is not None
    if class_weight == "balanced":
        weights = layout.n_rows / (classes.labels.size * classes.counts)
    elif class_weight is None or isinstance(class_weight, dict):
        given = class_weight or {}
        if unknown := set(given) - set(classes.labels.tolist()):
            raise ValueError(f"class_weight has labels that y has not: {sorted(unknown)}")
        weights = np.array([given.get(label, 1.0) for label in classes.labels.tolist()])
    else:
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    n_classes = int(np.sum(weights * classes.weights > 0))
    if n_classes < 2:
        raise ValueError(
            "SVC needs rows of at least 2 classes with a positive weight; the data has "
            f"{n_classes} class"
        )
    return weights.astype(np.float64)
