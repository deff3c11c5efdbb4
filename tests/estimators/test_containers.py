"""Frames of pandas and Polars, Arrow tables and arrays of other libraries give the same models."""

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.frames import NAMES_OF_POLARS
from sklearn.base import clone, is_classifier
from sklearn.exceptions import DataConversionWarning

import hssvm.dropin
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
    QuantileSVRCV,
    svc_path,
)
from hssvm.tables import TableEncoder

N = 60

SCORED = {"random_state": 0, "out_of_fold": True}

MODELS = {
    "SVC": SVC(probability=True, random_state=0),
    "SVCCV": SVCCV([1.0], cv=2, probability=True, random_state=0),
    "SVR": SVR(**SCORED),
    "SVRCV": SVRCV([1.0], cv=2, **SCORED),
    "QuantileSVR": QuantileSVR(quantile=(0.2, 0.8), **SCORED),
    "QuantileSVRCV": QuantileSVRCV([1.0], cv=2, **SCORED),
    "CensoredSVR": CensoredSVR(random_state=0),
    "KernelRidge": KernelRidge(**SCORED),
    "GaussianProcessRegressor": GaussianProcessRegressor(**SCORED),
    "OneClassSVM": OneClassSVM(random_state=0),
    **{f"dropin.{cls}": getattr(hssvm.dropin, cls)() for cls in ("SVC", "NuSVC", "SVR", "NuSVR")},
    "dropin.OneClassSVM": hssvm.dropin.OneClassSVM(),
}

OF_ROWS = [
    "predict", "predict_proba", "decision_function", "score_samples", "predict_set",
    "predict_interval", "gradient",
]  # fmt: skip

OF_TRAINING = ["score", "certify", "estimate_cost"]


FRAMES = {
    "pandas": pd.DataFrame, "Polars": pl.DataFrame, "Arrow": pa.table,
    "Arrow batch": pa.RecordBatch.from_pydict,
}  # fmt: skip

COLUMNS = {
    "pandas": lambda values: pd.Series(values, name="target"),
    "Polars": lambda values: pl.Series("target", values),
    "Arrow": lambda values: pa.chunked_array([values]),
    "Arrow batch": pa.array,
}


@pytest.fixture
def data(rng):
    return dict(zip(("width", "height", "depth"), rng.standard_normal((3, N)), strict=True))


@pytest.fixture
def rows(data):
    return np.stack(list(data.values()), axis=1)


def targets(model, rows):
    if isinstance(model, OneClassSVM | hssvm.dropin.OneClassSVM):
        return None
    return np.where(rows[:, 0] > 0, "yes", "no") if is_classifier(model) else rows[:, 0] ** 2


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("name", MODELS)
def test_every_method_of_every_estimator(name, library, data, rows, rng):
    if "dropin" in name and library == "Arrow batch":
        pytest.skip("scikit-learn, which validates these, does not see the names of its columns")
    y, weight = targets(MODELS[name], rows), rng.uniform(0.5, 1.5, N)
    expected = clone(MODELS[name]).fit(rows, y, sample_weight=weight)
    frame, column = FRAMES[library](data), None if y is None else COLUMNS[library](y)
    model = clone(MODELS[name]).fit(frame, column, sample_weight=COLUMNS[library](weight))
    named = library != "Polars" or NAMES_OF_POLARS
    if named:
        assert list(model.feature_names_in_) == list(data)
    if y is not None and "Arrow" not in library and "dropin" not in name:
        assert model.target_name_ == "target"
    called = 0
    for method in (method for method in OF_ROWS if hasattr(expected, method)):
        found = getattr(model, method)(frame)
        np.testing.assert_array_equal(found, getattr(expected, method)(rows))
        assert type(found) is np.ndarray
        called += 1
    assert called >= 1 + hasattr(expected, "decision_function")
    other, theirs = ((frame, column), (rows, y)) if y is not None else ((frame,), (rows,))
    for method in (method for method in OF_TRAINING if hasattr(expected, method)):
        found = getattr(model, method)(*other)
        if method == "score":
            assert found == pytest.approx(expected.score(*theirs), abs=1e-12)
        elif method == "certify":
            np.testing.assert_array_equal(found.gap, expected.certify(*theirs).gap)
    if hasattr(model, "explain"):
        np.testing.assert_array_equal(model.explain(frame).values, expected.explain(rows).values)
    if named:
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(FRAMES[library]({key: data[key] for key in sorted(data)}))


@pytest.mark.parametrize("library", FRAMES)
def test_names_of_targets_in_frames_of_one_column(library, data, rows):
    labels = targets(SVC(), rows)
    with pytest.warns(DataConversionWarning):
        model = SVC().fit(rows, FRAMES[library]({"kind": labels}))
    assert model.target_name_ == "kind"
    np.testing.assert_array_equal(model.predict(rows), SVC().fit(rows, labels).predict(rows))


@pytest.mark.parametrize("library", FRAMES)
def test_single_precision_is_kept(library, data, rows):
    data = {name: values.astype(np.float32) for name, values in data.items()}
    rows, labels, frame = rows.astype(np.float32), targets(SVC(), rows), FRAMES[library](data)
    expected, model = SVC().fit(rows, labels), SVC().fit(frame, labels)
    assert model.support_vectors_.dtype == np.float32
    np.testing.assert_array_equal(model.decision_function(frame), expected.decision_function(rows))
    path, same = (svc_path(X, labels, [1.0]) for X in (frame, rows))
    np.testing.assert_array_equal(path.decision_function(frame), same.decision_function(rows))
    mixed = FRAMES[library]({**data, "width": data["width"].astype(np.float64)})
    assert SVC().fit(mixed, labels).support_vectors_.dtype == np.float64


@pytest.mark.parametrize("library", FRAMES)
def test_several_targets_and_ends(library, rows):
    both = np.stack([rows[:, 0], rows[:, 1] ** 2], axis=1)
    frame = FRAMES[library]({"one": both[:, 0], "other": both[:, 1]})
    expected = SVR().fit(rows, both)
    np.testing.assert_array_equal(SVR().fit(rows, frame).predict(rows), expected.predict(rows))
    ends = np.stack([rows[:, 0], np.where(rows[:, 1] > 0, np.inf, rows[:, 0])], axis=1)
    frame = FRAMES[library]({"low": ends[:, 0], "high": ends[:, 1]})
    expected = CensoredSVR().fit(rows, ends)
    model = CensoredSVR().fit(rows, frame)
    np.testing.assert_array_equal(model.predict(rows), expected.predict(rows))
    assert model.score(rows, frame) == expected.score(rows, ends)


@pytest.mark.parametrize("library", FRAMES)
def test_paths(library, data, rows):
    labels = targets(SVC(), rows)
    expected = svc_path(rows, labels, [1.0, 2.0]).decision_function(rows)
    frame = FRAMES[library](data)
    path = svc_path(frame, COLUMNS[library](labels), [1.0, 2.0])
    np.testing.assert_array_equal(path.decision_function(frame), expected)
    if library != "Polars" or NAMES_OF_POLARS:
        with pytest.raises(ValueError, match="feature names should match"):
            path.predict(FRAMES[library]({key: data[key] for key in sorted(data)}))


@pytest.mark.parametrize(
    ("values", "contents"),
    [
        (pa.array(["a"] * N), "text or categories"),
        (pa.array(["a"] * N).dictionary_encode(), "text or categories"),
        (pa.array([[1]] * N), "text or categories"),
        (pa.array([0] * N, pa.date32()), "dates"),
        (pa.array([0] * N, pa.timestamp("us")), "dates"),
        (pa.array([0] * N, pa.duration("s")), "dates"),
        (pa.array([None, *range(N - 1)]), "missing values"),
        (pa.array([float("nan")] * N), "missing values"),
        (pa.array([None, *[True] * (N - 1)]), "missing values"),
        (pa.nulls(N), "missing values"),
    ],
)
def test_columns_of_arrow_that_are_not_numbers(values, contents, data, rows):
    labels, numbers = targets(SVC(), rows), pa.table(data)
    table, model = numbers.set_column(1, "height", values), SVC().fit(numbers, labels)
    search = SVCCV([1.0], cv=2).fit(numbers, labels)
    path = svc_path(numbers, labels, [1.0])
    for call in (model.predict, search.predict, path.predict, lambda X: SVC().fit(X, labels)):
        with pytest.raises(ValueError, match=f"column 'height' contains {contents}; encode the"):
            call(table)


def test_columns_of_arrow_that_are_numbers(data, rows):
    others = {
        "flag": pa.array(rows[:, 0] > 0),
        "count": pa.array(range(N), pa.uint8()),
        "share": pa.array(np.linspace(0, 1, N, dtype=np.float32)),
        "price": pa.array(range(N)).cast(pa.decimal128(24, 2)),
    }
    labels, plain = targets(SVC(), rows), [rows, *(np.asarray(v, float) for v in others.values())]
    expected = SVC().fit(np.column_stack(plain), labels).decision_function(np.column_stack(plain))
    table = pa.table({**data, **others})
    np.testing.assert_allclose(SVC().fit(table, labels).decision_function(table), expected)


def test_columns_with_the_names_of_attributes(rows):
    frame = pd.DataFrame(rows[:, :2], columns=["column_names", "schema"])
    model = SVC().fit(frame, targets(SVC(), rows))
    assert list(model.feature_names_in_) == ["column_names", "schema"]


def test_queries_are_refused(data, rows):
    for fit in (SVC().fit, TableEncoder().fit):
        with pytest.raises(ValueError, match=r"this is a query, .* call its method collect\(\)"):
            fit(pl.LazyFrame(data), targets(SVC(), rows))


class OtherArray:
    """An array of another library, which NumPy can read unless it is on another device."""

    def __init__(self, values, on_cpu=True):
        self.values, self.on_cpu, self.shape = values, on_cpu, values.shape

    def __dlpack__(self, **_):
        raise AssertionError("NumPy prefers __array__")

    def __array__(self, dtype=None, copy=None):
        if not self.on_cpu:
            raise RuntimeError("it is on device 1")
        return np.array(self.values, dtype)

    def __getitem__(self, _):
        raise AssertionError("rows of NumPy arrays are selected")


def array_libraries():
    return {
        "other": OtherArray,
        "torch": lambda values: pytest.importorskip("torch").asarray(values),
        "array_api_strict": lambda v: pytest.importorskip("array_api_strict").asarray(v),
    }


@pytest.mark.parametrize("library", array_libraries())
@pytest.mark.parametrize("name", MODELS)
def test_arrays_of_other_libraries(name, library, rows):
    if "dropin" in name and library == "other":
        pytest.skip("scikit-learn validates these")
    convert, y = array_libraries()[library], targets(MODELS[name], rows)
    y = (y == "yes").astype(int) if is_classifier(MODELS[name]) else y
    expected = clone(MODELS[name]).fit(rows, y, sample_weight=np.ones(N))
    weight, others = convert(np.ones(N)), None if y is None else convert(y)
    model = clone(MODELS[name]).fit(convert(rows), others, sample_weight=weight)
    for method in (method for method in OF_ROWS if hasattr(expected, method)):
        found = getattr(model, method)(convert(rows))
        np.testing.assert_array_equal(found, getattr(expected, method)(rows))
        assert type(found) is np.ndarray


def test_arrays_that_numpy_cannot_read(rows):
    labels = targets(SVC(), rows)
    message = r"cannot read this .*OtherArray \(it is on device 1\); copy it to the memory of the C"
    elsewhere = OtherArray(rows, on_cpu=False)
    for fit in (SVC().fit, SVCCV([1.0]).fit):
        for X, y in ((elsewhere, labels), (rows, OtherArray(rows[:, 0] > 0, on_cpu=False))):
            with pytest.raises(TypeError, match=message):
                fit(X, y)
    with pytest.raises(TypeError, match=message):
        SVC().fit(rows, labels).predict(elsewhere)
    torch = pytest.importorskip("torch")
    for options in ({"requires_grad": True}, {"dtype": torch.bfloat16}, {"device": "meta"}):
        with pytest.raises(TypeError, match=r"cannot read this torch\.Tensor .*; copy it to the m"):
            SVC().fit(torch.tensor(rows, **options), labels)


DISPATCHING = """
import array_api_strict as xp
import numpy as np
import sklearn
from hssvm import SVC, SVCCV, SVR
X = np.random.default_rng(0).standard_normal((60, 2))
for model, y in ((SVC(), X[:, 0] > 0), (SVCCV([1.0], cv=2), X[:, 0] > 0), (SVR(), X[:, 0])):
    with sklearn.config_context(array_api_dispatch=True):
        model.fit(xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(np.ones(60)))
        found = model.predict(xp.asarray(X))
    assert type(found) is np.ndarray
    assert model.score(X, y) > 0.8
"""


def test_arrays_are_converted_also_where_scikit_learn_dispatches():
    pytest.importorskip("array_api_strict")
    if find_spec("sklearn.externals.array_api_compat") is None:  # before 1.7
        pytest.importorskip("array_api_compat")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}  # read when SciPy is imported
    subprocess.run([sys.executable, "-c", DISPATCHING], env=environment, check=True)
