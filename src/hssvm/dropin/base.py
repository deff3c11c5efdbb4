"""The fits and predictions that all classes of the drop-in have in common."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_array

from hssvm.dropin.decision import decision_values
from hssvm.dropin.exact import UnsolvedError
from hssvm.dropin.expansion import Expansion
from hssvm.dropin.fallback import kernel_of, require_supported
from hssvm.kernels.base import Floats, Kernel, Rows

try:
    from sklearn.utils._sparse import _align_api_if_sparse as as_configured
except ImportError:  # before scikit-learn 1.9
    as_configured = scipy.sparse.csr_matrix

logger = logging.getLogger(__name__)

DENSE_VALUES = 2**20
"""Number of values up to which sparse rows are made dense for the solver, which is then faster."""


class ExactFit:
    """Mixin that overrides the calls of LIBSVM in `sklearn.svm._base.BaseLibSVM`.

    Subclasses define `_expand`. Everything else, from the validation of the parameters to
    `decision_function_shape`, is scikit-learn's.
    """

    def _expand(self, kernel: Kernel, X: Rows, y: Floats, weight: Floats) -> Expansion:
        """Solve the dual for rows with positive weights; raise `UnsolvedError` if that fails."""
        raise NotImplementedError

    def _dense_fit(
        self, X: Any, y: Any, sample_weight: Any, solver_type: int, kernel: str, random_seed: int
    ) -> None:
        if not self._fit_exactly(X, y, sample_weight):
            super()._dense_fit(X, y, sample_weight, solver_type, kernel, random_seed)  # type: ignore[misc]

    def _sparse_fit(
        self, X: Any, y: Any, sample_weight: Any, solver_type: int, kernel: str, random_seed: int
    ) -> None:
        X.sort_indices()
        if not self._fit_exactly(X, y, sample_weight):
            super()._sparse_fit(X, y, sample_weight, solver_type, kernel, random_seed)  # type: ignore[misc]

    def _fit_exactly(self, X: Any, y: Floats, sample_weight: Floats) -> bool:
        """Fit by hssvm and return True, or return False if scikit-learn has to."""
        name = f"sklearn.svm.{type(self).__name__}.fit"
        weight = sample_weight if sample_weight.size else np.ones(y.size)
        rows = np.flatnonzero(weight > 0)
        try:
            self._require_supported(X, y, weight)
            own = X if rows.size == y.size else X[rows]
            if scipy.sparse.issparse(own) and np.prod(own.shape) <= DENSE_VALUES:
                own = own.toarray()
            expansion = self._expand(kernel_of(self), own, y[rows], weight[rows])
        except UnsolvedError as reason:
            logger.info("%s: trained by scikit-learn: %s", name, reason)
            return False
        logger.info("%s: trained by hssvm", name)
        self._store(X, rows, expansion)
        return True

    def _require_supported(self, X: Any, y: Floats, weight: Floats) -> None:
        """Raise `UnsolvedError` if scikit-learn has to fit; weights may be 0 or less."""
        require_supported(self, X)
        if weight.ndim != 1:
            raise UnsolvedError("sample_weight has more than one dimension")
        if not np.isfinite(weight).all():
            raise UnsolvedError("sample_weight is not finite")
        if not (weight > 0).any():
            raise UnsolvedError("no sample weight is positive")

    def _store(self, X: Any, rows: NDArray[np.int64], expansion: Expansion) -> None:
        """Set the attributes that LIBSVM sets; `rows` are those with a positive weight."""
        self.support_ = rows[expansion.support].astype(np.int32)
        self.support_vectors_ = X[self.support_]
        self._n_support = expansion.n_support
        self.dual_coef_: Any = expansion.dual_coef
        self.intercept_ = expansion.intercept
        self._probA, self._probB = np.empty(0), np.empty(0)
        self.fit_status_ = 0
        self._num_iter = expansion.n_iter
        if scipy.sparse.issparse(X):
            self.support_vectors_ = as_configured(scipy.sparse.csr_array(self.support_vectors_))
            self.dual_coef_ = as_configured(_all_stored(expansion.dual_coef))

    def _dense_decision_function(self, X: Any) -> Any:
        X = check_array(X, dtype=np.float64, order="C", accept_large_sparse=False)
        values = decision_values(self, X)
        return super()._dense_decision_function(X) if values is None else values  # type: ignore[misc]

    def _sparse_decision_function(self, X: Any) -> Any:
        values = decision_values(self, X)
        return super()._sparse_decision_function(X) if values is None else values  # type: ignore[misc]

    def _dense_predict(self, X: Any) -> Any:
        predicted = self._predict_exactly(X)
        return super()._dense_predict(X) if predicted is None else predicted  # type: ignore[misc]

    def _sparse_predict(self, X: Any) -> Any:
        predicted = self._predict_exactly(X)
        return super()._sparse_predict(X) if predicted is None else predicted  # type: ignore[misc]

    def _predict_exactly(self, X: Any) -> NDArray[Any] | None:
        """Predict as LIBSVM does, or return None if scikit-learn should."""
        values = decision_values(self, X)
        return None if values is None else values[:, 0]


def _all_stored(dense: Floats) -> scipy.sparse.csr_array:
    """Return a CSR array that stores zeros, too, as the sparse code of LIBSVM expects."""
    n_rows, n_columns = dense.shape
    indices = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
    indptr = np.arange(n_rows + 1, dtype=np.int32) * n_columns
    return scipy.sparse.csr_array((dense.ravel(), indices, indptr), dense.shape)
