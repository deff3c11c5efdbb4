"""The base class of the classifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from hssvm.estimators.base import BaseKernelSVM, FitInput
from hssvm.estimators.calibration import require_calibrator
from hssvm.estimators.inputs.labels import (
    check_labels,
    class_weights,
    classify,
    encode_labels,
    require_two_classes,
    require_two_rows,
)
from hssvm.estimators.inputs.parameters import CLASSIFIER_INSTEAD, as_calibrator
from hssvm.estimators.monitoring.callbacks import FitMonitor
from hssvm.estimators.probability import ProbabilityMixin
from hssvm.kernels.base import Floats
from hssvm.persistence.archive import has_form, require
from hssvm.predictors.votes import PAIR_VALUES, count_votes, values_by_class
from hssvm.training import Classification, FitReport, Task, TrainingPlan, TrainingResult
from hssvm.training.certificate import Certificate
from hssvm.training.data.checks import NARROW_KERNEL, UNEVEN_FEATURES, check_support


class Classifier(ProbabilityMixin, ClassifierMixin, BaseKernelSVM):
    """Base class with the labels, class weights and decision values of classifiers."""

    _saved: ClassVar[tuple[str, ...]] = ("classes_", "n_support_", "multi_class_")

    multi_class: Literal["auto", "ovo", "ovr"] = "ovr"
    multi_class_: Literal["ovo", "ovr"] = "ovr"
    loss: Literal["hinge", "squared_hinge"] = "hinge"

    _task_name = "classification"
    _instead: ClassVar[Mapping[str, str]] = CLASSIFIER_INSTEAD | {
        "decision_function_shape": f"{CLASSIFIER_INSTEAD['decision_function_shape']}; multi_class="
        "'ovo' or 'ovr' is how more than two classes are trained",
    }

    def _fitted_C(self) -> float:
        """Return the C of the fitted model."""
        raise NotImplementedError

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> FitInput:
        """Set `classes_`; return the validated input, with class indices."""
        calibrator = as_calibrator(self.probability)
        require_calibrator(calibrator)
        data = self._check_input(X, y, sample_weight)
        self.classes_, codes = encode_labels(data.y)
        check_labels(data.y, self.classes_.size)
        if calibrator is not None and self.classes_.size > 1:
            counts = np.bincount(codes[data.weight > 0], minlength=self.classes_.size)
            require_two_rows(self.classes_, counts)
        return data._replace(y=codes)

    def _task(
        self,
        codes: NDArray[np.int64],
        weight: Floats,
        Cs: NDArray[np.float64],
        multi_class: Literal["auto", "ovo", "ovr"],
    ) -> Classification:
        """Return the task for values of C; raise ValueError if there is only one class."""
        n_classes = self.classes_.size
        factors = class_weights(
            self.class_weight, self.classes_, np.bincount(codes, minlength=n_classes)
        )
        costs = factors * np.bincount(codes, weight, n_classes)
        require_two_classes(type(self).__name__, costs)
        return Classification(factors, Cs, multi_class, self.loss)

    def _strata(self, data: FitInput) -> NDArray[np.int64]:
        codes: NDArray[np.int64] = data.y
        return codes

    @property
    def _one_vs_one(self) -> bool:
        return self.classes_.size > 2 and self.multi_class_ == "ovo"

    def _new_report(self) -> FitReport:
        return FitReport(task=self._task_name, n_classes=self.classes_.size)

    def _out_of_fold_outputs(self, result: TrainingResult, task: Task) -> Floats | None:
        """Decision values, as `decision_function` returns them, from models without the rows.

        NaN for rows that were not held out.
        """
        values = result.out_of_fold
        if values is None or result.problem.n_parts > 1:  # the values of pairs are by class
            return values
        return self._by_class(values)

    def _use_out_of_fold(
        self, values: Floats | None, data: FitInput, report: FitReport, seed: int
    ) -> None:
        """Set what follows from decision values of rows that the models have not seen."""
        codes, weight = data.y, data.weight
        if values is None:
            self._calibrate(None, codes, weight, 0)
            return
        rows = np.flatnonzero(~np.isnan(values.reshape(codes.size, -1)[:, 0]))
        if not weight[rows].any() and self._held_out:
            raise ValueError(
                "out_of_fold=True needs a class with at least two rows of positive weight"
            )
        correct = classify(values[rows], self.classes_) == self.classes_[codes[rows]]
        if weight[rows].any():
            report.out_of_fold_score = float(np.average(correct, weights=weight[rows]))
        asked = values[rows] if self._held_out else None
        self._calibrate(asked, codes[rows], weight[rows], seed)
        if self.out_of_fold:
            self.out_of_fold_decision_ = values

    def _finish(
        self, result: TrainingResult, task: Task, data: FitInput, monitor: FitMonitor
    ) -> None:
        """Set what follows from the solution, and check the number of support vectors."""
        report = result.report
        self.n_support_ = np.bincount(data.y[self.support_], minlength=self.classes_.size)
        converged = set(report.status) == {"CONVERGED"}  # otherwise most rows have coefficients
        advised = {NARROW_KERNEL, UNEVEN_FEATURES}.intersection(report.advice)
        if result.first_Z is not None and converged and not advised and self.loss == "hinge":
            monitor.advise(check_support(result.first_Z, result.problem.bound), report)
        values = self._out_of_fold_outputs(result, task)
        self._use_out_of_fold(values, data, report, result.seed)

    def _store(self, result: TrainingResult, plan: TrainingPlan) -> None:
        if self.multi_class == "auto":
            self.multi_class_ = "ovo" if plan.exact else "ovr"
        else:
            self.multi_class_ = self.multi_class
        super()._store(result, plan)

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
        step = self._rows_at_once
        has_rows = hasattr(X, "shape") or hasattr(X, "__len__")  # else X is not valid
        if step is None or not has_rows or (n_rows := _num_samples(X)) <= step:
            return function(self._decision_values(X))
        X = X.tocsr() if scipy.sparse.issparse(X) else X
        parts = [_safe_indexing(X, slice(b, b + step)) for b in range(0, n_rows, step)]
        return np.concatenate([function(self._decision_values(part)) for part in parts])

    @property
    def _rows_at_once(self) -> int | None:
        """Number of rows that are predicted at a time, as there may be many pairs of classes."""
        return max(1, PAIR_VALUES // self.intercept_.size) if self._one_vs_one else None

    def _outputs(self, X: Any) -> Floats:
        values = self._by_class(self._decision_values(X))
        return values.reshape(len(values), -1)

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
        Cs = np.array([self._fitted_C()])
        task = self._task(codes, weight, Cs, self.multi_class_)
        return self._certify(task, kernel, X, codes, weight, n_rows)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        n_classes = self.classes_.size
        pairwise = self._exact is not None and self._exact.counts is not None
        require(self._one_vs_one or not pairwise, "multi_class_ does not match the predictor")
        n_pairs = n_classes * (n_classes - 1) // 2
        expected = n_pairs if self._one_vs_one else (1 if n_classes == 2 else n_classes)
        require(n_columns == expected, "classes_ is invalid")
        require(has_form(self.n_support_, np.int64, (n_classes,)), "n_support_ is invalid")

    def _check_saved(self) -> None:
        super()._check_saved()
        require(self.multi_class_ in ("ovo", "ovr"), "multi_class_ is invalid")
        require(np.array_equal(self.classes_, np.unique(self.classes_)), "classes_ is invalid")
        self._check_calibration()
