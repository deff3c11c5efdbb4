"""Fitted estimators with fewer support vectors; `reduce` is a method of `KernelModel`."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from hssvm.estimators.inputs.parameters import AT_LEAST_0, check_parameter
from hssvm.estimators.models.reports import untrained_report
from hssvm.kernels.indexed import IndexedKernel
from hssvm.predictors import ExpansionPredictor, expansion_predictor
from hssvm.predictors.reduced import Reduction

if TYPE_CHECKING:
    from hssvm.estimators.models.model import KernelModel

Model = TypeVar("Model", bound="KernelModel")

MIN_FRACTION_LOG2, N_BISECTIONS = -7.0, 6
"""The fraction of the support vectors is searched between 2**MIN_FRACTION_LOG2 and 1, in
N_BISECTIONS bisections."""


def reduce(self: Model, X: Any, y: Any = None, *, max_loss: float = 0.001) -> Model:
    """Return a model with as few support vectors as a loss of the score allows.

    The decision function is projected onto the kernel functions of some of the support vectors;
    see `hssvm.predictors.reduced`. Files of the new model are smaller, and its predictions
    faster. It does not solve the training problem, so it has no duality gap, `support_`,
    `n_iter_` or `certify`; probabilities keep the calibration of the old decision values.

    Parameters
    ----------
    X : (m, p) array-like or CSR matrix
        Rows on which both models are scored; not the training rows, if there are others.
    y : (m,) array-like, optional
        Their labels. By default the predictions of the model, so that the loss is the share of
        rows for which the predictions differ. Several quantiles need targets.
    max_loss : float, default=0.001
        Maximum decrease of the score: the accuracy, or what `score` returns for regression.

    Returns
    -------
    The reduced model; this one is unchanged.

    Raises
    ------
    ValueError
        If the model predicts with compressed kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVC
    >>> X = np.random.default_rng(0).standard_normal((4000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = SVC(C=10, gamma=0.5).fit(X[:2000], y[:2000])
    >>> small = model.reduce(X[2000:], y[2000:])
    >>> len(small.support_vectors_) < len(model.support_vectors_) / 2
    True
    >>> bool(small.score(X[2000:], y[2000:]) >= model.score(X[2000:], y[2000:]) - 0.001)
    True
    """
    exact = self._require_exact_predictions("reduce")
    if isinstance(exact.kernel, IndexedKernel):
        raise ValueError(f"reduce needs rows of numbers, which {exact.kernel!r} does not have")
    check_parameter("max_loss", max_loss, [AT_LEAST_0])
    if y is None and isinstance(getattr(self, "quantile_", None), tuple):
        raise ValueError("reduce needs the targets of X for several quantiles; pass y")
    y = self.predict(X) if y is None else y
    least_score = _score(self, X, y) - max_loss
    parts = [(p, Reduction(exact.kernel, exact.X[p], exact.Z[p])) for p in _parts(exact)]
    low, high, best = MIN_FRACTION_LOG2, 0.0, None
    for _ in range(N_BISECTIONS):
        middle = (low + high) / 2
        candidate = _with_fraction(self, exact, parts, 2**middle)
        if _score(candidate, X, y) >= least_score:
            best, high = candidate, middle
        else:
            low = middle
    return _with_fraction(self, exact, parts, 1.0) if best is None else best


def _with_fraction(
    model: Model,
    exact: ExpansionPredictor,
    parts: list[tuple[NDArray[np.int64], Reduction]],
    fraction: float,
) -> Model:
    """Return a copy with this fraction of the support vectors of every part."""
    rows, weights = [], []
    for part, reduction in parts:
        chosen, W = reduction.expansion(max(1, round(fraction * reduction.n_rows)))
        rows.append(part[chosen])
        weights.append(W)
    X, Z = exact.X[np.concatenate(rows)], np.concatenate(weights)
    reduced = copy(model)
    counts = None
    if exact.counts is not None:
        counts = np.zeros_like(exact.counts)
        counts[exact.counts > 0] = [part.size for part in rows]
    new = expansion_predictor(exact.kernel, X, Z, counts)
    if hasattr(model, "classes_"):
        codes = _class_codes(exact)[np.concatenate(rows)]
        reduced.n_support_ = np.bincount(codes, minlength=model.classes_.size)
    reduced.__dict__.pop("support_", None)
    report = model.fit_report_
    reduced.__dict__.update(
        _exact=new,
        _compressed=None,
        support_vectors_=X,
        dual_coef_=np.ascontiguousarray(Z.T),
        fit_report_=untrained_report(
            report.task,
            n_columns=report.n_columns,
            n_features=report.n_features,
            n_classes=report.n_classes,
            n_support=X.shape[0],
            reduced_from=exact.X.shape[0],
        ),
    )
    return reduced


def _score(model: Any, X: Any, y: Any) -> float:
    if hasattr(model, "score"):
        return float(model.score(X, y))
    return float(accuracy_score(y, model.predict(X)))


def _parts(exact: ExpansionPredictor) -> list[NDArray[np.int64]]:
    """Return the rows that share coefficients: a class if there are pairs, else all."""
    everything = np.arange(exact.X.shape[0])
    if exact.counts is None:
        return [everything]
    parts = np.split(everything, np.cumsum(exact.counts)[:-1])
    return [part for part in parts if part.size]


def _class_codes(exact: ExpansionPredictor) -> NDArray[np.int64]:
    """Return the classes of the support vectors, from the signs of their coefficients."""
    if exact.counts is not None:
        return np.repeat(np.arange(exact.counts.size), exact.counts)
    if exact.Z.shape[1] == 1:
        return (exact.Z[:, 0] > 0).astype(np.int64)
    return exact.Z.argmax(axis=1)  # one-vs-rest: only the coefficient of the own class is positive
