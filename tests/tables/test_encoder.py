"""The encoder: how columns of all kinds are read, and what new rows may contain."""

import re
import warnings

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from helpers.frames import COLUMNS, N_ROWS, NAMES_OF_POLARS, REFUSED, make_column, make_frame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from hssvm import SVC, SVR
from hssvm.exceptions import DataWarning
from hssvm.tables import TableEncoder

KINDS = {
    "numbers": ("numbers", 1), "integers": ("numbers", 1), "numbers with gaps": ("numbers", 2),
    "booleans": ("numbers", 1), "few levels": ("categories", 3), "two levels": ("categories", 1),
    "many levels": ("categories", 1), "numbers as text": ("numbers", 1), "dates": ("dates", 6),
    "dates with gaps": ("dates", 7), "currency": ("numbers", 1), "percent": ("numbers", 1),
    "thousands": ("numbers", 1),
    "durations": ("numbers", 1), "categories": ("categories", 3),
    "ordered categories": ("categories", 3), "intervals": ("categories", 4),
    "only missing": ("empty", 0), "constant": ("categories", 1), "empty text": ("empty", 0),
}  # fmt: skip


def targets(rng, n=N_ROWS):
    return rng.permutation(np.arange(n) % 2)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_all_kinds(name, rng):
    X, y = make_frame([name, "numbers"], rng), targets(rng)
    encoder = TableEncoder()
    values = encoder.fit_transform(X, y)
    assert values.dtype == np.float32 and np.isfinite(values).all()
    assert values.shape == (N_ROWS, len(encoder.get_feature_names_out()))
    if name in KINDS and name != "numbers":
        column = encoder.columns_[0]
        assert (column.kind, len(column.outputs)) == KINDS[name]
    again = encoder.transform(X)
    if "means of targets" not in encoder.columns_[0].details:  # those of other rows in fitting
        assert_array_equal(again, values)
    with pytest.raises(ValueError, match="X has no rows"):
        encoder.transform(X.iloc[:0])


@pytest.mark.parametrize("name", REFUSED)
def test_refused_columns_are_named(name, rng):
    X = make_frame(["numbers", name], rng)
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        TableEncoder().fit(X)
    assert TableEncoder(ignored=[name]).fit_transform(X).shape == (N_ROWS, 1)


@pytest.mark.parametrize("name", COLUMNS)
def test_new_rows_may_contain_anything(name, rng):
    """Values of another kind are encoded, with a warning if they count as missing, or refused."""
    X = make_frame([name, "numbers"], rng)
    encoder = TableEncoder().fit(X, targets(rng))
    for other in (*COLUMNS, *REFUSED):
        X[name] = make_column(other, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", f"column {name!r} contains", DataWarning)
            try:
                values = encoder.transform(X)
            except ValueError as error:
                assert repr(name) in str(error)
            else:
                assert np.isfinite(values).all()


@st.composite
def frames(draw):
    """A seed, and the names of the columns, which may be repeated under other names."""
    names = draw(st.lists(st.sampled_from([*COLUMNS]), min_size=1, max_size=6))
    return draw(st.integers(0, 2**32 - 1)), names, draw(st.integers(2, 40))


@pytest.mark.parametrize("n_frames", [20, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:column:hssvm.exceptions.DataWarning")
def test_random_frames(n_frames):
    """Any columns, rows, order and missing values: finite numbers, or an error with the reason."""

    @given(frames())
    @settings(max_examples=n_frames, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def check(case):
        check_frame(*case)

    check()


def check_frame(seed, kinds, n):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"{kind} {j}": make_column(kind, rng, n) for j, kind in enumerate(kinds)})
    y = rng.integers(0, 3, n) if rng.random() < 0.5 else rng.standard_normal(n)
    encoder = TableEncoder()
    try:
        values = encoder.fit_transform(X, y)
    except ValueError as error:
        assert "no values in any column" in str(error)
        assert (X.isna() | (X.astype(str) == "")).to_numpy().all()
        return
    assert values.dtype == np.float32 and np.isfinite(values).all()
    assert len(encoder.describe().splitlines()) == X.shape[1]
    new = make_frame([], rng, 7)
    for j, kind in enumerate(kinds):
        new[f"{kind} {j}"] = make_column(kind, rng, 7)
    expected = encoder.transform(new)
    assert np.isfinite(expected).all()
    alone = [encoder.transform(new.iloc[[row]]) for row in range(7)]
    is_text = [column.details.endswith("parts of the text") for column in encoder.columns_]
    rounded = np.repeat(is_text, [len(column.outputs) for column in encoder.columns_])
    assert_array_equal(np.concatenate(alone)[:, ~rounded], expected[:, ~rounded])
    assert_allclose(np.concatenate(alone), expected, rtol=1e-4, atol=1e-5)
    new.insert(int(rng.integers(0, new.shape[1] + 1)), "new", "x")
    shuffled = new[list(rng.permutation(new.columns))]
    assert_array_equal(encoder.transform(shuffled), expected)
    shuffled = shuffled.astype(object).mask(rng.random(shuffled.shape) < 0.3, None)
    assert np.isfinite(encoder.transform(shuffled)).all()
    rows = rng.permutation(7)
    assert_array_equal(encoder.transform(new.iloc[rows]), expected[rows])


@pytest.mark.parametrize("convert", [polars.from_pandas, pyarrow.Table.from_pandas])
def test_tables_of_other_libraries(convert, rng):
    names = [name for name in KINDS if name not in ("intervals", "ordered categories")]
    X, y = make_frame(names, rng), targets(rng)
    encoder = TableEncoder()
    expected = encoder.fit_transform(X, y)
    assert_array_equal(clone(encoder).fit_transform(convert(X), y), expected)
    assert_array_equal(encoder.transform(convert(X)), encoder.transform(X))


def test_new_levels_are_none_of_those_known():
    X = pd.DataFrame({"color": ["red", "green", "blue"] * 10})
    encoder = TableEncoder().fit(X)
    rows = pd.DataFrame({"color": ["red", "pink", None]})
    assert encoder.get_feature_names_out().tolist() == ["color_blue", "color_green", "color_red"]
    assert encoder.transform(rows).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_of_two_levels_new_ones_count_as_the_first_with_a_warning():
    encoder = TableEncoder().fit(pd.DataFrame({"x": ["no", "yes"] * 10}))
    rows = pd.DataFrame({"x": [None, "new", "no", "yes"]})
    with pytest.warns(DataWarning, match="'no' and 'yes', but 2 of its values are missing or new"):
        assert encoder.transform(rows).tolist() == [[0], [0], [0], [1]]


@pytest.mark.parametrize(
    ("values", "others"),
    [
        ([1.0, 2.0, 2.5], ["1", "2", "2.5"]),
        ([1, 2, 3], [1.0, 2.0, 3.0]),
        ([1.0, 2.5, "x"], ["1", " 2.5", "x "]),
        ([" a", "b ", "c"], ["a", "b", "c"]),
        ([10**18, 10**18 + 1, 10**18 + 2], [str(10**18 + j) for j in range(3)]),
    ],
)
def test_levels_do_not_depend_on_their_type(values, others):
    """Nor on the rows beside them: a column of whole numbers may be stored in several ways."""
    X = pd.DataFrame({"code": pd.Series(values * 10, dtype=object)})
    for frame in (X, X.infer_objects()):
        encoder = TableEncoder(categorical=["code"])
        assert encoder.fit_transform(frame)[:3].tolist() == np.eye(3).tolist()
        for other in (values, others):
            for row, value in enumerate(other):
                found = encoder.transform(pd.DataFrame({"code": [value]}))
                assert found.tolist() == [np.eye(3)[row].tolist()]


def test_booleans_are_numbers_also_as_text(rng):
    flags = rng.random(60) < 0.5
    encoder = TableEncoder().fit(pd.DataFrame({"flag": flags}))
    for text in (flags.astype(str), np.char.lower(flags.astype(str)), flags.astype(int)):
        assert_array_equal(encoder.transform(pd.DataFrame({"flag": text}))[:, 0], flags)
    gaps = pd.Series(flags, dtype=object).mask(rng.random(60) < 0.2, None)
    assert TableEncoder().fit(pd.DataFrame({"flag": gaps})).columns_[0].kind == "numbers"


def test_rare_levels_have_a_mean_in_common(rng):
    """Else new rows of a level would be far from all rows that the model has seen."""
    levels = [*np.repeat([f"level {i}" for i in range(12)], 10), *(f"alone {i}" for i in range(40))]
    y = rng.standard_normal(160)
    encoder = TableEncoder()
    encoder.fit(X := pd.DataFrame({"level": levels}), y)
    values = encoder.transform(X)[:, 0]
    assert np.unique(values[:120]).size == 12
    assert np.unique(values[120:]).size == 1
    assert_allclose(values[120], y[120:].mean(), atol=0.1)


def test_differences_of_large_numbers_are_kept(rng):
    x = 1e8 + rng.integers(0, 8, 200)
    encoder = TableEncoder()
    values = encoder.fit_transform(X := pd.DataFrame({"x": x, "small": rng.random(200)}))
    assert_allclose(values[:, 0] - values[0, 0], x - x[0], atol=1e-4)
    assert_array_equal(encoder.transform(X), values)
    assert encoder.describe().splitlines()[0] == f"x      numbers  less {np.round(x.mean()):,.0f}"


def test_dates_are_read_in_one_order(rng):
    """Text beside real dates is year, month, day; numbers are not dates."""
    dates = pd.Series(pd.date_range("2020-01-01", periods=60))
    encoder = TableEncoder().fit(pd.DataFrame({"when": dates}))
    text = pd.DataFrame({"when": ["2020-02-03", "2020-02-15", "03/02/2020", None]})
    with pytest.warns(DataWarning, match="1 of its values cannot be read .* '03/02/2020'"):
        found = encoder.transform(text)[:, :3]
    assert_array_equal(found[:2], encoder.transform(pd.DataFrame({"when": dates[[33, 45]]}))[:, :3])
    with pytest.raises(ValueError, match=r"'when' cannot be encoded .it contains numbers"):
        encoder.transform(pd.DataFrame({"when": [20200101]}))


def test_missing_numbers_are_the_mean_beside_an_indicator():
    X = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]})
    encoder = TableEncoder()
    assert encoder.fit_transform(X).tolist() == [[1, 0, 1], [2, 1, 2], [3, 0, 3]]
    assert encoder.transform(pd.DataFrame({"a": [5.0], "b": [None]})).tolist() == [[5, 0, 2]]


@pytest.mark.parametrize("values", [[0, None, 4, 6], [4, 6, None, 0]])
def test_missing_dates_are_the_mean_beside_an_indicator(values):
    days = pd.to_datetime(pd.Series(values), unit="D", origin="2021-03-01")
    encoder = TableEncoder()
    encoded = encoder.fit_transform(pd.DataFrame({"when": days}))
    names = encoder.get_feature_names_out().tolist()
    assert names[-1] == "missingindicator_when" and encoder.columns_[0].details == "1 missing"
    day = names.index("when_day")
    assert_allclose(encoded[:, day], 1 + np.array([10 / 3 if v is None else v for v in values]))
    assert_array_equal(encoded[:, -1], days.isna())
    rows = pd.DataFrame({"when": ["2021-03-08", None, "soon"]})
    with pytest.warns(DataWarning, match="1 of its values cannot be read .* 'soon'"):
        found = encoder.transform(rows)
    assert_allclose(found[:, [day, -1]], [[8, 0], [13 / 3, 1], [13 / 3, 1]], rtol=1e-6)


NOISE_LEVELS, NOISE_COLUMNS = 60, 20


def test_held_out_scores_do_not_believe_noise(rng):
    """Of balanced classes that depend on nothing: with means of all rows, it is about 0.9."""
    X = rng.integers(0, NOISE_LEVELS, (600, NOISE_COLUMNS)).astype(str)
    X = pd.DataFrame(X, columns=[f"noise {j}" for j in range(NOISE_COLUMNS)])
    y, model = targets(rng, 600), SVC(C=10, scaling="standard", out_of_fold=True)
    encoder = TableEncoder(categorical=X.columns)
    honest = model.fit(encoder.fit_transform(X, y), y).fit_report_.out_of_fold_score
    of_all_rows = model.fit(encoder.transform(X), y).fit_report_.out_of_fold_score
    assert honest < 0.65 < 0.75 < of_all_rows


def test_means_of_targets_are_those_of_other_rows(rng):
    """The level of a row that has no other row does not tell its target."""
    levels = np.r_[
        np.repeat([f"level {i}" for i in range(30)], 20), [f"alone {i}" for i in range(400)]
    ]
    y = np.r_[np.repeat(rng.random(30), 20) + 0.01 * rng.random(600), rng.random(400)]
    encoder = TableEncoder()
    values = encoder.fit_transform(pd.DataFrame({"level": levels}), y)[:, 0]
    assert np.corrcoef(values[:600], y[:600])[0, 1] > 0.95
    assert abs(np.corrcoef(values[600:], y[600:])[0, 1]) < 0.3
    assert encoder.columns_[0].details == "430 levels, means of targets"


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (np.arange(60) % 2, 1),
        (np.array(["a", "b", "c"])[np.arange(60) % 3], 3),
        (np.arange(60), 1),
        (np.arange(60) / 7, 1),
        (np.r_[np.arange(59) % 3, 9], 1),
        (np.array([*range(59), 0.5], dtype=object), 1),
        (np.array([f"class {i}" for i in range(60)]), 10),
    ],
)
def test_targets_of_all_kinds(y, kind, rng):
    """Many levels have one feature for each class, or parts of their text if classes are rare."""
    X = make_frame(["many levels"], rng)
    assert TableEncoder().fit_transform(X, y).shape == (60, kind)
    assert TableEncoder().fit_transform(make_frame(["all different"], rng), y).shape == (60, 10)


def test_kinds_that_the_user_knows(rng):
    X = pd.DataFrame({
        "code": rng.integers(1, 5, 60), "zip": rng.integers(10000, 99999, 60),
        "size": ["large", "n/a", *map(str, range(58))], "note": ["x"] * 60,
    })  # fmt: skip
    with pytest.warns(
        DataWarning, match=r"'size' contains numbers, but 1 .* 'large'; .*\['size'\]"
    ):
        read = TableEncoder().fit(X)
    assert [column.kind for column in read.columns_] == ["numbers"] * 3 + ["categories"]
    encoder = TableEncoder(categorical=["code", "zip", "size"], ignored=["note"])
    encoder.fit(X, targets(rng))
    assert [column.details.split()[0] for column in encoder.columns_] == ["4", "60", "59"]
    assert encoder.describe().splitlines()[0] == "code  categories  4 levels"
    X["code"] = X["code"].astype(float)
    assert_array_equal(encoder.transform(X)[:, :4].sum(axis=1), 1)  # 1.0 is the level 1
    encoder = TableEncoder(numeric=["size"])
    with pytest.warns(DataWarning, match="'size' contains numbers, but 1 of its"):
        encoder.fit(X[["size"]])
    with pytest.warns(DataWarning, match="for example 'many'; they count as missing$"):
        assert encoder.transform(pd.DataFrame({"size": ["many"]})).tolist() == [[28.5, 1]]


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"categorical": ["a"]}, "X has no column 'a', which categorical names"),
        ({"ignored": "x"}, "ignored must be a list of names, got 'x'"),
        ({"ignored": ["x"]}, "X has no columns that are used"),
        ({"categorical": ["x"], "numeric": ["x"]}, "'x' cannot be both"),
    ],
)
def test_invalid_parameters(parameters, match):
    with pytest.raises(ValueError, match=match):
        TableEncoder(**parameters).fit(pd.DataFrame({"x": [1, 2]}))


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), [1], "several columns named 'a'; rename"),
        (pd.DataFrame({"a": [None, None]}), [0, 1], "no values in any column"),
        (pd.DataFrame({"a": [1, 2]}), [1], "X has 2 rows, and y has 1"),
        (pd.DataFrame({"a": [1, 2]}), [[1], [2]], "y must have one dimension"),
        (pd.DataFrame({"a": [1, 2]}), [1, np.nan], "y contains NaN"),
        ([1, 2], [1, 2], "X must be a table"),
        (polars.LazyFrame({"a": [1, 2]}), [1, 2], r"call its method collect\(\)"),
        (pd.DataFrame({"a": ["1,5", "2,5"]}), [1, 2], "'a' cannot be encoded .*decimal commas"),
    ],
)
def test_invalid_tables(X, y, match):
    with pytest.raises(ValueError, match=match):
        TableEncoder().fit(X, y)


def test_missing_columns_are_named(rng):
    encoder = TableEncoder().fit(make_frame(["numbers", "dates", "only missing"], rng))
    with pytest.raises(ValueError, match="X has no column 'dates', which the model was trained on"):
        encoder.transform(make_frame(["numbers"], rng))
    assert encoder.transform(make_frame(["dates", "numbers"], rng)).shape == (N_ROWS, 7)


def test_sums_by_column(rng):
    encoder = TableEncoder(ignored=["booleans"])
    X = make_frame(["few levels", "booleans", "only missing", "numbers"], rng)
    encoder.fit(X)
    assert encoder.sum_by_column(np.array([1.0, 2, 3, 10])).tolist() == [6, 0, 0, 10]
    assert encoder.sum_by_column(np.ones((2, 4))).shape == (2, 4)
    with pytest.raises(ValueError, match="values has 3 columns, but there are 4"):
        encoder.sum_by_column(np.ones(3))


def test_pipelines(rng):
    """Clone, folds, and the probabilities and scores of the model behind it."""
    X = make_frame(["few levels", "numbers with gaps", "dates", "many levels"], rng, 300)
    y = np.where((X["few levels"] == "red") ^ (X["numbers with gaps"] > 0.5), "yes", "no")
    model = make_pipeline(TableEncoder(), SVC(C=10, scaling="standard", probability="sigmoid"))
    found = cross_val_predict(clone(model), X, y, cv=5)
    assert (found == y).mean() > 0.75
    assert model.fit(X, y).predict_proba(X).shape == (300, 2)
    values = X["dates"].dt.month + 10.0 * (X["few levels"] == "red")
    model = make_pipeline(TableEncoder(), SVR(C=100, scaling="standard"))
    assert model.fit(X[:200], values[:200]).score(X[200:], values[200:]) > 0.8


def test_encoding_is_the_same_for_each_seed(rng):
    y = rng.standard_normal(200)
    for name in ("many levels", "all different"):
        X = make_frame([name], rng, 200)
        first, second, other = (
            TableEncoder(random_state=seed).fit_transform(X, y) for seed in (1, 1, 2)
        )
        assert_array_equal(first, second)
        if name == "many levels":
            assert not np.array_equal(first, other)
            assert_allclose(first.mean(), other.mean(), atol=0.2)


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("convert", [pd.DataFrame, polars.from_pandas, pyarrow.Table.from_pandas])
def test_frames_as_output(output, convert, rng):
    X, y = make_frame(["few levels", "numbers with gaps"], rng), targets(rng)
    encoder = TableEncoder().set_output(transform=output)
    expected = TableEncoder().fit_transform(X, y)
    if convert is pd.DataFrame:
        X.index += 7
    table = convert(X)
    for encoded in (encoder.fit_transform(table, y), encoder.transform(table)):
        assert type(encoded) is (pd.DataFrame if output == "pandas" else polars.DataFrame)
        assert list(encoded.columns) == list(encoder.get_feature_names_out())
        assert_array_equal(encoded.to_numpy(), expected)
        if output == "pandas" and isinstance(table, pd.DataFrame):
            assert encoded.index.equals(table.index)
    model = make_pipeline(encoder, SVR(scaling="standard")).fit(table, y)
    if output == "pandas" or NAMES_OF_POLARS:
        assert list(model[-1].feature_names_in_) == list(encoder.get_feature_names_out())
    plain = make_pipeline(TableEncoder(), SVR(scaling="standard")).fit(X, y)
    assert_array_equal(model.predict(table), plain.predict(X))
