"""Rows and labels to fit."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler


def noisy_classes(rng, n, n_classes=2, dtype=np.float64):
    """Six standardized features, of which four matter; a tenth of the labels is wrong."""
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=1, n_classes=n_classes, flip_y=0.1,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    return StandardScaler().fit_transform(X).astype(dtype), y


def stripes(rng, n, p=2):
    """Two classes in stripes along the first feature, with some noise."""
    X = rng.uniform(-3, 3, (n, p))
    return X, np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(n) > 0


def waves_and_bowls(rng, n, p=3):
    """Two classes with names, with some noise."""
    X = rng.standard_normal((n, p))
    noise = 0.2 * rng.standard_normal(n)
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + noise > 0.6, "in", "out")


def two_moons(rng, n, noise=0.4):
    """Two half circles; labels are 1 and -1."""
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    angle = rng.uniform(0, np.pi, n)
    X = np.c_[np.cos(angle) * y + y / 2, np.sin(angle) * y]
    return X + noise * rng.standard_normal((n, 2)), y
