"""Shapley values of fitted models: the methods `explain` and `feature_importances`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.inputs.valid_rows import ValidRows
from hssvm.estimators.models.explanation import Explanation
from hssvm.estimators.models.outputs import Output, outputs_of, require_features
from hssvm.kernels.base import Rows
from hssvm.predictors.shapley import Background, Values, shapley_values

if TYPE_CHECKING:
    from hssvm.estimators.models.model import KernelModel


def explain(
    self: KernelModel,
    X: Any,
    background: Any = None,
    *,
    background_weight: Any = None,
    groups: Sequence[Any] | NDArray[Any] | None = None,
    output: Literal["decision", "log_odds", "pairs"] = "decision",
) -> Explanation:
    """Compute how much each feature adds to each prediction: exact Shapley values.

    Let the features of a background row become those of the row, one after the other: the value of
    a feature is how much its step changes the output, on average over all orders and over the
    background (interventional Shapley values, as `shap.TreeExplainer` computes them for trees).
    The values of a row sum to its output minus the mean output of the background. They are exact
    up to rounding, for kernels that are products over the features: 'rbf', 'laplacian', and sums
    and products of these on groups of columns; also for 'linear'. 'exponential' and the Matern
    kernels are explained as sums of Gaussian kernels, with a relative error of 1e-8, in more time.
    Features are in the units of `X`, whatever the `scaling`. The time is proportional to the
    numbers of rows, support vectors, background rows and features.

    Approximations are explained by the expansions of the leaves that predict a row, whose base
    value depends on the leaf.

    Parameters
    ----------
    X : (m, p) array-like or CSR matrix
    background : (n, p) array-like or CSR matrix, optional
        Rows that the predictions are compared with. The time grows with their number. By default,
        about 20 weighted training rows that were chosen in the fit: `background_`.
    background_weight : (n,) array-like, optional
        Weights of the rows of `background`; they all have the same by default.
    groups : (p,) array-like, optional
        Names of the original features that the columns of `X` belong to, such as
        `TableEncoder.output_columns_`. Values of the columns of one feature are summed.
    output : {'decision', 'log_odds', 'pairs'}, default='decision'
        'decision' explains the decision values or predictions, for each class if there are more
        than two. For one-vs-one classifiers, these are the sums of the decision values of all
        pairs with the class, and 'pairs' explains each pair. 'log_odds' explains the logarithm of
        the odds of ``classes_[1]`` in `predict_proba`.

    Returns
    -------
    Explanation
        With `values`, `base_values`, `data` and `feature_names`; `to_shap` is for ``shap.plots``.

    Raises
    ------
    ValueError
        If the kernel is not a product over the features; see `gradient` for these.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVC
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> model = SVC(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> explanation = model.explain(X[:5])
    >>> total = explanation.base_values + explanation.values.sum(axis=1)
    >>> bool(np.allclose(total, model.decision_function(X[:5])))
    True
    """
    check_is_fitted(self)
    models = self._averaged
    require_features(self, "explain")
    dtype = models[0]._predictor().X.dtype  # noqa: SLF001
    valid = self._validate_new(X, dtype)
    rows, weight = _background(self, background, background_weight, dtype)
    linear = outputs_of(self, output)
    parts = [_explained(model, valid, rows, weight, linear) for model in models]
    values = np.mean([part.values for part in parts], axis=0)
    base = np.mean([part.base for part in parts], axis=0)
    values, base = values * linear.factor, base * linear.factor + linear.constant
    data, names = valid.rows, _feature_names(self)
    if groups is not None:
        values, data, names = _grouped(values, data, np.asarray(groups, dtype=object))
    if linear.names is None:
        return Explanation(values[:, 0], base[:, 0], data, names)
    return Explanation(values.transpose(0, 2, 1), base, data, names, linear.names)


def feature_importances(
    self: KernelModel,
    X: Any,
    background: Any = None,
    *,
    background_weight: Any = None,
    groups: Sequence[Any] | NDArray[Any] | None = None,
    output: Literal["decision", "log_odds", "pairs"] = "decision",
) -> NDArray[np.float64]:
    """Importances of the features: the means of the absolute Shapley values.

    Unlike `feature_importances_`, they need rows, but no learned scales.

    Parameters
    ----------
    X : (m, p) array-like or CSR matrix
        Some hundred rows are usually enough.
    background, background_weight, groups, output
        As in `explain`.

    Returns
    -------
    (p,) array
        In units of the output; sums over several outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVR
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> model = SVR(C=100, epsilon=0.01, random_state=0).fit(X, X[:, 0] - 2 * X[:, 1])
    >>> bool(np.allclose(model.feature_importances(X), [0.5, 1, 0], atol=0.1))
    True
    """
    explanation = self.explain(
        X, background, background_weight=background_weight, groups=groups, output=output
    )
    return explanation.importances


def _background(
    model: KernelModel, background: Any, weight: Any, dtype: np.dtype[Any]
) -> tuple[ValidRows, NDArray[np.float64]]:
    """Return validated background rows, and weights whose sum is 1."""
    if background is None:
        if weight is not None:
            raise ValueError("background_weight is for a background; pass both")
        if getattr(model, "background_", None) is None:
            raise ValueError(
                "the model has no background of its own, as its training rows are not known; pass "
                "background=, some tens of rows"
            )
        assert model.background_weight_ is not None
        return ValidRows(model.background_), model.background_weight_
    rows = model._validate_new(background, dtype)  # noqa: SLF001
    n = rows.rows.shape[0]
    shares: NDArray[np.float64] = np.asarray(np.ones(n) if weight is None else weight, np.float64)
    valid = shares.shape == (n,) and np.isfinite(shares).all() and (shares >= 0).all()
    if not (valid and shares.sum() > 0):
        raise ValueError(
            f"background_weight must be {n} numbers of at least 0, not all 0: one for each row"
        )
    return rows, shares / shares.sum()


def _explained(
    model: KernelModel,
    valid: ValidRows,
    background: ValidRows,
    weight: NDArray[np.float64],
    output: Output,
) -> Values:
    """Values of the outputs of a single model, before the factor and constant of the output."""
    predictor, scaling = model._predictor(), model._scaling  # noqa: SLF001
    rows, others = valid.scaled(scaling), background.scaled(scaling)
    for some in (rows, others):
        model.kernel_.check_rows(some)
    values, base = shapley_values(predictor, rows, Background(others, weight))
    base = base + model.intercept_
    if output.mixing is None:
        return Values(values, base)
    return Values(np.einsum("mkp,kc->mcp", values, output.mixing), base @ output.mixing)


def _feature_names(model: KernelModel) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature {j}" for j in range(model.n_features_in_)]
    return list(map(str, names))


def _grouped(
    values: NDArray[np.float64], data: Rows, groups: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Sum values over the columns of each group, in the order of their first columns."""
    if groups.shape != values.shape[2:]:
        raise ValueError(
            f"groups has the shape {groups.shape}, but the model has {values.shape[2]} features; "
            "pass a name for each of them"
        )
    names = list(dict.fromkeys(groups.tolist()))
    place = np.array([names.index(name) for name in groups.tolist()])
    summed = values @ np.eye(len(names))[place]
    data = data.toarray() if scipy.sparse.issparse(data) else data
    alone = np.bincount(place) == 1
    features = np.full((values.shape[0], len(names)), np.nan)
    columns = np.array([int(np.argmax(place == g)) for g in np.flatnonzero(alone)], np.int64)
    features[:, alone] = data[:, columns]
    return summed, features, list(map(str, names))
