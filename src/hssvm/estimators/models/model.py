"""Fitted models: prediction, certificates, and the methods that store and export them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    check_X_y,
)

from hssvm._display import Text
from hssvm.estimators.configured import ConfiguredSVM
from hssvm.estimators.inputs.containers import as_known
from hssvm.estimators.inputs.parameters import (
    NONE,
    RULES,
    check_parameter,
    integer,
)
from hssvm.estimators.inputs.points import bind_points, indexed_kernel, predict_points
from hssvm.estimators.inputs.valid_rows import ValidRows
from hssvm.estimators.inputs.validation import require_complete_target, validate_rows
from hssvm.estimators.models import export, gradient, libsvm, reduction, shapley
from hssvm.estimators.models.background import pack_background, unpack_background
from hssvm.estimators.models.fitted import require_one_model
from hssvm.estimators.models.importances import FeatureImportancesMixin
from hssvm.estimators.models.linear import LinearWeightsMixin
from hssvm.estimators.models.saving import SavableEstimator
from hssvm.kernels import Kernel, Precomputed
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.indexed import IndexedKernel
from hssvm.persistence.archive import has_form, require
from hssvm.persistence.predictors import Arrays
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor
from hssvm.predictors.base import is_plain
from hssvm.training import (
    FitReport,
    Task,
)
from hssvm.training.certificate import Certificate, certify
from hssvm.training.config import is_one_leaf
from hssvm.training.data.quantiles import are_quantiles
from hssvm.training.data.scaling import Scaling


class KernelModel(LinearWeightsMixin, FeatureImportancesMixin, SavableEstimator, ConfiguredSVM):
    """A kernel machine that was trained here, on a cluster, or elsewhere."""

    _saved: ClassVar[tuple[str, ...]] = ("feature_shift_", "feature_factor_", "_feature_scales")

    dual_coef_: Floats
    fit_report_: FitReport
    kernel_: Kernel
    support_: NDArray[np.int64]
    support_vectors_: Rows

    background_: Rows | None = None
    background_weight_: NDArray[np.float64] | None = None

    save_libsvm = libsvm.save_libsvm
    save_numpy = export.save_numpy
    onnx_parser = export.onnx_parser
    onnx_shape_calculator = export.onnx_shape_calculator
    onnx_converter = export.onnx_converter
    reduce = reduction.reduce
    explain = shapley.explain
    feature_importances = shapley.feature_importances
    gradient = gradient.gradient

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(indexed_kernel(self.kernel), Precomputed)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_report_")

    def _validate(
        self,
        X: Any,
        y: Any,
        points: IndexedKernel | None,
        dtype: Any,
        *,
        reset: bool = True,
        **options: Any,
    ) -> Any:
        """Return the rows for the training functions, and y if given; see `bind_points`."""
        if not isinstance(y, str):
            y = as_known(y)
            require_complete_target(y, numeric=options.get("y_numeric", False))
        options |= {"accept_sparse": "csr", "dtype": dtype, "order": "C"}
        if points is None:
            return validate_rows(self, X, y, reset=reset, **options)
        rows = points.points()
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)  # set by an earlier fit
            if isinstance(points, Precomputed):
                self.n_features_in_ = rows.shape[0]
        return check_array(rows, **options) if isinstance(y, str) else check_X_y(rows, y, **options)

    @property
    def _scaling(self) -> Scaling:
        return Scaling(self.feature_shift_, self.feature_factor_, self.feature_quantiles_)

    def _check_weight(self, sample_weight: Any, X: Rows) -> Floats:
        if sample_weight is None:
            return np.ones(X.shape[0])
        sample_weight = as_known(sample_weight)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.any():  # scikit-learn checks this since 1.8
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return weight

    def _decision_values(self, X: Any) -> Floats:
        """Decision values of all columns at new rows, (m, k)."""
        values = self._values_without_intercept(X)
        return values + self.intercept_.astype(values.dtype)

    def _values_without_intercept(self, X: Any) -> Floats:
        check_is_fitted(self)
        predictor = self._predictor()
        if isinstance(self.kernel_, IndexedKernel):
            return predict_points(predictor, self.kernel_, X)
        valid = X if isinstance(X, ValidRows) else self._validate_new(X, predictor.X.dtype)
        rows = valid.scaled(self._scaling)
        self.kernel_.check_rows(rows)
        return predictor(rows)

    @property
    def _output_names(self) -> list[str] | None:
        """Names of several outputs that are not classes."""
        return None

    @property
    def _averaged(self) -> Sequence[KernelModel]:
        """The models whose outputs are averaged: usually only this one."""
        return [self]

    def _outputs(self, X: Any) -> Floats:
        """What a mean of models averages, (m, k): decision values by class, or predictions."""
        raise NotImplementedError

    def _validate_new(self, X: Any, dtype: np.dtype[Any]) -> ValidRows:
        """Validate rows to predict."""
        if not self._needs_no_validation(X, dtype):
            X = validate_rows(self, X, accept_sparse="csr", dtype=dtype, order="C", reset=False)
        return ValidRows(X)

    def _needs_no_validation(self, X: Any, dtype: np.dtype[Any]) -> bool:
        """Whether `X` is clearly valid; for few rows, validation would take most of the time."""
        return bool(
            is_plain(X, dtype)
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and np.isfinite(X).all()
        )

    def _predictor(self) -> LeafwisePredictor | ExpansionPredictor:
        check_parameter("prediction", self.prediction, RULES["prediction"])
        if self.prediction == "exact" or (self.prediction == "auto" and self._compressed is None):
            if self._compressed is not None and self._compressed.is_average:
                raise ValueError(
                    "prediction='exact' is not available for cells and forests, whose mean "
                    "coefficients predict worse; set prediction='auto', or fit with "
                    "approximation=HSS(n_trees=1) or refine=True"
                )
            return self._require_exact("prediction='exact'")
        if self._compressed is None:
            if is_one_leaf(self.fit_report_.n_rows, self.approximation):
                return self._require_exact("prediction='compressed'")
            raise ValueError(
                "Compressed prediction is unavailable: the model was refined, its compressor is "
                "not a projection, or it was saved with prediction='exact'; fit with "
                "approximation=HSS()"
            )
        return self._compressed

    def _check_certified(
        self, X: Any, y: Any = "no_validation", **options: Any
    ) -> tuple[Any, Kernel]:
        """Validate the training rows, and targets if given, and return them with their kernel."""
        check_is_fitted(self)
        self._require_exact("certify")
        if not hasattr(self, "support_"):
            raise ValueError(
                "certify needs the solution of a fit, which models from LIBSVM files and reduced "
                "models are not; train with hssvm, or certify the model that was reduced"
            )
        require_one_model(self.fit_report_)
        points = bind_points(self.kernel, X, self.scaling)
        data = self._validate(X, y, points, self.dual_coef_.dtype, reset=False, **options)
        rows = data[0] if isinstance(data, tuple) else data
        if self.support_.max(initial=-1) >= rows.shape[0]:
            raise ValueError(
                "X has fewer rows than the training data; pass the rows that the model was trained "
                "on to certify"
            )
        if points is None and not self._has_training_order(rows):
            raise ValueError(
                "the rows of X are not the training data, or are in another order; pass X as the "
                "model was trained on it to certify"
            )
        return data, points or self.kernel_

    def _has_training_order(self, X: Rows) -> bool:
        """Tell whether support vectors, at most 100 of them, are where they were in training."""
        n = self.support_.size
        some = np.linspace(0, n - 1, min(n, 100), dtype=np.int64)
        expected = self.support_vectors_[some]
        difference = abs(self._scaling(X[self.support_[some]]) - expected)
        return n == 0 or bool(difference.max() <= 1e-4 * abs(expected).max())

    def _certify(
        self,
        task: Task,
        kernel: Kernel,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        n_rows: int | None,
        center: Any = 0.0,
    ) -> Certificate:
        """Evaluate the model on the rows it was trained on, in float64.

        The targets of the problem are minus the `center`, which is part of the intercept.
        """
        check_parameter("n_rows", n_rows, [NONE, integer(4)])
        rows = self._scaling(X).astype(np.float64)
        pairs = self._require_exact("certify").counts is not None
        problem = task.problem(rows, y, weight, kernel, exact=pairs)
        Z = np.zeros((problem.n, problem.k))
        Z[self.support_] = self.dual_coef_.T
        intercept = self.intercept_ - center
        return certify(problem, kernel, rows, Z, intercept, n_rows, self._seed())

    def summary(self) -> str:
        """Return `fit_report_`, the accuracy and cost of the fit, as text."""
        check_is_fitted(self)
        return Text(f"{self}\n{self.fit_report_.summary()}")

    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        document, arrays = super()._pack()
        if self.feature_quantiles_ is not None:
            arrays["feature_quantiles"] = self.feature_quantiles_
        arrays |= pack_background(self.background_, self.background_weight_)
        return document, arrays

    def _restore(self, document: dict[str, Any], arrays: Arrays) -> None:
        self.feature_quantiles_ = arrays.pop("feature_quantiles", None)
        background = unpack_background(arrays, document["n_features"])
        self.background_, self.background_weight_ = background
        super()._restore(document, arrays)

    def _after_load(self, n_columns: int) -> None:
        super()._after_load(n_columns)
        quantiles = self.feature_quantiles_
        valid = quantiles is None or are_quantiles(quantiles, self.n_features_in_)
        require(valid, "feature_quantiles is invalid")
        self._check_features(KernelModel._saved)

    def _check_features(self, names: Sequence[str]) -> None:
        """Check attributes with a value for each feature, which may be None."""
        for name in names:
            value = getattr(self, name)
            valid = value is None or (
                has_form(value, np.float64, (self.n_features_in_,)) and np.isfinite(value).all()
            )
            require(valid, f"{name} is invalid")
