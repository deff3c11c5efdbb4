"""Classes from the decision values of pairs of classes, as LIBSVM and scikit-learn find them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.pairs import pair_offsets

PAIR_VALUES = 2**24
"""Number of decision values of pairs of classes that are computed at a time."""


def count_votes(values: Floats, n_classes: int) -> NDArray[np.int64]:
    """Number of pairs that each class wins, (m, n_classes).

    Parameters
    ----------
    values : (m, n_pairs)
        Decision values of the pairs (0, 1), (0, 2), ..., positive for the first class.
    n_classes : int
    """
    votes = np.zeros((values.shape[0], n_classes), np.int64)
    for c, (begin, end) in enumerate(pairwise(pair_offsets(n_classes))):
        wins = values[:, begin:end] > 0
        votes[:, c] += wins.sum(axis=1)
        votes[:, c + 1 :] += ~wins
    return votes


def values_by_class(values: Floats, n_classes: int) -> Floats:
    """Decision values of the classes, (m, n_classes): votes, plus less than 1/3 for confidence.

    Confidence, the sum of the decision values of all pairs with a class, decides between classes
    with the same number of votes.
    """
    confidence: Floats = np.zeros((values.shape[0], n_classes), values.dtype)
    for c, (begin, end) in enumerate(pairwise(pair_offsets(n_classes))):
        confidence[:, c] += values[:, begin:end].sum(axis=1)
        confidence[:, c + 1 :] -= values[:, begin:end]
    confidence /= 3 * (np.abs(confidence) + 1)
    return confidence + count_votes(values, n_classes).astype(values.dtype)
