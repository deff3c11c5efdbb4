"""Conversion of fitted estimators to JSON values and arrays, and back."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.inputs.parameters import as_scalar
from hssvm.estimators.models.reports import pack_report, unpack_report
from hssvm.persistence import write_model
from hssvm.persistence.archive import has_form, require
from hssvm.persistence.plain import from_plain, to_plain
from hssvm.persistence.predictors import Arrays, pack_predictor, unpack_predictor
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor, Predictor


class SavableEstimator(BaseEstimator):
    """An estimator with a `save` method.

    A subclass lists its own attributes in `_saved`, checks them in `_after_load`, and is one of the
    classes of `hssvm.loading.model`. A file stores what its `_predictor` needs.
    """

    _saved: ClassVar[tuple[str, ...]] = ("intercept_",)
    """Small fitted attributes of this class that a file stores, besides predictor and report."""

    intercept_: NDArray[np.float64]

    _exact: ExpansionPredictor | None
    _compressed: LeafwisePredictor | None
    _fingerprint: int = 0
    _forest_seed: int = 0

    target_name_: str | int | None = None
    """Name of the target column, or its index if the columns had no names; None if unknown."""

    data_checksum_: int | None = None
    """Checksum of the training data, set by the command line to resume only on the same data."""

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """ADMM iterations plus steps on the exact kernel, (n_columns,), at most `max_iter`."""
        if "fit_report_" not in vars(self) or self.fit_report_.n_rows == 0:
            raise AttributeError(
                "n_iter_ is unknown unless hssvm has trained the model; reduced models, and models "
                "from LIBSVM files, do not have it"
            )
        return self.fit_report_.n_iter + self.fit_report_.n_steps

    def _saved_names(self) -> list[str]:
        """Attributes of this class and its bases, the bases first."""
        bases = reversed(type(self).__mro__)
        return [name for base in bases for name in vars(base).get("_saved", ())]

    def _after_load(self, n_columns: int) -> None:
        """Check the attributes of `_saved`, and set attributes derived from them.

        They come from a file, and may be anything: raise ValueError unless they match a predictor
        with `n_columns` columns.
        """
        self._check_saved()
        require(
            has_form(self.intercept_, np.float64, (n_columns,))
            and np.isfinite(self.intercept_).all(),
            "intercept_ is invalid",
        )

    def _check_saved(self) -> None:
        """Check the attributes that do not depend on the predictor."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, for `hssvm.load`.

        The file contains plain arrays and JSON, and no code. It stores what prediction needs: leaf
        weights for approximations, support vectors otherwise. If the fit was stopped early, it
        also stores the coefficients, so that `warm_start` resumes a loaded model. An existing file
        is replaced only when the new one is complete.

        joblib and pickle store the whole model, with any kernel and parameter, but their files
        depend on the versions of hssvm and scikit-learn, and can run code when loaded.
        `hssvm.save` also stores the encoder of a pipeline.

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
        self._write(path)

    def _write(self, path: str | os.PathLike[str], encoder: dict[str, Any] | None = None) -> None:
        """Write a file with the JSON values of the encoder that is in front of the model."""
        check_is_fitted(self)
        cls = type(self)
        if cls.__module__.partition(".")[0] != "hssvm":
            raise ValueError(
                f"model files store the estimators of hssvm, but not your class {cls.__name__}; "
                "use joblib.dump"
            )
        document, arrays = self._pack()
        document["encoder"] = encoder
        try:
            restore_model(cls, json.loads(json.dumps(document)), dict(arrays))
        except ValueError as error:
            raise ValueError(
                f"the model cannot be saved, because the file could not be loaded: {error}"
            ) from error
        write_model(path, cls.__name__, document, arrays)

    def _require_exact(self, what: str) -> ExpansionPredictor:
        """Return the exact predictor; raise ValueError if there are no support vectors."""
        if self._exact is None:
            raise ValueError(
                f"{what} needs the support vectors, which the file of an approximation does not "
                "store; fit again, or save the whole model with joblib"
            )
        return self._exact

    def _require_exact_predictions(self, what: str) -> ExpansionPredictor:
        """Return the exact predictor of a fitted model; ValueError if it predicts with another."""
        check_is_fitted(self)
        if not self._predictor().rows_are_support:
            also = "" if self.approximation is None else " and approximation=None"
            raise ValueError(
                f"{what} needs a model that predicts with the exact kernel, but this one predicts "
                f"with an approximation; fit with refine=True{also}"
            )
        return self._require_exact(what)

    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        """Return the JSON document of a file, and its arrays."""
        try:
            kernel = to_plain(self.kernel_)
        except TypeError:
            raise ValueError(
                f"model files cannot contain the kernel {self.kernel_!r}; use joblib.dump, or a "
                "kernel of hssvm.kernels that is a formula of rows of numbers"
            ) from None
        predictor = self._predictor()
        packed, arrays = pack_predictor(predictor)
        if predictor.rows_are_support:
            if hasattr(self, "support_"):  # unknown if the model comes from LIBSVM
                arrays["support"] = self.support_.astype(np.int64, copy=False)
        elif hasattr(self, "dual_coef_") and not UNFINISHED.isdisjoint(self.fit_report_.status):
            arrays["support"] = self.support_.astype(np.int64, copy=False)
            arrays["dual_coef"] = self.dual_coef_
            if predictor.compressed is not None and predictor.compressed.ids is not None:
                arrays["ids"] = predictor.compressed.ids
        packed |= {"kernel": kernel, "forest": self._pack_forest()}
        return {**self._pack_common(), **packed}, arrays

    def _pack_common(self) -> dict[str, Any]:
        """Return the entries that do not belong to the predictor."""
        names = getattr(self, "feature_names_in_", None)
        return {
            "parameters": self._pack_parameters(),
            "feature_names": None if names is None else list(names),
            "target_name": self.target_name_,
            "data_checksum": self.data_checksum_,
            "attributes": self._pack_attributes(),
            "fit_report": pack_report(self.fit_report_),
        }

    def _pack_forest(self) -> dict[str, int] | None:
        """What identifies the trees of a forest that can grow."""
        if "FEWER_TREES" not in self.fit_report_.status:
            return None
        return {"fingerprint": self._fingerprint, "seed": self._forest_seed}

    def _pack_parameters(self) -> dict[str, Any]:
        packed = {}
        for name, value in self.get_params(deep=False).items():
            try:
                packed[name] = to_plain(as_scalar(value))
            except TypeError:
                raise ValueError(
                    f"the parameter {name}={value!r} cannot be stored in a model file; use "
                    f"joblib.dump, or call set_params({name}=...) first, which does not change the "
                    "predictions"
                ) from None
        return packed

    def _pack_attributes(self) -> dict[str, Any]:
        packed = {}
        for name in self._saved_names():
            try:
                packed[name] = to_plain(getattr(self, name))
            except TypeError:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}, and model files store only numbers and "
                    "strings; convert the labels before fitting, or use joblib.dump"
                ) from None
        return packed

    def _restore(self, document: dict[str, Any], arrays: Arrays) -> None:
        """Set the fitted attributes from the results of `_pack`."""
        self.kernel_ = from_plain(document["kernel"])
        predictor = unpack_predictor(document, self.kernel_, arrays)
        self._restore_common(document, predictor.n_columns)
        self._restore_forest(document["forest"])
        if predictor.compressed is not None:
            self._require_trees(predictor.compressed)
        if predictor.rows_are_support:
            self._restore_support(predictor.weights.T, arrays.pop("support", None))
            self.support_vectors_ = predictor.X
        elif "dual_coef" in arrays:
            self._restore_support(arrays.pop("dual_coef"), arrays.pop("support"))
            require(len(self.dual_coef_) == predictor.n_columns, "dual_coef has a wrong shape")
        require(not arrays, f"it has unexpected arrays: {', '.join(arrays)}")
        self._restore_predictors(predictor)
        self._after_load(predictor.n_columns)
        self._predictor()

    def _restore_common(self, document: dict[str, Any], n_columns: int) -> None:
        """Set the attributes from the results of `_pack_common`."""
        self._restore_features(document)
        for name in self._saved_names():
            setattr(self, name, from_plain(document["attributes"][name]))
        self.fit_report_ = unpack_report(document["fit_report"], n_columns)

    def _require_trees(self, predictor: LeafwisePredictor) -> None:
        report, ids = self.fit_report_, predictor.ids
        require(report.n_trees == len(predictor.trees), "n_trees of the fit report is wrong")
        inside = ids is None or np.all((ids >= 0) & (ids < report.n_rows))
        require(inside, "ids has invalid row indices")

    def _restore_predictors(self, predictor: Predictor) -> None:
        """Set the predictors stored in the file."""
        self._exact, self._compressed = predictor.exact, predictor.compressed
        if self._exact is None and hasattr(self, "support_vectors_"):
            self._exact = ExpansionPredictor(self.kernel_, predictor.X, self.dual_coef_.T)

    def _restore_features(self, document: dict[str, Any]) -> None:
        self.n_features_in_, names = document["n_features"], document["feature_names"]
        if names is not None:
            valid = type(names) is list and len(names) == self.n_features_in_
            valid = valid and all(type(name) is str for name in names)
            require(valid, "feature_names is invalid")
            self.feature_names_in_ = np.array(names, dtype=object)
        self.target_name_, self.data_checksum_ = document["target_name"], document["data_checksum"]
        require(type(self.target_name_) in (str, int, type(None)), "target_name is invalid")
        require(type(self.data_checksum_) in (int, type(None)), "data_checksum is invalid")

    def _restore_forest(self, forest: dict[str, int] | None) -> None:
        if forest is not None:
            valid = all(type(value) is int and 0 <= value < 2**63 for value in forest.values())
            require(valid, "forest is invalid")
            self._fingerprint, self._forest_seed = forest["fingerprint"], forest["seed"]

    def _restore_support(self, dual_coef: NDArray[Any], support: NDArray[Any] | None) -> None:
        valid = dual_coef.ndim == 2 and dual_coef.dtype.kind == "f"
        require(valid and np.isfinite(dual_coef).all(), "dual_coef is invalid")
        self.dual_coef_ = np.ascontiguousarray(dual_coef)
        if support is None:
            require(self.fit_report_.n_rows == 0, "support is missing")
            return
        require(has_form(support, np.int64, (dual_coef.shape[1],)), "support is invalid")
        inside = np.all((support >= 0) & (support < self.fit_report_.n_rows))
        require(inside and np.unique(support).size == support.size, "support has invalid rows")
        self.support_ = support


Model = TypeVar("Model", bound=SavableEstimator)


def restore_model(cls: type[Model], document: dict[str, Any], arrays: Arrays) -> Model:
    """Create a fitted model from the document and arrays of a file; ValueError if invalid."""
    parameters = {key: from_plain(value) for key, value in document["parameters"].items()}
    unknown = sorted(parameters.keys() - inspect.signature(cls).parameters)
    require(
        not unknown,
        f"this version of {cls.__name__} has no parameter {unknown}; a later one may have it",
    )
    model = cls(**parameters)
    cls._restore(model, document, arrays)
    return model


UNFINISHED = {"STOPPED", "MAX_TIME", "MAX_ITER", "FEWER_TREES"}
"""Statuses of a fit that can be resumed."""
