"""The mean of several models, which predicts, certifies and is stored like a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hssvm.estimators.base import BaseKernelSVM
from hssvm.estimators.inputs.valid_rows import ValidRows, same_scaling
from hssvm.estimators.models.model import KernelModel
from hssvm.estimators.models.saving import restore_model
from hssvm.kernels.base import Floats
from hssvm.persistence.archive import require
from hssvm.persistence.predictors import Arrays
from hssvm.predictors import ExpansionPredictor
from hssvm.training.certificate import Certificate
from hssvm.training.reports.combined import combined_report

OF_ONE_MODEL = {
    "support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "coef_", "kernel_",
    "feature_shift_", "feature_factor_", "feature_quantiles_",
}  # fmt: skip
"""Attributes that the mean of several models does not have."""


class MeanModel(BaseKernelSVM):
    """A model, or the mean of the decision values or predictions of several models.

    The mean has no attributes of its own for prediction: it computes the values of its members. A
    model without members is its only member.
    """

    _member_class: ClassVar[type[BaseKernelSVM]]
    _members: Sequence[BaseKernelSVM] = ()

    @property
    def members_(self) -> list[BaseKernelSVM]:
        """The models of which this one is the mean, the best first; only itself if it is one."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has no members_ before it is fitted")
        return list(self._members) or [self]

    @property
    def _averaged(self) -> Sequence[KernelModel]:
        return self.members_

    if not TYPE_CHECKING:  # else any attribute would pass for one

        def __getattr__(self, name: str) -> Any:
            if name in OF_ONE_MODEL and vars(self).get("_members"):
                raise AttributeError(
                    f"a mean of {len(self._members)} models has no {name}, but each of them has; "
                    f"use members_[0].{name}, or fit with max_members=1"
                )
            return object.__getattribute__(self, name)  # raises the error of the attribute

    def _become(self, members: Sequence[BaseKernelSVM]) -> None:
        """Take over the fitted attributes of a single model, or become the mean of several."""
        first = members[0]
        fitted = {k: v for k, v in vars(first).items() if k not in first.get_params(deep=False)}
        for name in {*fitted, "out_of_fold_decision_"} - self._validated().keys():
            self.__dict__.pop(name, None)  # set by an earlier fit
        if len(members) == 1:
            self.__dict__.update(fitted, _members=())
            return
        self._set_members(members)
        self.background_ = members[0].background_
        self.background_weight_ = members[0].background_weight_
        shares = [vars(member)["_feature_scales"] for member in members]
        learned = [share / share.sum() for share in shares if share is not None]
        self._feature_scales = np.mean(learned, axis=0) if learned else None
        self.fit_report_ = combined_report([member.fit_report_ for member in members])

    def _set_members(self, members: Sequence[BaseKernelSVM]) -> None:
        """Set the members; they share the arrays of equal scalings."""
        self._members, self._exact, self._compressed = tuple(members), None, None
        for i, member in enumerate(members):
            own = member._scaling
            same = [one._scaling for one in members[:i] if same_scaling(one._scaling, own)]
            if same:
                member._set_scaling(same[0], member._feature_scales)

    def _decision_values(self, X: Any) -> Floats:
        if not self._members:
            return super()._decision_values(X)
        check_is_fitted(self)
        rows = X
        if not isinstance(X, ValidRows):
            rows = self._validate_new(X, self._members[0]._predictor().X.dtype)
        values = self._members[0]._outputs(rows)
        for member in self._members[1:]:
            values = values + member._outputs(rows)
        return values / len(self._members)

    def _require_exact_predictions(self, what: str) -> ExpansionPredictor:
        if not self._members:
            return super()._require_exact_predictions(what)
        raise ValueError(
            f"{what} needs a single model, but this one is the mean of {len(self._members)}; use "
            "one of them, such as members_[0], or fit with max_members=1"
        )

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rows: int | None = None
    ) -> Certificate:
        """Compute the objective values and duality gap on the exact kernel; see `SVC.certify`.

        A mean of several models solves no training problem, but each of them does: the certificate
        has the columns of all `members_` side by side.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        n_rows : int, optional
            Evaluate only this many random rows, and return a confidence interval.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        if not self._members:
            return super().certify(X, y, sample_weight, n_rows=n_rows)
        members: Sequence[Any] = self._members
        return Certificate.joined(
            [member.certify(X, y, sample_weight, n_rows=n_rows) for member in members]
        )

    def _saved_names(self) -> list[str]:
        names = super()._saved_names()
        return [name for name in names if not (self._members and name in OF_ONE_MODEL)]

    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        if not self._members:
            return super()._pack()
        documents, arrays = [], {}
        for i, member in enumerate(self._members):
            document, own = member._pack()
            documents.append(document)
            arrays.update({f"member{i}_{name}": array for name, array in own.items()})
        common = {"n_features": self.n_features_in_, "members": documents}
        return {**self._pack_common(), **common}, arrays

    def _restore(self, document: dict[str, Any], arrays: Arrays) -> None:
        if "members" not in document:
            super()._restore(document, arrays)
            return
        documents, members = document["members"], []
        require(len(documents) > 1, "it is the mean of fewer than two models")
        for i, own in enumerate(documents):
            prefix = f"member{i}_"
            names = [name for name in arrays if name.startswith(prefix)]
            parts = {name.removeprefix(prefix): arrays.pop(name) for name in names}
            members.append(restore_model(self._member_class, own, parts))
        require(not arrays, f"it has unexpected arrays: {', '.join(arrays)}")
        self._set_members(members)
        self.background_ = members[0].background_
        self.background_weight_ = members[0].background_weight_
        n_columns = sum(member.fit_report_.n_columns for member in members)
        self._restore_common(document, n_columns)
        self.fit_report_.n_members = len(members)
        same = all(member.n_features_in_ == self.n_features_in_ for member in members)
        require(same, "its members have different features")
        same = len({member._predictor().X.dtype for member in members}) == 1
        require(same, "its members have different precisions")
        self._check_features(["_feature_scales"])
        self._check_saved()
