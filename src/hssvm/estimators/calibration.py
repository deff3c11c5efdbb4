"""Probabilities and prediction sets from out-of-fold decision values.

Calibrators see decision values of rows that the models have not been trained on. scikit-learn fits
them; models keep only their parameters, which model files can store.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.fixes import parse_version

from hssvm.estimators.inputs.labels import classify
from hssvm.estimators.inputs.parameters import InvalidParameterError, number
from hssvm.kernels.base import Floats
from hssvm.messages import api
from hssvm.persistence.archive import has_form, require

Calibration = tuple[str, list[NDArray[np.float64]]]
"""The method, and the parameters of its curves: slope and intercept of every sigmoid; points of
every isotonic function, (2, m); or the inverse temperature."""

COVERAGE = [number("a number above 0 and below 1", lambda value: 0 < value < 1)]

CONFORMITY_SCORES = 10_000
"""Maximum number of nonconformity scores that a model keeps. Keeping a random subset changes the
coverage by about 0.3 points."""


class _Identity(ClassifierMixin, BaseEstimator):
    """A classifier without parameters, whose rows are decision values."""

    def __init__(self, classes: NDArray[np.int64]) -> None:
        self.classes = classes
        self.classes_ = classes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _Identity:
        """Do nothing."""
        return self

    def decision_function(self, X: Floats) -> Floats:
        """Return X, as a vector if there are two classes."""
        return X[:, 0] if self.classes.size == 2 else X

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """Return the classes."""
        return classify(self.decision_function(X), self.classes)


def require_calibrator(method: str | None) -> None:
    """Raise an error if scikit-learn does not have the calibrator."""
    if method == "temperature" and parse_version(sklearn.__version__) < parse_version("1.8"):
        raise InvalidParameterError(
            f"{api:probability='temperature'} needs scikit-learn 1.8; upgrade it, or set "
            f"{api:probability='sigmoid'}"
        )


def fit_calibration(
    method: str, values: Floats, codes: NDArray[np.int64], n_classes: int, weight: Floats
) -> Calibration:
    """Fit curves from decision values to probabilities.

    Parameters
    ----------
    method : {'sigmoid', 'isotonic', 'temperature'}
    values : (n, k)
        Decision values of rows that the model has not seen: one column for two classes, else one
        per class.
    codes : (n,) int64
        Class indices, among which is every class.
    n_classes : int
    weight : (n,)
    """
    every_row, values = np.arange(codes.size), values.astype(np.float64)
    wrapper = CalibratedClassifierCV(
        _Identity(np.arange(n_classes)),
        method=method,
        ensemble=False,
        cv=[(every_row, every_row)],
    )
    with sklearn.config_context(enable_metadata_routing=False):
        (fitted,) = wrapper.fit(values, codes, sample_weight=weight).calibrated_classifiers_
    if method == "sigmoid":
        curves = [np.array([curve.a_, curve.b_]) for curve in fitted.calibrators]
    elif method == "isotonic":
        curves = [np.stack([c.X_thresholds_, c.y_thresholds_]) for c in fitted.calibrators]
    else:
        curves = [np.array([fitted.calibrators[0].beta_])]
    return method, [np.asarray(curve, np.float64) for curve in curves]


def probabilities(calibration: Calibration, values: Floats, n_classes: int) -> Floats:
    """Probabilities (m, n_classes) for decision values (m, k), as scikit-learn computes them."""
    method, curves = calibration
    if method == "temperature":
        logits = np.hstack([-values, values]) if n_classes == 2 else values
        return softmax(curves[0] * logits, axis=1)
    columns = zip(curves, values.T.astype(np.float64), strict=True)
    if method == "sigmoid":
        each = [expit(-(slope * f + intercept)) for (slope, intercept), f in columns]
    else:
        each = [np.interp(f, *curve) for curve, f in columns]
    if n_classes == 2:
        return np.column_stack([1 - each[0], each[0]])
    total = np.sum(each, axis=0)
    uniform = np.full((total.size, n_classes), 1 / n_classes)
    return np.divide(np.transpose(each), total[:, None], out=uniform, where=total[:, None] > 0)


def nonconformity(values: Floats) -> Floats:
    """By how much each class falls short of the best other class, (m, n_classes).

    Parameters
    ----------
    values : (m,) or (m, n_classes)
        Decision values as `decision_function` returns them.
    """
    if values.ndim == 1:
        return np.column_stack([values, -values])
    first, second = np.sort(values, axis=1)[:, [-1, -2]].T
    best_other = np.where(values == first[:, None], second[:, None], first[:, None])
    return best_other - values


def kept_scores(scores: Floats, seed: int) -> NDArray[np.float64]:
    """Return the scores to keep, ascending; a random subset if there are many."""
    chosen = np.random.default_rng(seed).permutation(scores)[:CONFORMITY_SCORES]
    return np.sort(chosen.astype(np.float64))


def conformal_quantile(scores: NDArray[np.float64], coverage: float) -> float:
    """The score that a new row does not exceed with probability `coverage`, at least.

    It is infinite if there are too few scores for this coverage. The rows of the scores and the new
    row must be exchangeable, and the model must not have seen any of them.
    """
    rank = math.ceil((scores.size + 1) * coverage)
    return float(scores[rank - 1]) if rank <= scores.size else math.inf


def require_ascending(scores: NDArray[np.float64] | None) -> None:
    """Raise ValueError if scores from a file are invalid."""
    valid = scores is None or (
        isinstance(scores, np.ndarray)
        and has_form(scores, np.float64, (scores.size,))
        and np.all(np.diff(scores) >= 0)
    )
    require(bool(valid), "nonconformity_scores_ is invalid")
