"""Rows, classes and values that are drawn from a fixed seed."""

import numpy as np
import pandas as pd
import scipy.sparse

SHRINK = 1
"""Divisor of all numbers of rows; tests set it."""


def classes(n, n_classes=2, p=10):
    """Rings around the origin, with noise, in the first two of `p` features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n // SHRINK, p)).astype(np.float32)
    radius = np.hypot(X[:, 0], X[:, 1]) + 0.2 * rng.standard_normal(len(X))
    return X, np.digitize(radius, np.linspace(0, 2.4, n_classes + 1)[1:-1])


def values(n, p=10):
    """Waves along the first feature, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n // SHRINK, p)).astype(np.float32)
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(len(X))


def sparse_classes(n, p=500, density=0.03):
    """CSR rows, whose classes a plane separates, but for noise."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((n // SHRINK, p), density=density, rng=rng, format="csr")
    margin = X @ rng.standard_normal(p)
    return X.astype(np.float32), margin + 0.2 * rng.standard_normal(X.shape[0]) > 0


def frame(n):
    """A frame with numbers, categories, text and dates, and classes."""
    rng = np.random.default_rng(0)
    n //= SHRINK
    size = rng.lognormal(size=n)
    columns = {
        "size": np.where(rng.random(n) < 0.1, np.nan, size),
        "city": rng.choice(["Bern", "Oslo", "Rome"], n),
        "street": [f"street {i}" for i in rng.integers(0, 200, n)],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
    }
    return pd.DataFrame(columns), size > 1
