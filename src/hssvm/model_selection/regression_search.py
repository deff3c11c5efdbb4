"""The base class of the searches for regressions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hssvm.estimators.base import FitInput
from hssvm.estimators.inputs.containers import as_indexable
from hssvm.estimators.monitoring.callbacks import with_callbacks
from hssvm.estimators.regressor import Regressor
from hssvm.model_selection.base import BaseSearch
from hssvm.model_selection.failed_folds import find_failed_folds
from hssvm.model_selection.regression_folds import RegressionFolds
from hssvm.training.data.precision import in_precision_of_rows


class RegressionSearch(BaseSearch, Regressor):
    """Base class of the searches for regressions."""

    def _fold_task(self, inputs: dict[str, Any], spread: float) -> RegressionFolds:
        """Return the task of the folds; `spread` is the standard deviation of y."""
        raise NotImplementedError

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Select the parameters, and train with them on all rows.

        Parameters
        ----------
        X : (n, p) array-like or CSR matrix
        y : (n,) array-like
        sample_weight : (n,) array-like, optional
            Factors on C by row; they also weight the scores, if the scorer accepts them.
        **params
            ``groups`` for the splitter; with metadata routing, whatever splitter and scorers ask
            for.

        Returns
        -------
        self
        """
        routed = self._route(params, sample_weight)
        with self._fitting(X, y, sample_weight) as monitor:
            given_X = as_indexable(X)
            X, y, weight, points = self._check_fit(X, y, sample_weight)
            mean = np.average(y, weights=weight)
            spread = float(np.average((y - mean) ** 2, weights=weight)) ** 0.5 or 1.0
            center = float(np.median(y))
            inputs = {
                "X": given_X,
                "validated": self._validated(),
                "weight": in_precision_of_rows(weight, X.dtype, "sample_weight"),
                "y": in_precision_of_rows(y - center, X.dtype, "y"),
                "center": center,
            }
            task = self._fold_task(inputs, spread)
            score_weight = None if sample_weight is None else weight
            folds = self._make_folds(given_X, y, routed, classifier=False)
            failed_folds = find_failed_folds(
                folds, task, self.error_score, allow_nan=callable(self.refit)
            )
            selection = self._search(
                points,
                X=X,
                strata=np.zeros(y.size, np.int64),
                weight=weight,
                C_unit=spread,
                task=task,
                folds=folds,
                scoring=self._make_scoring(given_X, y, routed, score_weight, failed_folds),
                monitor=monitor,
            )
            self._train_members(selection, FitInput(X, y, weight, None))
        return self
