"""Random estimators, and rows for them."""

import warnings

import numpy as np
import scipy.sparse

from hssvm import HSS, SVC, SVCCV, SVR, SVRCV, OneClassSVM
from hssvm.kernels import Gaussian, Linear


def draw_estimator(rng):
    """An estimator with small leaves; about half of them stay on the compressed kernel."""
    kernels = [
        "rbf",
        "laplacian",
        "exponential",
        "matern32",
        "poly",
        "linear",
        Gaussian(0.5) + Linear(),
    ]
    options = {
        "kernel": kernels[rng.integers(len(kernels))],
        "scaling": [None, "standard", "minmax"][rng.integers(3)],
        "refine": bool(rng.integers(2)),
        "tol": 0.1,
        "approximation": HSS(leaf_size=32, max_rank=8),
        "random_state": 0,
    }
    searched = {"Cs": [0.1, 1.0], "cv": 2}
    match rng.integers(5):
        case 0 | 1:
            of_classes = {
                "multi_class": ["auto", "ovr", "ovo"][rng.integers(3)],
                "probability": [None, "sigmoid", "isotonic", "temperature"][rng.integers(4)],
            }
            return SVC(**options, **of_classes) if rng.random() < 0.7 else SVCCV(
                **options, **searched
            )  # fmt: skip
        case 2:
            return SVR(out_of_fold=bool(rng.integers(2)), **options)
        case 3:
            return SVRCV(**options, **searched)
    return OneClassSVM(nu=0.2, **options)


def draw_rows(rng, n):
    """Rows, dense or CSR, float32 or float64, and labels, which also serve as targets."""
    X = rng.standard_normal((n, int(rng.integers(1, 6))))
    y = np.digitize(X.sum(axis=1) + 0.3 * rng.standard_normal(n), [[0.0], [-1.0, 1.0]][n % 2])
    X = X.astype([np.float32, np.float64][rng.integers(2)])
    if rng.random() < 0.5:
        X = scipy.sparse.csr_array(X * (rng.random(X.shape) < 0.7))
    return X, y


def fit(model, X, y):
    """Fit without warnings: random parameters need not suit random rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)
