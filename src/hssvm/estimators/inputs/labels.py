"""Labels and their weights, for classifiers on one machine and on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from hssvm.kernels.base import Floats
from hssvm.messages import api, value_error

CLASS_CHECK_ROWS = 500
"""Number of rows from which it is an error if most rows have different labels."""


def check_labels(y: NDArray[Any], n_classes: int) -> None:
    """Raise ValueError if `y` are regression targets instead of labels."""
    problem = None
    if y.size >= CLASS_CHECK_ROWS and 2 * n_classes > y.size:
        problem = f"y has {n_classes:,} different values in {y.size:,} rows"
    elif type_of_target(y).startswith("continuous"):
        problem = "y contains non-integer values"
    if problem is not None:  # scikit-learn's checks look for the first words
        raise value_error(f"Unknown label type: {problem}; use {api:SVR} for regression")
    check_classification_targets(y)


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, ascending, and the index of every label in them."""
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        require_one_type(y)
        raise
    return classes, codes.astype(np.int64)


def require_one_type(labels: Iterable[Any]) -> None:
    """Raise TypeError if labels have several types."""
    types = sorted({type(label).__name__ for label in labels})
    if len(types) > 1:
        raise TypeError(
            f"y contains labels of different types, {' and '.join(types)}; convert them to one "
            "type, for example with [str(label) for label in y]"
        ) from None


def class_weights(
    class_weight: Any, labels: NDArray[Any], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the factors on C by class, (n_classes,).

    Parameters
    ----------
    class_weight : dict, 'balanced' or None
    labels : (n_classes,)
    counts : (n_classes,) int64
        Number of rows of each class.
    """
    if isinstance(class_weight, str):
        return counts.sum() / (labels.size * counts)
    weights = compute_class_weight(class_weight, classes=labels, y=labels)
    return weights.astype(np.float64)


def require_two_classes(name: str, class_costs: Floats) -> None:
    """Raise ValueError unless two classes have a positive cost; `name` is the estimator."""
    n_classes = int(np.sum(class_costs > 0))
    if n_classes < 2:
        raise ValueError(
            f"{name} needs rows of at least 2 classes with a positive weight; the data has "
            f"{n_classes} class"
        )


def require_two_rows(classes: NDArray[Any], counts: NDArray[np.int64]) -> None:
    """Raise ValueError if a class has fewer than two rows, so that no model could leave out one."""
    rare = np.flatnonzero(counts < 2)
    if rare.size:
        raise value_error(
            f"class {str(classes[rare[0]])!r} has fewer than two rows of positive weight, which "
            f"probabilities need; add rows, remove the class, or {api:set probability=None}"
        )


def classify(values: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    """Labels (m,) for decision values: (m,) for two classes, else (m, n_classes)."""
    index = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
    return classes[index]
