"""Why a fit is left to scikit-learn.

A fit that none of the `FALLBACK_RULES` names is solved by hssvm. To support more, remove a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hssvm.dropin.exact import UnsolvedError
from hssvm.kernels import Gaussian, Kernel, Linear, Polynomial
from hssvm.kernels.base import Rows

MIN_ROWS = {"c_svc": 500, "epsilon_svr": 500, "one_class": 1000, "nu_svc": 2000, "nu_svr": 2000}
"""Number of rows below which LIBSVM takes less time, by LIBSVM's name of the problem. If every pair
of classes is solved on its own, it is the average number of rows of a pair."""


DROPIN_KERNELS = ("linear", "poly", "rbf")
"""The kernels of scikit-learn that hssvm has, too."""


@dataclass(frozen=True)
class Rule:
    """A reason to use scikit-learn, and a test of the estimator."""

    reason: str
    applies: Callable[[Any], bool]


FALLBACK_RULES = (
    Rule("the kernel is a function", lambda model: callable(model.kernel)),
    Rule("kernel='precomputed'", lambda model: model.kernel == "precomputed"),
    Rule("kernel='sigmoid' is not positive semi-definite", lambda model: model.kernel == "sigmoid"),
    Rule(
        "kernel='poly' with coef0 < 0 is not positive semi-definite",
        lambda model: model.kernel == "poly" and model.coef0 < 0,
    ),
    Rule("the kernel is constant", lambda model: is_constant(model)),
    Rule(
        "nu with kernel='linear' or 'poly', whose low rank makes the search for C or epsilon slow",
        lambda model: model._impl in ("nu_svc", "nu_svr") and model.kernel != "rbf",
    ),
    Rule(
        "probability=True means five more fits with the random numbers of LIBSVM",
        lambda model: getattr(model, "_effective_probability", model.probability) is True,
    ),
    Rule("max_iter counts the iterations of LIBSVM", lambda model: model.max_iter != -1),
    Rule("C is infinite", lambda model: not np.isfinite(model.C)),
)
"""Parameters, in the order in which they are tested."""


def require_supported(model: Any, X: Rows) -> None:
    """Raise `UnsolvedError` if scikit-learn has to fit an estimator to `X`."""
    for rule in FALLBACK_RULES:
        if rule.applies(model):
            raise UnsolvedError(rule.reason)
    n_rows = X.shape[0]
    if model._impl == "nu_svc":
        n_rows = 2 * n_rows // len(model.classes_)
    if n_rows < MIN_ROWS[model._impl]:
        raise UnsolvedError(f"{n_rows} rows take less time there")
    with np.errstate(over="ignore"):
        if not np.isfinite(kernel_of(model).diag(X).sum()):
            raise UnsolvedError("values of the kernel overflow; scale the features")


def has_kernel(model: Any) -> bool:
    """Whether hssvm has the kernel of an estimator whose gamma is known."""
    return (
        model.kernel in DROPIN_KERNELS
        and not is_constant(model)
        and not (model.kernel == "poly" and model.coef0 < 0)
    )


def kernel_of(model: Any) -> Kernel:
    """Return the kernel of an estimator, for which `has_kernel` is true."""
    if model.kernel == "linear":
        return Linear()
    if model.kernel == "rbf":
        return Gaussian(float(model._gamma))
    return Polynomial(float(model._gamma), float(model.coef0), int(model.degree))


def is_constant(model: Any) -> bool:
    """Whether the kernel has the same value for all rows."""
    no_gamma = model.kernel in ("rbf", "poly") and not model._gamma > 0
    return bool(no_gamma or (model.kernel == "poly" and model.degree == 0))
