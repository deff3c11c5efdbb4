"""Models that leave out a fold, which scorers see as fitted estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.calibration import Calibration, fit_calibration
from hssvm.estimators.inputs.parameters import as_calibrator
from hssvm.estimators.quantile_svr import QuantileSVR
from hssvm.estimators.regressor import Regressor
from hssvm.estimators.svc import SVC
from hssvm.estimators.svr import SVR
from hssvm.kernels.base import Floats
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor
from hssvm.training import TrainingResult
from hssvm.training.data.scaling import Scaling


@dataclass(frozen=True, eq=False)
class FoldModel:
    """A model that leaves out a fold.

    Attributes
    ----------
    result : TrainingResult
        The fit on the scaled rows.
    scaling : Scaling
        Applied to new rows.
    test : (m,) int64
        Rows of the fold.
    values : (m, k)
        Their decision values; (m, n_classes) for pairs of classes.
    seconds : float
        Time of the fit.
    """

    result: TrainingResult
    scaling: Scaling
    test: NDArray[np.int64]
    values: Floats
    seconds: float

    @cached_property
    def predictor(self) -> ExpansionPredictor | LeafwisePredictor:
        """Predictor for other rows."""
        return self.result.compressed or self.result.exact


class FoldSVC(SVC):
    """A classifier that leaves out a fold, and knows the decision values of its rows."""

    model: FoldModel
    others: list[FoldModel]
    test_X: Any
    codes: NDArray[np.int64]
    weight: Floats
    parts: Sequence[FoldSVC] = ()
    """The classifiers of which this one is the mean."""

    @property
    def _one_vs_one(self) -> bool:
        return not self.parts and super()._one_vs_one

    def _decision_values(self, X: Any) -> Floats:
        values = [part._outputs(X) for part in self.parts]  # noqa: SLF001, of the same class
        return np.mean(values, axis=0) if values else super()._decision_values(X)

    def _from_values(self, function: Callable[[Floats], NDArray[Any]], X: Any) -> NDArray[Any]:
        known = X is self.test_X
        return function(self.model.values) if known else super()._from_values(function, X)

    def _by_class(self, values: Floats) -> Floats:
        """Return the values by class, as the fold already has them for pairs of classes."""
        known = self._one_vs_one and values is self.model.values
        return values if known else super()._by_class(values)

    def _classify(self, values: Floats) -> NDArray[Any]:
        if self._one_vs_one and values is self.model.values:  # votes, and a fraction of one
            return self.classes_[np.rint(values).argmax(axis=1)]
        return super()._classify(values)

    def _predictor(self) -> Any:
        return self.model.predictor

    @cached_property
    def calibration_(self) -> Calibration | None:  # type: ignore[override]
        """Calibration by the rows of the other folds, from models that have not seen them."""
        calibrator = as_calibrator(self.probability)
        if calibrator is None:
            return None
        own = np.zeros(self.codes.size, bool)
        own[self.model.test] = True
        usable = ~own & (self.weight > 0)
        others = [(m.test[usable[m.test]], m.values[usable[m.test]]) for m in self.others]
        rows = np.concatenate([test for test, _ in others])
        if not np.array_equal(np.unique(self.codes[rows]), np.arange(self.classes_.size)):
            raise ValueError(
                "probabilities of a fold need rows of all classes in the other folds; use a cv "
                "that tests every row, such as StratifiedKFold"
            )
        values, n_classes = np.concatenate([values for _, values in others]), self.classes_.size
        return fit_calibration(calibrator, values, self.codes[rows], n_classes, self.weight[rows])


class FoldRegression(Regressor):
    """A regression that leaves out a fold, and knows the predictions for its rows."""

    model: FoldModel
    test_X: Any
    parts: Sequence[FoldRegression] = ()
    """The regressions of which this one is the mean."""

    def _decision_values(self, X: Any) -> Floats:
        values = [part._outputs(X) for part in self.parts]  # noqa: SLF001, of the same class
        return np.mean(values, axis=0) if values else super()._decision_values(X)

    def _values_without_intercept(self, X: Any) -> Floats:
        if X is self.test_X:
            return self.model.values - self.model.result.intercept
        return super()._values_without_intercept(X)

    def _predictor(self) -> Any:
        return self.model.predictor


class FoldSVR(FoldRegression, SVR):
    """A regression that leaves out a fold."""


class FoldQuantileSVR(FoldRegression, QuantileSVR):
    """A regression of quantiles that leaves out a fold."""


def mean_model(models: Sequence[FoldModel]) -> FoldModel:
    """Return a model with the mean decision values of models that leave out the same fold."""
    values: Floats = np.mean([model.values for model in models], axis=0)
    return replace(models[0], values=values)
