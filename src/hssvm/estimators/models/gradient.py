"""Gradients of fitted models; `gradient` is a method of `KernelModel`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.models.outputs import outputs_of, require_features
from hssvm.predictors.gradients import predictor_gradients

if TYPE_CHECKING:
    from hssvm.estimators.models.model import KernelModel


def gradient(self: KernelModel, X: Any) -> NDArray[np.float64]:
    """Compute the gradients of the decision function or prediction, exactly.

    They say how the output changes with each feature, in units of `X`. All kernels have gradients
    except 'precomputed', `Categorical`, and your own functions. Where the output has a kink, as
    with the Laplacian kernel at the support vectors, the term counts as 0.

    For kernels without Shapley values (see `explain`), integrated gradients explain the difference
    between a row x and a baseline z: the mean gradient between them, times ``x - z``. They sum to
    ``f(x) - f(z)``.

    Parameters
    ----------
    X : (m, p) array-like or CSR matrix

    Returns
    -------
    (m, p) array, or (m, p, k) with an output for each of k > 2 classes

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import SVR
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> model = SVR(kernel="matern52", C=100, epsilon=0.01).fit(X, X[:, 0] * X[:, 1])
    >>> x, z = np.array([0.8, 0.5]), np.zeros(2)
    >>> path = z + (np.arange(50) + 0.5)[:, None] / 50 * (x - z)
    >>> integrated = (x - z) * model.gradient(path).mean(axis=0)
    >>> difference = model.predict([x, z]) @ [1, -1]
    >>> bool(np.isclose(integrated.sum(), difference, atol=1e-3))
    True
    """
    check_is_fitted(self)
    models, output = self._averaged, outputs_of(self, "decision")
    require_features(self, "gradient")
    valid = self._validate_new(X, models[0]._predictor().X.dtype)  # noqa: SLF001
    total = np.zeros(())
    for model in models:
        scaling, predictor = model._scaling, model._predictor()  # noqa: SLF001
        rows = valid.scaled(scaling)
        model.kernel_.check_rows(rows)
        slopes = scaling.slopes(valid.rows)
        total = total + predictor_gradients(predictor, rows) * slopes[:, None]
    total = total / len(models)
    if output.mixing is not None:
        total = np.einsum("mkp,kc->mcp", total, output.mixing)
    gradients: NDArray[np.float64] = (
        total[:, 0] if output.names is None else total.transpose(0, 2, 1)
    )
    return gradients
