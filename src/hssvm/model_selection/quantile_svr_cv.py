"""Regression of quantiles with built-in cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from hssvm.estimators.inputs.parameters import RULES, Rule
from hssvm.estimators.quantile_outputs import QuantileOutputs, as_tuple, fitted_quantile
from hssvm.estimators.quantile_svr import QuantileSVR
from hssvm.model_selection.base import SEARCH_RULES
from hssvm.model_selection.regression_folds import QuantileFolds
from hssvm.model_selection.regression_search import RegressionSearch
from hssvm.persistence.archive import require
from hssvm.training import Approximation, QuantileRegression


def d2_score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Score of a model of quantiles, as `hssvm.QuantileSVR.score` computes it."""
    return float(model._score(y, model.predict(X), sample_weight))  # noqa: SLF001


class QuantileSVRCV(RegressionSearch, QuantileOutputs):
    """The mean of the best few `QuantileSVR`, with everything chosen by cross-validation.

    It searches like `SVRCV`, for the largest D^2 on other rows, averaged over the quantiles; see
    `QuantileSVR.score`.

    Parameters
    ----------
    Cs, gammas, cv, max_members, refit, error_score, max_time, kernel, scaling, memory_limit
        As in `SVRCV`.
    quantile : float or sequence of float, default=0.5
        As in `QuantileSVR`.
    scoring : str, callable, list, tuple or dict, default=None
        As in `SVCCV`; None means `QuantileSVR.score`.
    degree, coef0, tol, max_iter, refine, prediction, approximation, out_of_fold, \
random_state, verbose
        As in `QuantileSVR`; most of them apply only to the final model.

    Attributes
    ----------
    quantile_ : float or tuple of float
    C_, gamma_, scaling_, family_, Cs_, gammas_, scores_, best_score_, best_n_rows_, best_params_, \
best_index_, cv_results_, multimetric_, n_splits_
        As in `SVRCV`.
    members_ : list of QuantileSVR
        As in `SVCCV`.
    support_, support_vectors_, dual_coef_, intercept_, n_iter_, kernel_, fit_report_, \
out_of_fold_decision_, nonconformity_scores_, n_features_in_
        As in `QuantileSVR`, with the best parameters, trained on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm import QuantileSVRCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (500, 1))
    >>> y = X[:, 0] + X[:, 0] * rng.standard_normal(500)
    >>> model = QuantileSVRCV(quantile=[0.1, 0.9], max_members=1, random_state=0).fit(X, y)
    >>> low, high = model.predict(X).T
    >>> bool(abs(np.mean((low <= y) & (y <= high)) - 0.8) < 0.05)
    True
    """

    _default_scoring = staticmethod(d2_score)
    _member_class = QuantileSVR
    _rules: ClassVar[Mapping[str, Rule]] = {**RULES, **SEARCH_RULES}

    def __init__(
        self,
        Cs: int | Sequence[float] | Literal["auto"] = "auto",
        *,
        gammas: Sequence[float | Literal["scale", "auto"]] | Literal["auto"] = "auto",
        quantile: float | Sequence[float] = 0.5,
        cv: Any = 5,
        scoring: Any = None,
        max_members: int = 4,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        error_score: float | Literal["raise"] = np.nan,
        kernel: Any = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float | None = None,
        max_iter: int | None = None,
        refine: bool | Literal["auto"] = "auto",
        max_time: float | None = None,
        prediction: Literal["auto", "compressed", "exact"] = "auto",
        scaling: Any = "auto",
        approximation: Approximation | None = None,
        out_of_fold: bool = False,
        memory_limit: float | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.quantile = quantile
        self.cv = cv
        self.scoring = scoring
        self.max_members = max_members
        self.refit = refit
        self.error_score = error_score
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.refine = refine
        self.max_time = max_time
        self.prediction = prediction
        self.scaling = scaling
        self.approximation = approximation
        self.out_of_fold = out_of_fold
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    def _fitted_task(self) -> QuantileRegression:
        return QuantileRegression(self.C_, quantiles=as_tuple(self.quantile_))

    def _fold_task(self, inputs: dict[str, Any], spread: float) -> QuantileFolds:
        return QuantileFolds(
            parameters=self._parameters_of(QuantileSVR), epsilon=np.nan, searched=False,
            quantile=fitted_quantile(self.quantile), **inputs,
        )  # fmt: skip

    def _become(self, members: Sequence[Any]) -> None:
        super()._become(members)
        self.quantile_ = members[0].quantile_

    def _check_saved(self) -> None:
        super()._check_saved()
        same = all(member.quantile_ == self.quantile_ for member in self.members_)
        require(same, "its members have other quantiles")
        self._restore_results()
