"""Drop-in replacements for the classes of `sklearn.svm`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import _classes as libsvm_classes

from hssvm.dropin import duals
from hssvm.dropin.base import ExactFit
from hssvm.dropin.decision import predicted_classes
from hssvm.dropin.exact import UnsolvedError
from hssvm.dropin.expansion import Expansion
from hssvm.kernels.base import Floats, Kernel, Rows


class ExactClassifier(ExactFit):
    """Mixin for the classifiers."""

    classes_: NDArray[Any]
    class_weight_: Floats

    def _require_supported(self, X: Any, y: Floats, weight: Floats) -> None:
        super()._require_supported(X, y, weight)
        kept = np.bincount(y[weight > 0].astype(np.int64), minlength=len(self.classes_))
        if not kept.all():
            raise UnsolvedError("all rows of a class have a weight of 0 or less")
        if not (self.class_weight_ > 0).all():
            raise UnsolvedError("a class weight is 0 or less")

    def _predict_exactly(self, X: Any) -> NDArray[Any] | None:
        return predicted_classes(self, X)


class SVC(ExactClassifier, libsvm_classes.SVC):
    """`sklearn.svm.SVC`, trained by hssvm; see `hssvm.patch_sklearn`."""

    def _expand(self, kernel: Kernel, X: Rows, y: Floats, weight: Floats) -> Expansion:
        codes = y.astype(np.int64)
        cost = self.C * self.class_weight_[codes] * weight
        return duals.c_svc(kernel, X, codes, cost, len(self.classes_), self.tol)


class NuSVC(ExactClassifier, libsvm_classes.NuSVC):
    """`sklearn.svm.NuSVC`, trained by hssvm; see `hssvm.patch_sklearn`."""

    def _require_supported(self, X: Any, y: Floats, weight: Floats) -> None:
        super()._require_supported(X, y, weight)
        # LIBSVM tests all weights, and trains with those above 0
        for kept in (weight, np.maximum(weight, 0)):
            counts = np.sort(np.bincount(y.astype(np.int64), kept, len(self.classes_)))
            if self.nu * (counts[0] + counts[-1]) / 2 > counts[0]:
                raise UnsolvedError("nu is infeasible")

    def _expand(self, kernel: Kernel, X: Rows, y: Floats, weight: Floats) -> Expansion:
        codes = y.astype(np.int64)
        return duals.nu_svc(kernel, X, codes, weight, len(self.classes_), self.nu, self.tol)


class SVR(ExactFit, libsvm_classes.SVR):
    """`sklearn.svm.SVR`, trained by hssvm; see `hssvm.patch_sklearn`."""

    def _expand(self, kernel: Kernel, X: Rows, y: Floats, weight: Floats) -> Expansion:
        return duals.epsilon_svr(kernel, X, y, self.C * weight, self.epsilon, self.tol)


class NuSVR(ExactFit, libsvm_classes.NuSVR):
    """`sklearn.svm.NuSVR`, trained by hssvm; see `hssvm.patch_sklearn`."""

    def _expand(self, kernel: Kernel, X: Rows, y: Floats, weight: Floats) -> Expansion:
        return duals.nu_svr(kernel, X, y, self.C * weight, self.nu, self.tol)


class OneClassSVM(ExactFit, libsvm_classes.OneClassSVM):
    """`sklearn.svm.OneClassSVM`, trained by hssvm; see `hssvm.patch_sklearn`."""

    def _expand(self, kernel: Kernel, X: Rows, y: Floats, weight: Floats) -> Expansion:
        return duals.one_class(kernel, X, weight, self.nu, self.tol)

    def _predict_exactly(self, X: Any) -> NDArray[Any] | None:
        values = super()._predict_exactly(X)
        return None if values is None else np.where(values > 0, 1.0, -1.0)
