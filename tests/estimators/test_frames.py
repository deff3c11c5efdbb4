"""Data frames: errors name the columns that are not numbers, and say how to encode them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline

from hssvm import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    CensoredSVR,
    GaussianProcessRegressor,
    KernelRidge,
    OneClassSVM,
    QuantileSVR,
    svc_path,
)
from hssvm.tables import TableEncoder

N = 60


def remedy(error, model):
    """Do what an error says."""
    pattern = r'TableEncoder: (make_pipeline\(.*\)), where the model has (\w+)="(\w+)"$'
    expression, name, value = re.search(pattern, str(error)).groups()
    model.set_params(**{name: value})
    pieces = {"make_pipeline": make_pipeline, "TableEncoder": TableEncoder, "model": model}
    return eval(expression, pieces)


@pytest.fixture
def numbers(rng):
    return pd.DataFrame(rng.standard_normal((N, 2)), columns=["width", "height"])


@pytest.fixture
def y(numbers):
    return (numbers["width"] > 0).to_numpy().astype(int)


def columns(rng):
    city = rng.choice(["Oslo", "Rome"], N)
    day = pd.date_range("2024-01-01", periods=N)
    first_missing = np.arange(N) == 0
    return {
        "text": (city, "text or categories"),
        "objects": (pd.Series(city, dtype=object), "text or categories"),
        "text with None": (np.where(first_missing, None, city), "text or categories"),
        "category": (pd.Categorical(city), "text or categories"),
        "category of numbers": (pd.Categorical(rng.integers(2, size=N)), "text or categories"),
        "dates": (day, "dates"),
        "dates with a time zone": (day.tz_localize("Europe/Rome"), "dates"),
        "durations": (day - day[0], "dates"),
        "NaN": (np.where(first_missing, np.nan, 1.0), "missing values"),
        "nullable": (pd.array([None, *range(N - 1)], "Int64"), "missing values"),
        "None": (pd.Series([None, *range(N - 1)], dtype=object), "missing values"),
    }


@pytest.mark.parametrize("kind", list(columns(np.random.default_rng(0))))
def test_errors_name_the_column_and_a_remedy_that_works(kind, numbers, y, rng):
    values, contents = columns(rng)[kind]
    frame = numbers.assign(other=values)
    with pytest.raises(ValueError, match=f"but column 'other' contains {contents}; ") as caught:
        SVC().fit(frame, y)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    model = remedy(caught.value, SVC(scaling="standard", C=10.0)).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model.predict(frame[:5]).size == 5


def test_a_column_of_dates_alone_is_not_a_number(y):
    dates = pd.date_range("2024-01-01", periods=N)
    for frame in (pd.DataFrame({"day": dates}), pd.DataFrame({"day": dates - dates[0]})):
        with pytest.raises(ValueError, match="column 'day' contains dates") as caught:
            SVC().fit(frame, y)
        remedy(caught.value, SVC(scaling="standard")).fit(frame, y)
    array = dates.to_numpy()[:, None]
    with pytest.raises(ValueError, match=r"X contains dates; .* X\.astype\('int64'\)"):
        SVC().fit(array, y)


def test_all_columns_are_named_at_once(numbers, y, rng):
    found = columns(rng)
    frame = numbers.assign(
        city=found["text"][0], sort=found["category"][0], day=found["dates"][0], age=found["NaN"][0]
    )
    message = (
        "X must contain numbers, but columns 'city', 'sort' contain text or categories and column "
        "'day' contains dates and column 'age' contains missing values; encode"
    )
    with pytest.raises(ValueError, match=message) as caught:
        SVC().fit(frame, y)
    model = remedy(caught.value, SVC(scaling="standard")).fit(frame, y)
    assert np.isfinite(model.decision_function(frame)).all()
    unnamed = frame.set_axis(range(6), axis=1)
    with pytest.raises(ValueError, match="columns 2, 3 contain text") as caught:
        SVC().fit(unnamed, y)
    remedy(caught.value, SVC(scaling="standard")).fit(unnamed, y)
    many = pd.concat([frame[["city"]].add_suffix(str(i)) for i in range(8)], axis=1)
    with pytest.raises(ValueError, match="'city4' and 3 more contain text") as caught:
        SVC().fit(many, y)
    remedy(caught.value, SVC()).fit(many, y)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        SVR(),
        QuantileSVR(),
        CensoredSVR(),
        KernelRidge(),
        GaussianProcessRegressor(),
        OneClassSVM(),
        SVCCV([1.0]),
        SVRCV([1.0]),
        "path",
    ],
)
def test_every_estimator_names_the_columns(estimator, numbers, y, rng):
    text, missing = numbers.assign(height=columns(rng)["text"][0]), numbers.assign(height=np.nan)

    def fit(X):
        if estimator == "path":
            return svc_path(X, y, [1.0])
        return clone(estimator).fit(X, y)

    model = fit(numbers)
    for frame, contents in ((text, "text or categories"), (missing, "missing values")):
        for call in (fit, model.predict):
            with pytest.raises(ValueError, match=f"column 'height' contains {contents}"):
                call(frame)
    for method in ("certify", "estimate_cost"):
        if hasattr(model, method):
            targets = () if isinstance(model, OneClassSVM) else (y,)
            with pytest.raises(ValueError, match="column 'height' contains text"):
                getattr(model, method)(text, *targets)


def test_other_columns_than_those_of_the_fit_are_named_first(numbers, y, rng):
    model = SVC().fit(numbers, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(numbers.assign(city=columns(rng)["text"][0]))


def test_columns_that_are_numbers(numbers, y):
    frame = numbers.assign(
        flag=y > 0,
        count=pd.array(range(N), "Int64"),
        share=pd.array(np.linspace(0, 1, N), "Float32"),
        yes=pd.array(y > 0, "boolean"),
        objects=pd.Series(range(N), dtype=object),
    )
    plain = frame.astype(float).to_numpy()
    expected = SVC().fit(plain, y).decision_function(plain)
    np.testing.assert_allclose(SVC().fit(frame, y).decision_function(frame), expected)


def test_frames_of_polars(numbers, y, rng):
    polars = pytest.importorskip("polars")
    day = pd.date_range("2024-01-01", periods=N).to_numpy()
    plain = polars.DataFrame({name: numbers[name].to_numpy() for name in numbers})
    expected = SVC().fit(numbers, y).decision_function(numbers)
    np.testing.assert_allclose(SVC().fit(plain, y).decision_function(plain), expected)
    city = polars.Series(columns(rng)["text"][0])
    for values, contents in (
        (city, "text or categories"),
        (city.cast(polars.Categorical), "text or categories"),
        (polars.Series(day), "dates"),
        (polars.Series(day).cast(polars.Date), "dates"),
        (polars.Series(day - day[0]), "dates"),
        (polars.Series([None, *range(N - 1)]), "missing values"),
        (polars.Series([float("nan"), *map(float, range(N - 1))]), "missing values"),
        (polars.Series([None, *(y[1:] > 0)]), "missing values"),
    ):
        frame = plain.with_columns(values.alias("other"))
        with pytest.raises(ValueError, match=f"column 'other' contains {contents}; ") as caught:
            SVC().fit(frame, y)
        remedy(caught.value, SVC(scaling="standard")).fit(frame, y).predict(frame)
    flag = plain.with_columns(polars.Series(y > 0).alias("flag"))
    assert SVC().fit(flag, y).n_features_in_ == 3


@pytest.mark.parametrize(
    "missing",
    [
        [None, "a", "b"],
        [None, 0, 1],
        [np.nan, 0.0, 1.0],
        np.array([np.nan, "a", "b"], object),
        pd.Series([None, "a", "b"]),
        pd.Series([None, "a", "b"], dtype="string"),
        pd.Series([None, 0, 1], dtype="Int64"),
        pd.Series([None, "a", "b"], dtype="category"),
    ],
)
def test_missing_labels(missing, rng):
    X = rng.standard_normal((3, 2))
    for fit in (SVC().fit, SVC().estimate_cost, SVCCV(cv=2).fit):
        with pytest.raises(ValueError, match="y has missing values in 1 of 3 rows, first in row 0"):
            fit(X, missing)
    model = SVC().fit(X, ["a", "b", "a"])
    with pytest.raises(ValueError, match="y has missing values"):
        model.certify(X, missing)


@pytest.mark.parametrize(
    "missing", [[0.0, None], [0.0, np.nan], pd.Series([1, None], dtype="Int64")]
)
def test_missing_targets(missing, rng):
    X = rng.standard_normal((2, 2))
    for fit in (SVR().fit, SVR().estimate_cost, SVRCV(cv=2).fit):
        with pytest.raises(ValueError, match="y has missing values in 1 of 2 rows, first in row 1"):
            fit(X, missing)


def test_targets_of_other_types(rng):
    X = rng.standard_normal((4, 2))
    for labels in (["a", 1, "b", 2], np.array(["a", 1, "b", 2], object)):
        with pytest.raises(TypeError, match=r"different types, int and str; convert") as caught:
            SVC().fit(X, labels)
        convert = re.search(r"for example with (\[.*\])$", str(caught.value)).group(1)
        assert SVC().fit(X, eval(convert, {"y": labels})).classes_.tolist() == ["1", "2", "a", "b"]
        with pytest.raises(ValueError, match="y contains labels, not numbers; use SVC"):
            SVR().fit(X, labels)
    assert SVC().fit(X, [1, 2.0, True, 2]).classes_.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", [SVC, SVR, SVCCV, SVRCV])
def test_the_target_may_be_a_frame_with_one_column(kind, numbers, y):
    with pytest.warns(DataConversionWarning) as warned:
        model = kind(random_state=0).fit(numbers, pd.DataFrame({"size": y}))
    assert len(warned) == 1
    assert model.target_name_ == "size"
    series = kind(random_state=0).fit(numbers, pd.Series(y, name="size"))
    assert series.target_name_ == "size"
    np.testing.assert_array_equal(model.predict(numbers), series.predict(numbers))
