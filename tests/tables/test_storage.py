"""Model files with an encoder: the same predictions, or a ValueError if they were changed."""

import base64
import io
import warnings
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pyarrow
import pytest
from helpers.command import run_here
from helpers.encoder_mutants import encoder_changed, schema_changed, steps_changed, with_encoder
from helpers.frames import COLUMNS, NAMES_OF_POLARS, make_column, make_frame
from helpers.outcomes import pipeline_outcome
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

import hssvm
from hssvm import SVC, SVCCV, SVR
from hssvm.arrow import predict_batches
from hssvm.exceptions import DataWarning
from hssvm.tables import TableEncoder

MUTANTS = 60
NAMES = "few levels", "many levels", "numbers with gaps", "dates", "only missing", "categories"


def trained(model, rng, names=NAMES, **parameters):
    X = make_frame(names, rng)
    y = rng.permutation(np.arange(len(X)) % 2)
    return make_pipeline(TableEncoder(**parameters), model).fit(X, y), X


@pytest.mark.parametrize("name", COLUMNS)
def test_all_kinds_of_columns(name, rng, tmp_path):
    model, X = trained(SVC(), rng, [name, "numbers"])
    hssvm.save(model, tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    X[name] = make_column(name, rng)
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded[0].describe() == model[0].describe()
    assert (tmp_path / "model").stat().st_size < 200_000


@pytest.mark.parametrize("model", [SVC(scaling="standard"), SVR(), SVCCV(max_members=2, cv=2)])
def test_all_kinds_of_models(model, rng, tmp_path):
    pipeline, X = trained(model, rng)
    hssvm.save(pipeline, tmp_path / "model")
    assert_array_equal(hssvm.load(tmp_path / "model").predict(X), pipeline.predict(X))


def test_pipelines_are_saved(rng, tmp_path):
    pipeline, X = trained(SVC(scaling="standard"), rng)
    hssvm.save(pipeline, tmp_path / "both")
    hssvm.save(pipeline[-1], tmp_path / "model")
    assert isinstance(hssvm.load(tmp_path / "model"), SVC)
    assert_array_equal(hssvm.load(tmp_path / "both").predict(X), pipeline.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(TableEncoder(), OneHotEncoder(), SVC()),
        make_pipeline(OneHotEncoder(), SVC()),
        make_pipeline(TableEncoder(), OneHotEncoder()),
        OneHotEncoder(),
    ],
)
def test_other_pipelines_are_refused(model, tmp_path):
    """Also those with a step between encoder and model, which the file could not contain."""
    with pytest.raises(
        TypeError, match=r"but not .*OneHotEncoder.*; store it with skops or joblib"
    ):
        hssvm.save(model, tmp_path / "model")


def test_parameters_are_stored(rng, tmp_path):
    """An encoder that is trained again reads the columns in the same way."""
    parameters = {"categorical": ["integers"], "numeric": ["few levels"], "ignored": ["booleans"]}
    parameters["random_state"] = 7
    names = ["integers", "few levels", "booleans", "dates"]
    with pytest.warns(hssvm.exceptions.DataWarning):
        model, _ = trained(SVC(), rng, names, **parameters)
    hssvm.save(model, tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")[0]
    assert loaded.get_params() == parameters
    assert loaded.feature_names_in_.tolist() == names


READER = TfidfVectorizer(input="filename")

STEPS = {
    "function": np.testing.assert_array_equal,
    "model": SVC(),
    "transformer": PolynomialFeatures(2),
    "files": READER,
    "files in a pipeline": make_pipeline(SimpleImputer(), READER),
    "cached": make_pipeline(SimpleImputer(), memory="folder"),
    "pipeline": make_pipeline(OneHotEncoder(), OneHotEncoder()),
    "partial": partial(open, "file"),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_only_transformers_are_restored(step, rng, tmp_path):
    model, _ = trained(SVC(), rng)
    model[0].columns_[0].steps.append(step)
    hssvm.save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"it contains |it reads files"):
        hssvm.load(tmp_path / "model")


def test_another_version_of_skrub_is_refused(rng, tmp_path, monkeypatch):
    model, _ = trained(SVC(), rng)
    hssvm.save(model, tmp_path / "model")
    monkeypatch.setattr("hssvm.tables.storage.version", lambda package: "99.1")
    with pytest.raises(ValueError, match=r"and this is skrub 99\.1: install that version"):
        hssvm.load(tmp_path / "model")


def test_an_encoder_of_another_model_is_refused(rng, tmp_path):
    model, _ = trained(SVC(), rng)
    other, _ = trained(SVC(), rng, ["dates"])
    with pytest.raises(ValueError, match="the encoder has 6 outputs, but the model has 15"):
        hssvm.save(make_pipeline(other[0], model[-1]), tmp_path / "model")


@pytest.fixture(scope="module")
def saved(request, tmp_path_factory):
    rng = np.random.default_rng(request.config.getoption("--seed"))
    model, X = trained(SVC(), rng)
    path = tmp_path_factory.mktemp("saved") / "model"
    hssvm.save(model, path)
    return path, path.read_bytes(), X


@pytest.mark.parametrize("change", [encoder_changed, steps_changed, schema_changed])
def test_mutants(change, saved, rng):
    path, content, X = saved
    path.write_bytes(content)
    assert pipeline_outcome(path, X) == "loaded"
    outcomes = []
    for _ in range(MUTANTS):
        seed = int(rng.integers(2**63))
        try:
            path.write_bytes(change(content, np.random.default_rng(seed)))
            outcomes.append(pipeline_outcome(path, X))
        except Exception as error:
            error.add_note(f"{change.__name__} with a generator of seed {seed}")
            raise
    assert outcomes.count("refused") > MUTANTS / 5


def test_a_bomb_is_refused(saved):
    path, content, _ = saved

    def change(encoder):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("schema.json", b"0" * 10**8)
        return encoder | {"steps": base64.b64encode(file.getvalue()).decode()}

    path.write_bytes(with_encoder(content, change))
    with pytest.raises(ValueError, match="it is too large"):
        hssvm.load(path)


def test_another_version_is_named(saved):
    path, content, _ = saved
    path.write_bytes(with_encoder(content, lambda encoder: {"skrub": "0.1.2"}))
    with pytest.raises(ValueError, match=r"written with skrub 0\.1\.2, .* install that version"):
        hssvm.load(path)


def test_another_version_of_scikit_learn_warns_once_if_it_matters(saved, rng, tmp_path):
    """Numbers need none of its transformers."""
    path, content, X = saved
    path.write_bytes(with_encoder(content, lambda encoder: encoder | {"scikit-learn": "1.1"}))
    with pytest.warns(DataWarning, match=r"written with scikit-learn 1\.1, and this is") as caught:
        model = hssvm.load(path)
    assert len(caught) == 1
    path.write_bytes(content)
    assert_array_equal(model.predict(X), hssvm.load(path).predict(X))
    numbers, _ = trained(SVC(), rng, ["numbers", "numbers with gaps", "currency"])
    hssvm.save(numbers, path)
    path.write_bytes(
        with_encoder(path.read_bytes(), lambda encoder: encoder | {"scikit-learn": "1.1"})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hssvm.load(path)
    path.write_bytes(content)


def test_frames_of_the_pipeline(saved):
    path, content, X = saved
    path.write_bytes(content)
    model = hssvm.load(path)
    other = X.iloc[:5, ::-1].assign(more=pd.Series(["x"] * 5))
    assert_array_equal(model.predict(other), model.predict(X)[:5])


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_between_encoder_and_model(output, rng, tmp_path):
    X = make_frame(["few levels", "numbers with gaps"], rng, 200)
    y = np.where(X["numbers with gaps"].fillna(0) > 0.5, "yes", "no")
    model = make_pipeline(TableEncoder(), SVC(scaling="standard")).set_output(transform=output)
    expected = model.fit(X, y).predict(X)
    hssvm.save(model, tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    if output == "pandas" or NAMES_OF_POLARS:
        assert list(loaded[-1].feature_names_in_) == list(model[-1].feature_names_in_)
    assert_array_equal(loaded.predict(X), expected)
    table = pyarrow.Table.from_pandas(X)
    for pipeline in (model, loaded):
        found = pyarrow.Table.from_batches(predict_batches(pipeline, table))
        assert found["prediction"].to_pylist() == expected.tolist()
    X.to_csv(tmp_path / "rows.csv", index=False)
    run_here("predict", "model", "rows.csv", "-o", "labels.txt", cwd=tmp_path)
    assert (tmp_path / "labels.txt").read_text().split() == expected.tolist()
