"""Frames with columns of all kinds."""

import datetime
import decimal
import uuid

import numpy as np
import pandas as pd
import polars
from sklearn.utils.validation import _get_feature_names

N_ROWS = 60

NAMES_OF_POLARS = _get_feature_names(polars.DataFrame({"a": [1.0]})) is not None
"""Whether scikit-learn reads the names of frames of Polars; 1.6 does not in those of Polars 2."""


def dates(rng, n):
    return pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), "min")


COLUMNS = {
    "numbers": lambda rng, n: rng.standard_normal(n),
    "integers": lambda rng, n: rng.integers(-5, 1000, n),
    "numbers with gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
    "nullable integers": lambda rng, n: pd.array(rng.integers(0, 9, n), "Int64"),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "nullable booleans": lambda rng, n: pd.array(
        rng.choice(np.array([True, False, None]), n), "boolean"
    ),
    "few levels": lambda rng, n: rng.choice(["red", "green", "blue"], n),
    "two levels": lambda rng, n: rng.choice(["yes", "no"], n),
    "levels with gaps": lambda rng, n: rng.choice(np.array(["a", "b", None], dtype=object), n),
    "many levels": lambda rng, n: [f"street {i % 11}" for i in rng.permutation(n)],
    "all different": lambda rng, n: [str(uuid.UUID(int=int(i))) for i in rng.permutation(n)],
    "numbers as text": lambda rng, n: rng.random(n).round(3).astype(str),
    "dates": dates,
    "dates with a zone": lambda rng, n: dates(rng, n).tz_localize("UTC").tz_convert("Asia/Tokyo"),
    "dates as text": lambda rng, n: dates(rng, n).strftime("%Y-%m-%d"),
    "objects that are dates": lambda rng, n: [
        datetime.date(2020, 1, 1) + datetime.timedelta(int(i)) for i in rng.integers(0, 99, n)
    ],
    "dates with gaps": lambda rng, n: dates(rng, n).to_series().mask(rng.random(n) < 0.3),
    "currency": lambda rng, n: [f"${i:,}" for i in rng.integers(0, 10**6, n)],
    "percent": lambda rng, n: [f"{x:.1f} %" for x in rng.standard_normal(n)],
    "thousands": lambda rng, n: [f"{i:,}".replace(",", " ") for i in rng.integers(0, 10**6, n)],
    "durations": lambda rng, n: pd.to_timedelta(rng.integers(0, 99, n), "D"),
    "categories": lambda rng, n: pd.Categorical(rng.choice(["x", "y", "z"], n)),
    "ordered categories": lambda rng, n: pd.Categorical(
        rng.choice([1, 2, 3], n), categories=[3, 2, 1], ordered=True
    ),
    "intervals": lambda rng, n: pd.cut(rng.random(n), 4),
    "periods": lambda rng, n: pd.PeriodIndex(dates(rng, n), freq="M"),
    "decimals": lambda rng, n: [decimal.Decimal(int(i)) / 8 for i in rng.integers(0, 99, n)],
    "text and numbers": lambda rng, n: rng.choice(np.array([1, 2.5, "x", None], dtype=object), n),
    "only missing": lambda rng, n: [None] * n,
    "constant": lambda rng, n: ["same"] * n,
    "empty text": lambda rng, n: [""] * n,
    "large numbers": lambda rng, n: rng.integers(10**15, 10**16, n),
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
}  # fmt: skip
"""Functions of a generator and a number of rows, which return the values of a column."""

REFUSED = {
    "lists": lambda rng, n: [[1, 2]] * n,
    "complex numbers": lambda rng, n: rng.random(n) + 1j,
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.5, np.inf, rng.random(n)),
    "too large": lambda rng, n: rng.random(n) * 1e300,
}


def make_column(name, rng, n=N_ROWS):
    values = {**COLUMNS, **REFUSED}[name](rng, n)
    return values.reset_index(drop=True) if isinstance(values, pd.Series) else pd.Series(values)


def make_frame(names, rng, n=N_ROWS):
    return pd.DataFrame({name: make_column(name, rng, n) for name in names})
