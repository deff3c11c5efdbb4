"""Readers of the two sets whose features are made from what is published."""

import numpy as np
import pandas as pd
import scipy.sparse

CATEGORIES = (1, 2, 3)
"""Columns of KDD Cup 1999: the protocol, the service and the flag."""


def kddcup99(own, other, *, features):
    """Numbers, then one column for every category in the training or the test file.

    The positive class is any attack. The first file is the one that is read.
    """
    tables = [pd.read_csv(file, header=None) for file in (own, other)]
    rows = tables[0]
    labels = rows.pop(rows.columns[-1])
    blocks = [scipy.sparse.csr_matrix(rows.drop(columns=list(CATEGORIES)).to_numpy(np.float64))]
    for column in CATEGORIES:
        known = sorted(set(tables[0][column]) | set(tables[1][column]))
        place = rows[column].map({category: i for i, category in enumerate(known)})
        ones, ends = np.ones(len(rows)), np.arange(len(rows) + 1)
        shape = len(rows), len(known)
        blocks.append(scipy.sparse.csr_matrix((ones, place.to_numpy(), ends), shape))
    X = scipy.sparse.hstack(blocks, "csr")
    if X.shape[1] != features:
        raise ValueError(f"{X.shape[1]} columns instead of {features}")
    return X, np.where(labels == "normal.", -1, 1)


def power(file, *, features):
    """The rows of January to June 2007 without missing values; the target is the active power.

    Of the date and time, the features are the day of the year (from 0), the day of the week
    (0 is Monday) and the minute of the day.
    """
    table = pd.read_csv(file, sep=";", na_values="?", low_memory=False)
    table = table[table["Date"].str.fullmatch(r"\d+/[1-6]/2007")].dropna()
    when = pd.to_datetime(table["Date"] + " " + table["Time"], format="%d/%m/%Y %H:%M:%S").dt
    columns = [when.day_of_year - 1, when.day_of_week, 60 * when.hour + when.minute]
    measured = ["Global_reactive_power", "Voltage", *(f"Sub_metering_{i}" for i in (1, 2, 3))]
    X = np.column_stack([*columns, *(table[name] for name in measured)])
    return X.astype(np.float32), table["Global_active_power"].to_numpy(np.float32)
