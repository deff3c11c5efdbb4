"""A fitted estimator as plain values and arrays, and back."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.parameters import as_scalar
from hssvm.estimators.report import FitReport
from hssvm.persistence import save_model
from hssvm.persistence.archive import require
from hssvm.persistence.plain import OBJECTS, from_plain, to_plain
from hssvm.persistence.predictors import Arrays, Predictor, pack_predictor, unpack_predictor
from hssvm.predict import LeafwisePredictor


class SavableEstimator(BaseEstimator):
    """An estimator with `save`.

    A subclass lists in `_saved` the attributes of its own, checks them in `_after_load`, and is one
    of `hssvm.persistence.model.HOMES`. Its `_predictor` is what a file holds.
    """

    _saved: ClassVar[tuple[str, ...]] = ("intercept_", "n_iter_")
    """Small fitted attributes that a file keeps, beside the predictor and the report."""

    target_name_: str | int | None = None
    """Name of the column of labels, or its number if columns had no names; None if not known."""

    data_checksum_: int | None = None
    """Of the training data, set by the command line, which resumes a fit on the same data only."""

    def _after_load(self, n_columns: int) -> None:
        """Check the attributes of `_saved`, and set what follows from them.

        They come from a file, and may be anything: ValueError if they do not fit the predictor,
        which has so many columns.
        """
        require(
            has_form(self.intercept_, np.float64, (n_columns,))
            and np.isfinite(self.intercept_).all(),
            "intercept_ does not fit",
        )
        require(has_form(self.n_iter_, np.int64, (n_columns,)), "n_iter_ does not fit")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, for `hssvm.load`.

        The file has plain arrays and JSON in it, and no code. It holds what `predict` needs: of a
        model on the compressed kernel the leaves, of others the support vectors. If the fit ended
        early, it also holds the coefficients, so that `warm_start` resumes a loaded model. The file
        appears when it is complete; until then one of the same name stays.

        joblib and pickle keep all of the model, and take any kernel and parameter, but belong to
        one version of hssvm and scikit-learn, and run what code a file has in it.

        Parameters
        ----------
        path : str or path

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> import hssvm
        >>> X = np.random.default_rng(0).standard_normal((3000, 2))
        >>> model = hssvm.SVC(random_state=0).fit(X, np.hypot(*X.T) < 1)
        >>> path = os.path.join(tempfile.mkdtemp(), "rings.hssvm")
        >>> model.save(path)
        >>> loaded = hssvm.load(path)
        >>> bool(np.all(loaded.decision_function(X) == model.decision_function(X)))
        True
        """
        check_is_fitted(self)
        save_model(self, path)

    def _require_support(self, what: str) -> None:
        if not hasattr(self, "support_vectors_"):
            raise ValueError(
                f"{what} needs the support vectors, which a saved model on the compressed kernel "
                "lacks: its file has only what predicts leaf by leaf; fit again, or keep the whole "
                "model with joblib"
            )

    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        """Return the document of a file, and its arrays."""
        if type(self.kernel_) not in OBJECTS.values():
            raise ValueError(
                f"the kernel {self.kernel_!r} is code, which a model file does not hold; use "
                "joblib.dump, or one of the kernels of hssvm"
            )
        predictor = self._predictor()
        packed, arrays = pack_predictor(predictor)
        if rows_are_support(predictor):
            arrays["support"] = self.support_.astype(np.int64, copy=False)
        elif hasattr(self, "dual_coef_") and not UNFINISHED.isdisjoint(self.fit_report_.status):
            arrays["support"] = self.support_.astype(np.int64, copy=False)
            arrays["dual_coef"] = self.dual_coef_
        names = getattr(self, "feature_names_in_", None)
        return {
            "parameters": self._pack_parameters(),
            "kernel": to_plain(self.kernel_),
            **packed,
            "feature_names": None if names is None else list(names),
            "target_name": self.target_name_,
            "data_checksum": self.data_checksum_,
            "attributes": self._pack_attributes(),
            "fit_report": {name: to_plain(getattr(self.fit_report_, name)) for name in REPORTED},
        }, arrays

    def _pack_parameters(self) -> dict[str, Any]:
        packed = {}
        for name, value in self.get_params(deep=False).items():
            try:
                packed[name] = to_plain(as_scalar(value))
            except TypeError:
                raise ValueError(
                    f"the parameter {name}={value!r} is no plain value, and a model file holds no "
                    f"others; use joblib.dump, or set_params({name}=...) first, which does not "
                    "change what the model predicts"
                ) from None
        return packed

    def _pack_attributes(self) -> dict[str, Any]:
        packed = {}
        for name in self._saved:
            try:
                packed[name] = to_plain(getattr(self, name))
            except TypeError:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}, and a model file holds only numbers and "
                    "strings; fit with such labels, or use joblib.dump"
                ) from None
        return packed

    @classmethod
    def _unpack(cls, document: dict[str, Any], arrays: Arrays) -> Any:
        """Return the model that `_pack` was called on."""
        parameters = {name: from_plain(v) for name, v in document["parameters"].items()}
        unknown = sorted(parameters.keys() - cls._get_param_names())
        require(not unknown, f"{cls.__name__} has no parameter {unknown} here, but may later on")
        model = cls(**parameters)
        kernel = from_plain(document["kernel"])
        predictor = unpack_predictor(document, kernel, arrays)
        model.kernel_ = kernel
        model._leafwise = predictor if isinstance(predictor, LeafwisePredictor) else None
        model._take_features(document)
        for name in cls._saved:
            setattr(model, name, from_plain(document["attributes"][name]))
        model.fit_report_ = unpack_report(document["fit_report"], n_columns(predictor))
        if rows_are_support(predictor):
            model._take_support(weights(predictor).T, arrays.pop("support"))
            model.support_vectors_ = predictor.X
        elif "dual_coef" in arrays:
            model._take_support(arrays.pop("dual_coef"), arrays.pop("support"))
            require(len(model.dual_coef_) == n_columns(predictor), "dual_coef does not fit")
        require(not arrays, f"it has an array too many: {', '.join(arrays)}")
        model._after_load(n_columns(predictor))
        model._predictor()
        return model

    def _take_features(self, document: dict[str, Any]) -> None:
        self.n_features_in_, names = document["n_features"], document["feature_names"]
        if names is not None:
            fits = type(names) is list and len(names) == self.n_features_in_
            fits = fits and all(type(name) is str for name in names)
            require(fits, "feature_names do not fit")
            self.feature_names_in_ = np.array(names, dtype=object)
        self.target_name_ = document.get("target_name")
        self.data_checksum_ = document.get("data_checksum")
        require(type(self.target_name_) in (str, int, type(None)), "target_name does not fit")
        require(type(self.data_checksum_) in (int, type(None)), "data_checksum does not fit")

    def _take_support(self, dual_coef: NDArray[Any], support: NDArray[Any]) -> None:
        fits = dual_coef.ndim == 2 and has_form(support, np.int64, (dual_coef.shape[1],))
        require(fits and dual_coef.dtype.kind == "f", "support does not fit")
        require(np.isfinite(dual_coef).all(), "dual_coef has NaN or infinite entries")
        ascending = np.all(support[1:] > support[:-1]) and np.all(support >= 0)
        inside = np.all(support < self.fit_report_.n_rows)
        require(ascending and inside, "support has rows that there are not")
        self.support_, self.dual_coef_ = support, np.ascontiguousarray(dual_coef)


def has_form(array: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether `array` is one, of this type and shape."""
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape


def weights(predictor: Predictor) -> NDArray[Any]:
    """(n, k)."""
    return predictor.weights if isinstance(predictor, LeafwisePredictor) else predictor.Z


def n_columns(predictor: Predictor) -> int:
    """Return k."""
    return int(weights(predictor).shape[1])


def rows_are_support(predictor: Predictor) -> bool:
    """Whether the rows of a predictor are the support vectors: no leaf adds others."""
    return not isinstance(predictor, LeafwisePredictor) or predictor.tree.depth == 0


def name_of(y: Any) -> str | None:
    """The name of a pandas Series, if it is text."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None


UNFINISHED = {"STOPPED", "MAX_TIME", "MAX_ITER"}
"""Statuses of a fit that could go on."""

REPORTED = [field.name for field in fields(FitReport) if field.metadata.get("saved", True)]
"""Figures of a report that are saved."""

ITEMS = {"status": str, "advice": str, "ranks": int, "seconds": float}
"""What the lists of a report, and its dict, hold."""


def unpack_report(document: dict[str, Any], n_columns: int) -> FitReport:
    """Return the report of a fit of so many columns; ValueError if a figure is of another kind."""
    require(document.keys() <= set(REPORTED), "the fit report has other figures")
    report, like = FitReport(**{name: from_plain(v) for name, v in document.items()}), FitReport()
    for name in REPORTED:
        value, default = getattr(report, name), getattr(like, name)
        fits = type(value) is type(default)
        if isinstance(default, np.ndarray):
            fits = has_form(value, default.dtype, (n_columns,))
        elif fits and isinstance(default, list | dict):
            items = value.values() if isinstance(value, dict) else value
            fits = all(type(item) is ITEMS[name] for item in items)
        require(fits, f"{name} of the fit report does not fit")
    require(report.n_columns == n_columns, "the fit report is one of another model")
    report.summary()  # OverflowError here for numbers that cannot be shown
    return report
