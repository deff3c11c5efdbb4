"""The base class of the classifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from hssvm.estimators.base import BaseKernelSVM
from hssvm.estimators.calibration import require_calibrator
from hssvm.estimators.callbacks import FitMonitor
from hssvm.estimators.labels import (
    check_labels,
    class_weights,
    classify,
    encode_labels,
    require_two_classes,
    require_two_rows,
)
from hssvm.estimators.parameters import CLASSIFIER_INSTEAD, as_calibrator
from hssvm.estimators.probability import ProbabilityMixin
from hssvm.estimators.saving import has_form
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.persistence.archive import require
from hssvm.predictors import PairwisePredictor
from hssvm.predictors.votes import PAIR_VALUES, count_votes, values_by_class
from hssvm.problems import PairsProblem, Problem
from hssvm.training import Classification, FitReport, TrainingConfig, TrainingResult
from hssvm.training.certificate import Certificate, certify_pairs
from hssvm.training.checks import NARROW_KERNEL, UNEVEN_FEATURES, check_support


class Classifier(ProbabilityMixin, ClassifierMixin, BaseKernelSVM):
    """Base class with the labels, class weights and decision values of classifiers."""

    _saved: ClassVar[tuple[str, ...]] = ("classes_", "n_support_", "multi_class_")

    multi_class: Literal["auto", "ovo", "ovr"] = "ovr"
    multi_class_: Literal["ovo", "ovr"] = "ovr"
    _next_multi_class: Literal["ovo", "ovr"] = "ovr"
    """`multi_class_` of the fit in progress: if it fails, the last one is kept."""

    _task_name = "classification"
    _instead: ClassVar[Mapping[str, str]] = CLASSIFIER_INSTEAD | {
        "decision_function_shape": f"{CLASSIFIER_INSTEAD['decision_function_shape']}; multi_class="
        "'ovo' or 'ovr' is how more than two classes are trained",
    }

    def _fitted_C(self) -> float:
        """Return the C of the fitted model."""
        raise NotImplementedError

    def _check_fit(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, NDArray[np.int64], Floats]:
        """Set `classes_`; return rows, class indices and sample weights."""
        calibrator = as_calibrator(self.probability)
        require_calibrator(calibrator)
        X, y = self._check_rows(X, y)
        self.classes_, codes = encode_labels(y)
        self._next_multi_class = "ovr"
        check_labels(y, self.classes_.size)
        weight = self._check_weight(sample_weight, X)
        if calibrator is not None and self.classes_.size > 1:
            counts = np.bincount(codes[weight > 0], minlength=self.classes_.size)
            require_two_rows(self.classes_, counts)
        return X, codes, weight

    def _task(
        self, codes: NDArray[np.int64], weight: Floats, Cs: NDArray[np.float64]
    ) -> Classification:
        """Return the task for values of C; raise ValueError if there is only one class.

        It is one-vs-one or one-vs-rest like the fitted model.
        """
        n_classes = self.classes_.size
        factors = class_weights(
            self.class_weight, self.classes_, np.bincount(codes, minlength=n_classes)
        )
        costs = factors * np.bincount(codes, weight, n_classes)
        require_two_classes(type(self).__name__, costs)
        return Classification(factors, Cs, self._one_vs_one)

    @property
    def _one_vs_one(self) -> bool:
        return self.classes_.size > 2 and self.multi_class_ == "ovo"

    def _make_problem(
        self,
        task: Any,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        config: TrainingConfig,
    ) -> Problem | PairsProblem:
        """Choose between one-vs-one and one-vs-rest, and return the problem."""
        plan = config.plan_for(X, kernel)
        exact = plan.exact(X.shape[0])
        if self.multi_class == "auto":
            self._next_multi_class = "ovo" if exact else "ovr"
        else:
            self._next_multi_class = self.multi_class
        one_vs_one = self.classes_.size > 2 and self._next_multi_class == "ovo"
        task = replace(task, one_vs_one=one_vs_one)
        if exact and one_vs_one:
            return task.pairs(y, weight, X.dtype)
        return super()._make_problem(task, X, y, weight, kernel, config)

    def _new_report(self) -> FitReport:
        return FitReport(task=self._task_name, n_classes=self.classes_.size)

    def _train_classes(
        self,
        X: Rows,
        codes: NDArray[np.int64],
        weight: Floats,
        Cs: NDArray[np.float64],
        monitor: FitMonitor,
    ) -> None:
        """Train with the given values of C, and set the fitted attributes."""
        result = self._train(self._task(codes, weight, Cs), X, codes, weight, monitor)
        self._finish(result, codes, monitor)
        self._use_out_of_fold(result, codes, weight)

    def _use_out_of_fold(
        self, result: TrainingResult, codes: NDArray[np.int64], weight: Floats
    ) -> None:
        """Set what follows from decision values of rows that the models have not seen."""
        if result.out_of_fold is None:
            self._calibrate(None, codes, weight, 0)
            return
        rows = np.flatnonzero(~np.isnan(result.out_of_fold[:, 0]))
        if not weight[rows].any() and self._held_out:
            raise ValueError(
                "out_of_fold=True needs a class with at least two rows of positive weight"
            )
        values = result.out_of_fold[rows]
        if not isinstance(result.problem, PairsProblem):  # the values of pairs are by class
            values = self._by_class(values)
        correct = classify(values, self.classes_) == self.classes_[codes[rows]]
        if weight[rows].any():
            result.report.out_of_fold_score = float(np.average(correct, weights=weight[rows]))
        asked = values if self._held_out else None
        self._calibrate(asked, codes[rows], weight[rows], self._forest_seed)
        if self.out_of_fold:
            decision = np.full((codes.size, *values.shape[1:]), np.nan, values.dtype)
            decision[rows] = values
            self.out_of_fold_decision_ = decision

    def _finish(
        self, result: TrainingResult, codes: NDArray[np.int64], monitor: FitMonitor
    ) -> None:
        """Set `n_support_`, and check the number of support vectors."""
        report = result.report
        self.n_support_ = np.bincount(codes[self.support_], minlength=self.classes_.size)
        converged = set(report.status) == {"CONVERGED"}  # otherwise most rows have coefficients
        advised = {NARROW_KERNEL, UNEVEN_FEATURES}.intersection(report.advice)
        if result.first_Z is not None and converged and not advised:
            monitor.advise(check_support(result.first_Z, result.problem.bound), report)

    def _store(self, result: TrainingResult, config: TrainingConfig) -> None:
        self.multi_class_ = self._next_multi_class
        super()._store(result, config)

    def decision_function(self, X: Any) -> Floats:
        """Signed distance to the decision boundary, in units of the margin.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array for two classes, positive for ``classes_[1]``; otherwise (m, n_classes) array.
        With one-vs-rest classifiers, a column has the values of one of them. With one-vs-one
        classifiers, it has the number of classifiers that vote for the class, and a fraction
        between -1/3 and 1/3 that grows with their values, as in `sklearn.svm.SVC`.
        """
        return self._from_values(self._by_class, X)

    def _from_values(self, function: Callable[[Floats], NDArray[Any]], X: Any) -> NDArray[Any]:
        """Apply `function` to the decision values, of some rows at a time if there are many."""
        check_is_fitted(self)
        step = max(1, PAIR_VALUES // self.intercept_.size)
        has_rows = hasattr(X, "shape") or hasattr(X, "__len__")  # else X is not valid
        if not (self._one_vs_one and has_rows) or (n_rows := _num_samples(X)) <= step:
            return function(self._decision_values(X))
        X = X.tocsr() if scipy.sparse.issparse(X) else X
        parts = [_safe_indexing(X, slice(b, b + step)) for b in range(0, n_rows, step)]
        return np.concatenate([function(self._decision_values(part)) for part in parts])

    def _by_class(self, values: Floats) -> Floats:
        """Return what `decision_function` does for the values (m, k) of the columns."""
        if self._one_vs_one:
            return values_by_class(values, self.classes_.size)
        return values[:, 0] if self.classes_.size == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of every row of `X`.

        One-vs-one classifiers vote; of two classes with the same number of votes, the first is
        chosen, as in `sklearn.svm.SVC`.

        Parameters
        ----------
        X : (m, p) array-like or CSR matrix

        Returns
        -------
        (m,) array of labels
        """
        return self._from_values(self._classify, X)

    def _classify(self, values: Floats) -> NDArray[Any]:
        """Return the classes for the values (m, k) of the columns."""
        if self._one_vs_one:
            votes = count_votes(values, self.classes_.size)
            return self.classes_[votes.argmax(axis=1)]
        return classify(self._by_class(values), self.classes_)

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the objective values and duality gap on the exact kernel.

        The gap bounds the distance to the exact support vector machine, as found by LIBSVM: the
        objective of the model exceeds the optimum by at most this relative amount. Everything is
        computed in float64, at the cost of the kernel values of all rows with all support vectors.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm import SVC
        >>> X = np.random.default_rng(0).standard_normal((5000, 2))
        >>> y = np.hypot(*X.T) < 1
        >>> model = SVC(C=10, random_state=0).fit(X, y)
        >>> certificate = model.certify(X, y)
        >>> bool(certificate.gap[0] < 1e-3), certificate.n_rows
        (True, 5000)
        """
        (X, y), kernel = self._check_certified(X, y)
        classes, codes = encode_labels(y)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                "y has other classes than the training data; pass the labels that the model was "
                "trained on to certify"
            )
        weight = self._check_weight(sample_weight, X)
        task = self._task(codes, weight, np.array([self._fitted_C()]))
        if isinstance(self._exact, PairwisePredictor):
            return self._certify_pairs(task, kernel, X, codes, weight, n_rows)
        return self._certify(task, kernel, X, codes, weight, n_rows)

    def _certify_pairs(
        self,
        task: Classification,
        kernel: Kernel,
        X: Rows,
        codes: NDArray[np.int64],
        weight: Floats,
        n_rows: int | None,
    ) -> Certificate:
        """Evaluate every pair of classes on its rows."""
        rows = self._certified_rows(X, n_rows)
        problem = task.pairs(codes, weight, rows.dtype)
        Z = np.zeros((problem.n, problem.k))
        Z[self.support_] = self.dual_coef_.T
        share = None if n_rows is None else n_rows / problem.n
        return certify_pairs(problem, kernel, rows, Z, self.intercept_, share, self._seed())

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        n_classes = self.classes_.size
        require(self.multi_class_ in ("ovo", "ovr"), "multi_class_ is invalid")
        pairwise = isinstance(self._exact, PairwisePredictor)
        require(self._one_vs_one or not pairwise, "multi_class_ does not match the predictor")
        n_pairs = n_classes * (n_classes - 1) // 2
        expected = n_pairs if self._one_vs_one else (1 if n_classes == 2 else n_classes)
        require(
            n_columns == expected and np.array_equal(self.classes_, np.unique(self.classes_)),
            "classes_ is invalid",
        )
        require(has_form(self.n_support_, np.int64, (n_classes,)), "n_support_ is invalid")
        self._check_calibration()
