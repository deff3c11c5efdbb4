"""Classes from the decision values of pairs of classes, as LIBSVM and scikit-learn find them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats


def count_votes(values: Floats, n_classes: int) -> NDArray[np.int64]:
    """Number of pairs that each class wins, (m, n_classes).

    Parameters
    ----------
    values : (m, n_pairs)
        Decision values of the pairs (0, 1), (0, 2), ..., positive for the first class.
    n_classes : int
    """
    votes = np.zeros((values.shape[0], n_classes), np.int64)
    for column, (first, second) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
        wins = values[:, column] > 0
        votes[:, first] += wins
        votes[:, second] += ~wins
    return votes


def values_by_class(values: Floats, n_classes: int) -> Floats:
    """Decision values of the classes, (m, n_classes): votes, plus less than 1/3 for confidence.

    Confidence, the sum of the decision values of all pairs with a class, decides between classes
    with the same number of votes.
    """
    confidence: Floats = np.zeros((values.shape[0], n_classes), values.dtype)
    for column, (first, second) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
        confidence[:, first] += values[:, column]
        confidence[:, second] -= values[:, column]
    confidence /= 3 * (np.abs(confidence) + 1)
    return confidence + count_votes(values, n_classes).astype(values.dtype)
