"""Decision values of models of LIBSVM, by the parallel products of hssvm."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.dropin.fallback import has_kernel, kernel_of
from hssvm.kernels.base import Floats, Rows
from hssvm.predictors import PairwisePredictor
from hssvm.predictors.votes import PAIR_VALUES, count_votes

MIN_VALUES = 20_000
"""Number of kernel values below which scikit-learn takes less time."""


def decision_values(model: Any, X: Rows) -> Floats | None:
    """Decision values of validated rows, (m, n_columns or n_pairs), with the signs of LIBSVM.

    They are computed from the fitted attributes, so they follow changes to them. None means that
    scikit-learn should compute them: hssvm lacks the kernel, or there are few values.
    """
    vectors, coefficients = model.support_vectors_, model._dual_coef_
    if not has_kernel(model) or X.shape[0] * vectors.shape[0] < max(MIN_VALUES, 1):
        return None
    kernel = kernel_of(model)
    if scipy.sparse.issparse(coefficients):
        coefficients = coefficients.toarray()
    Z = np.ascontiguousarray(coefficients.T)
    if Z.shape[1] == 1:
        return kernel.product(X, vectors, Z) + model._intercept_
    counts = np.asarray(model._n_support, np.int64)
    return PairwisePredictor(kernel, vectors, Z, counts)(X) + model._intercept_


def predicted_classes(model: Any, X: Rows) -> NDArray[np.int64] | None:
    """Class indices by the votes of all pairs, as LIBSVM counts them; None as above."""
    if not has_kernel(model):  # X may be anything that the user's function accepts
        return None
    n_classes = len(model.classes_)
    step = max(1, PAIR_VALUES // (n_classes * (n_classes - 1) // 2))
    found = np.empty(X.shape[0], np.int64)
    for begin in range(0, X.shape[0], step):
        rows = slice(begin, begin + step)
        values = decision_values(model, X[rows])
        if values is None:
            return None
        found[rows] = count_votes(values, n_classes).argmax(axis=1)
    return found
