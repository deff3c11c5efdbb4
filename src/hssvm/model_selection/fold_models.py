"""The problems of a search on the rows of a fold, and their models as fitted estimators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.inputs.containers import select_rows
from hssvm.kernels.base import Floats
from hssvm.model_selection.families import Candidate
from hssvm.model_selection.fold_estimators import FoldModel, FoldSVC, mean_model
from hssvm.problems import BaseProblem, PairsProblem, SVCProblem
from hssvm.training import Classification, FitReport
from hssvm.training.tasks import Targets

NO_WEIGHT = "all have weight 0"


@dataclass(frozen=True, eq=False)
class FoldTask(ABC):
    """The problem and the estimators of a search.

    Attributes
    ----------
    X
        Rows as the user has given them.
    parameters : dict
        Parameters of the estimators; a candidate has its own kernel, scaling, gamma and C.
    validated : dict
        Attributes of estimators that have validated X, such as `n_features_in_`.
    weight : (n,)
    """

    X: Any
    parameters: dict[str, Any]
    validated: dict[str, Any]
    weight: Floats

    pairs: ClassVar[bool] = False
    """Whether the problem is a `PairsProblem`."""

    @property
    def k(self) -> int:
        """Number of columns of the decision values."""
        return 1

    @property
    def tube(self) -> float:
        """Half-width of the tube of a regression; NaN for classifiers."""
        return math.nan

    @property
    def searches_tube(self) -> bool:
        """Whether the best epsilon is searched."""
        return False

    def with_tube(self, epsilon: float) -> FoldTask:
        """Return the same task with another epsilon."""
        raise NotImplementedError

    @property
    def without_pairs(self) -> FoldTask:
        """The same task with one model of all classes, for cells."""
        return self

    @abstractmethod
    def why_untrainable(self, rows: NDArray[np.int64]) -> str | None:
        """Return what keeps a model from being trained on some rows, or None."""

    @abstractmethod
    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return the targets of some rows, from which scales are learned."""

    @abstractmethod
    def problem(self, rows: NDArray[np.int64], Cs: list[float]) -> BaseProblem:
        """Return the problem on some rows, with k columns for each C.

        Pairs of classes can only have a single C.
        """

    @abstractmethod
    def estimator(
        self, candidate: Candidate, model: FoldModel, models: list[FoldModel]
    ) -> tuple[Any, Any]:
        """Return a fitted estimator for scorers, and its test rows as the user has given them.

        Parameters
        ----------
        candidate : Candidate
        model : FoldModel
        models : list of FoldModel
            The models of all folds.
        """

    def mean_estimator(
        self, candidates: Sequence[Candidate], models: Sequence[list[FoldModel]], fold: int
    ) -> tuple[Any, Any]:
        """Return the mean of estimators that leave out the same fold, as `estimator` does.

        Parameters
        ----------
        candidates : sequence of Candidate
        models : sequence of lists of FoldModel
            The models of each candidate.
        fold : int
            Index of a model.
        """
        means = [mean_model(same) for same in zip(*models, strict=True)]
        mean, test_X = self.estimator(candidates[0], means[fold], means)
        mean.parts = [
            self.estimator(candidate, own[fold], own)[0]
            for candidate, own in zip(candidates, models, strict=True)
        ]
        for part in mean.parts:
            part.test_X = test_X
        return mean, test_X

    def _fitted(
        self, kind: Any, candidate: Candidate, model: FoldModel, **attributes: Any
    ) -> tuple[Any, Any]:
        """Return an estimator with the attributes of a fitted one, and its test rows."""
        (kernel, scaling), gamma, C, _ = candidate
        estimator = kind(C, **self.parameters | {"kernel": kernel, "scaling": scaling})
        if not np.isnan(gamma):
            estimator.set_params(gamma=gamma)
        estimator._set_scaling(model.scaling, None)  # noqa: SLF001, of the same package
        test_X = select_rows(self.X, model.test)
        estimator.__dict__.update(
            self.validated,
            intercept_=model.result.intercept,
            kernel_=model.result.kernel,
            fit_report_=FitReport(),
            model=model,
            test_X=test_X,
        )
        estimator.__dict__.update(attributes)
        return estimator, test_X


@dataclass(frozen=True, eq=False)
class ClassificationFolds(FoldTask):
    """Classifiers of two classes, or one-vs-rest.

    Attributes
    ----------
    codes : (n,) int64
    classes : (n_classes,)
    task : Classification
        The task for C = 1.
    dtype : numpy dtype
        Dtype of the rows.
    """

    codes: NDArray[np.int64]
    classes: NDArray[Any]
    task: Classification
    dtype: np.dtype[Any]

    multi_class: ClassVar[str] = "ovr"

    @property
    def k(self) -> int:
        """Number of columns of the decision values."""
        return 1 if self.classes.size == 2 else int(self.classes.size)

    def why_untrainable(self, rows: NDArray[np.int64]) -> str | None:
        """Return what keeps a model from being trained on some rows, or None."""
        seen = np.unique(self.codes[rows[self.weight[rows] > 0]])
        if seen.size > 1:
            return None
        return f"have only class {self.classes.tolist()[seen[0]]!r}" if seen.size else NO_WEIGHT

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return a column for each class."""
        return self.task.targets(self.codes[rows])

    def problem(self, rows: NDArray[np.int64], Cs: list[float]) -> BaseProblem:
        """Return the problem on some rows, with k columns for each C."""
        bound = self.task.bound(self.codes[rows], self.weight[rows], self.dtype)
        factors = np.array(Cs, bound.dtype)[:, None]
        return SVCProblem((bound[:, None, :] * factors).reshape(rows.size, -1))

    def estimator(
        self, candidate: Candidate, model: FoldModel, models: list[FoldModel]
    ) -> tuple[FoldSVC, Any]:
        """Return a fitted estimator for scorers, and its test rows as the user has given them."""
        return self._fitted(
            FoldSVC,
            candidate,
            model,
            others=models,
            classes_=self.classes,
            multi_class_=self.multi_class,
            codes=self.codes,
            weight=self.weight,
        )


class PairFolds(ClassificationFolds):
    """Classifiers of more than two classes, one-vs-one."""

    multi_class = "ovo"
    pairs = True

    @property
    def without_pairs(self) -> ClassificationFolds:
        """The same task one-vs-rest, for cells."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return ClassificationFolds(**values)

    def problem(self, rows: NDArray[np.int64], Cs: list[float]) -> PairsProblem:
        """Return the problem on some rows, for a single C."""
        task = replace(self.task, Cs=np.array(Cs))
        return task.pairs(self.codes[rows], self.weight[rows], self.dtype)
