"""The weights of the features of models with a linear kernel."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from hssvm.kernels import Linear
from hssvm.kernels.base import Floats
from hssvm.predictors import ExpansionPredictor
from hssvm.training import FitReport


class LinearWeightsMixin:
    """Mixin with `coef_`."""

    _exact: ExpansionPredictor | None
    fit_report_: FitReport

    @property
    def coef_(self) -> Floats:
        """Weights of the features, of exact models with ``kernel='linear'``.

        They refer to the scaled features if `scaling` is set. The shape is (1, p), or
        (n_classes or n_pairs, p) for more than two classes, as in `sklearn.svm.SVC`.
        """
        linear = isinstance(getattr(self, "kernel_", None), Linear)
        if not linear or self._exact is None or not self.fit_report_.exact_kernel:
            raise AttributeError(
                "coef_ is available for fitted models with kernel='linear' on the exact kernel; "
                "fit with kernel='linear' and refine=True"
            )
        X = self._exact.X
        unit = scipy.sparse.csr_array(scipy.sparse.identity(X.shape[1], X.dtype))
        return np.ascontiguousarray(self._exact(unit).T)
