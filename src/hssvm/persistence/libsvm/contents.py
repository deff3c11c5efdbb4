"""The content of a LIBSVM model file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels import Gaussian, Linear, Polynomial
from hssvm.kernels.base import Rows

CLASSIFIERS = "c_svc", "nu_svc"
REGRESSIONS = "epsilon_svr", "nu_svr"
SVM_TYPES = (*CLASSIFIERS, *REGRESSIONS, "one_class")


@dataclass(frozen=True, eq=False)
class LibsvmModel:
    """The content of a LIBSVM model file.

    Attributes
    ----------
    svm_type : str
        One of `SVM_TYPES`.
    kernel : Gaussian, Linear or Polynomial
    X : (n, p) array or CSR matrix
        Support vectors, grouped by class.
    coef : (n, n_classes - 1)
        Their coefficients; one column without classes.
    rho : (n_pairs,)
        Minus the intercepts; one number without classes.
    labels : (n_classes,) int64
        Empty without classes, like `counts`.
    counts : (n_classes,) int64
        Number of support vectors of each class.
    sigmoids : (2, n_pairs) or None
        probA and probB.
    """

    svm_type: str
    kernel: Gaussian | Linear | Polynomial
    X: Rows
    coef: NDArray[np.float64]
    rho: NDArray[np.float64]
    labels: NDArray[np.int64]
    counts: NDArray[np.int64]
    sigmoids: NDArray[np.float64] | None = None

    @property
    def n_classes(self) -> int:
        """The entry nr_class: 2 without classes."""
        return self.labels.size or 2
