"""Random data of few rows for comparisons with LIBSVM, with kernels by their definition."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

LARGEST, N_NEW = 150, 30
"""Largest number of rows, and number of new rows."""


@dataclass
class Data:
    X: np.ndarray
    new: np.ndarray
    signal: np.ndarray
    weight: np.ndarray | None
    kernel: dict
    C: float
    nu: float
    epsilon: float
    balanced: bool
    single: bool  # whether all values of X are in float32

    @property
    def n(self):
        return len(self.X)

    @property
    def weights(self):
        return np.ones(self.n) if self.weight is None else self.weight

    def K(self, A, B):
        return kernel_matrix(self.kernel, A, B)

    def classes(self, rng, n_classes):
        """Class indices without gaps, sometimes with a large first class."""
        cuts = np.quantile(self.signal, np.arange(1, n_classes) / n_classes)
        y = np.searchsorted(cuts, self.signal)
        if rng.random() < 0.3:
            y = np.where(rng.random(self.n) < 0.8, 0, y)
        y[:2] = 0, 1
        return np.unique(y, return_inverse=True)[1]


def kernel_matrix(kernel, A, B, shift=0.0):
    """By definition; `shift` is added to squared distances, or to those of L1."""
    gamma = kernel["gamma"]
    match kernel["kernel"]:
        case "linear":
            return A @ B.T
        case "poly":
            return (gamma * A @ B.T + kernel["coef0"]) ** kernel["degree"]
    if kernel["kernel"] == "laplacian":
        return np.exp(-gamma * np.maximum(cdist(A, B, "cityblock") + shift, 0))
    squared = np.maximum(cdist(A, B, "sqeuclidean") + shift, 0)
    d = gamma * np.sqrt(squared)
    match kernel["kernel"]:
        case "rbf":
            return np.exp(-gamma * squared)
        case "exponential":
            return np.exp(-d)
        case "matern32":
            return (1 + 3**0.5 * d) * np.exp(-(3**0.5) * d)
        case "matern52":
            return (1 + 5**0.5 * d + 5 * d**2 / 3) * np.exp(-(5**0.5) * d)


def draw(rng, kernels):
    """Few rows, duplicates, rounded and constant features, weights, tiny and huge C and nu."""
    n, p = int(np.exp(rng.uniform(np.log(4), np.log(LARGEST)))), int(rng.integers(1, 15))
    X = rng.standard_normal((n + N_NEW, p)) * 10.0 ** rng.uniform(-1, 1)
    if rng.random() < 0.3:
        X = X[rng.integers(0, max(2, n // 2), len(X))]
    if rng.random() < 0.2:
        X = np.round(X)
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = rng.choice([0.0, 1.0, 100.0])
    if single := bool(rng.random() < 0.2):
        X = X.astype(np.float32).astype(np.float64)
    signal = np.sin(X @ rng.standard_normal(p) / max(X.std(), 1e-3)) + rng.normal(0, 0.3, len(X))
    weights = [None, None, rng.uniform(0.1, 3, n), rng.integers(1, 4, n).astype(np.float64)]
    # float32 has too few digits for a huge C, and fits stop with a warning
    log_C = (-6, 7) if rng.random() < 0.5 and not single else (-2, 3)
    return Data(
        X[:n],
        X[n:],
        signal[:n],
        weights[rng.integers(4)],
        {
            "kernel": str(rng.choice(kernels)),
            "gamma": float(10.0 ** rng.uniform(-2, 1) / (p * max(X.var(), 1e-3))),
            "coef0": float(rng.integers(2)),
            "degree": int(rng.integers(1, 4)),
        },
        10.0 ** rng.uniform(*log_C),
        float(rng.choice([0.001, 0.05, 0.3, 0.5, 0.9, rng.uniform(0.01, 1)])),
        float(rng.choice([0.0, 0.1, 1.0])),
        bool(rng.random() < 0.4),
        single,
    )
