"""Predictions of Arrow record batches, and the engines that hand them over."""

from itertools import chain

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hssvm
from hssvm import SVC, SVCCV, SVR, QuantileSVR
from hssvm.arrow import predict_batches
from hssvm.tables import TableEncoder

N = 400


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.standard_normal((N, 3)), columns=["a", "b", "c"])


@pytest.fixture
def labels(frame):
    return np.where(frame["a"] ** 2 + frame["b"] > 0.5, "yes", "no")


def batches_of(frame, size=150):
    return pyarrow.Table.from_pandas(frame, preserve_index=False).to_batches(size)


def joined(batches):
    return pyarrow.Table.from_batches(list(batches))


@pytest.mark.parametrize("as_path", [False, True])
@pytest.mark.parametrize("estimator", [SVC(random_state=0), SVCCV([1.0], random_state=0)])
def test_columns_in_another_order_and_others_to_keep(estimator, as_path, frame, labels, tmp_path):
    model = estimator.fit(frame, labels)
    rows = frame[["c", "b", "a"]].assign(id=np.arange(N), unused="text")
    path = tmp_path / "model"
    model.save(path)
    scored = joined(predict_batches(path if as_path else model, batches_of(rows), keep=["id", "a"]))
    assert scored.column_names == ["id", "a", "prediction"]
    assert_array_equal(scored["prediction"], model.predict(frame))
    assert_array_equal(scored["id"], np.arange(N))


def test_probabilities_and_decision_values(frame, labels):
    model = SVC(probability="sigmoid", random_state=0).fit(frame, labels)
    scored = joined(predict_batches(model, batches_of(frame), output="probability"))
    assert scored.column_names == ["probability_no", "probability_yes"]
    assert_allclose(scored["probability_yes"], model.predict_proba(frame)[:, 1], rtol=1e-12)
    scored = joined(predict_batches(model, batches_of(frame), output="decision"))
    assert_allclose(scored["decision"], model.decision_function(frame), rtol=1e-12)


def test_several_columns_of_predictions(frame, rng):
    Y = rng.standard_normal((N, 2))
    quantiles = QuantileSVR(quantile=[0.1, 0.9]).fit(frame, Y[:, 0])
    scored = joined(predict_batches(quantiles, batches_of(frame)))
    assert scored.column_names == ["prediction_0.1", "prediction_0.9"]
    same = QuantileSVR(quantile=[0.1, 0.1]).fit(frame, Y[:, 0])
    scored = joined(predict_batches(same, batches_of(frame)))
    assert scored.column_names == ["prediction_0", "prediction_1"]
    targets = SVR().fit(frame, Y)
    scored = joined(predict_batches(targets, batches_of(frame)))
    assert scored.column_names == ["prediction_0", "prediction_1"]
    assert_allclose(scored["prediction_1"], targets.predict(frame)[:, 1], rtol=1e-12)


def test_models_without_names_match_by_position(frame, labels):
    model = SVC(random_state=0).fit(frame.to_numpy(), labels)
    rows = frame.assign(id=np.arange(N))
    scored = joined(predict_batches(model, batches_of(rows), keep=["id"]))
    assert_array_equal(scored["prediction"], model.predict(frame.to_numpy()))


def test_an_encoder_reads_text_and_gaps(frame, labels, tmp_path):
    frame["city"] = np.where(frame["c"] > 0, "Rome", "Oslo")
    frame.loc[::7, "a"] = np.nan
    model = make_pipeline(TableEncoder(), SVC(random_state=0)).fit(frame, labels)
    hssvm.save(model, tmp_path / "model")
    scored = joined(predict_batches(tmp_path / "model", batches_of(frame), keep=["city"]))
    assert_array_equal(scored["prediction"], model.predict(frame))


def test_errors_name_the_column(frame, labels):
    model = SVC(random_state=0).fit(frame, labels)
    with pytest.raises(ValueError, match="lacks 'a', which the model was trained on"):
        next(predict_batches(model, batches_of(frame[["b", "c"]])))
    with pytest.raises(ValueError, match="no column 'id' to keep; their columns are 'a', 'b', 'c'"):
        next(predict_batches(model, batches_of(frame), keep=["id"]))
    frame.loc[3, "b"] = np.nan
    rows = pyarrow.Table.from_pandas(frame).to_batches()
    with pytest.raises(ValueError, match="column 'b' has no value in row 3"):
        next(predict_batches(model, rows))
    with pytest.raises(ValueError, match="column 'b' has no value in row 103"):
        list(predict_batches(model, batches_of(frame[100:].reset_index(), 50)[:2] + rows))
    with pytest.raises(ValueError, match="the SVC has no predict_proba; change the output"):
        predict_batches(model, rows, output="probability")
    with pytest.raises(ValueError, match="output must be one of 'prediction', 'probability'"):
        predict_batches(model, rows, output="labels")
    scored = frame.fillna(0).assign(prediction="yes")
    with pytest.raises(ValueError, match="the predictions have a column 'prediction'; do not keep"):
        next(predict_batches(model, batches_of(scored), keep="prediction"))
    nameless = SVC(random_state=0).fit(frame.to_numpy()[10:], labels[10:])
    with pytest.raises(ValueError, match="3 features without names, but the rows have 4 columns"):
        next(predict_batches(nameless, batches_of(scored)))


@pytest.mark.parametrize("output", ["prediction", "probability", "decision"])
def test_empty_batches_have_the_same_columns(output, frame, labels):
    model = SVC(random_state=0, probability="sigmoid").fit(frame, labels)
    rows = batches_of(frame)
    empty = rows[0].slice(0, 0)
    scored = list(predict_batches(model, [empty, *rows, empty], output=output, keep="a"))
    assert len({batch.schema for batch in scored}) == 1
    assert joined(scored).num_rows == N


def test_decimal_numbers(frame, labels):
    decimals = pyarrow.Table.from_pandas(frame.round(2)).cast(
        pyarrow.schema([(name, pyarrow.decimal128(6, 2)) for name in frame])
    )
    model = SVC(random_state=0).fit(frame, labels)
    scored = joined(predict_batches(model, decimals))
    assert_array_equal(scored["prediction"], model.predict(frame.round(2)))


def test_a_target_that_is_a_feature(frame):
    model = SVC(random_state=0).fit(frame, frame["a"] > 0)
    scored = joined(predict_batches(model, batches_of(frame)))
    assert_array_equal(scored["prediction"], model.predict(frame))


def test_models_that_are_refused(frame, labels):
    for model in (make_pipeline(StandardScaler(), SVC()), StandardScaler()):
        with pytest.raises(TypeError, match=r"expected a model of hssvm.* but not StandardScaler"):
            predict_batches(model, [])
    with pytest.raises(NotFittedError):
        predict_batches(SVC(), [])
    one = make_pipeline(SVC(random_state=0)).fit(frame, labels)
    assert_array_equal(joined(predict_batches(one, batches_of(frame)))[0], one.predict(frame))


def test_polars(frame, labels):
    model = SVC(random_state=0).fit(frame, labels)
    rows = polars.from_pandas(frame).with_row_index("id")
    batches = predict_batches(model, rows.to_arrow().to_batches(), keep=["id"])
    scored = polars.from_arrow(pyarrow.Table.from_batches(batches))
    assert_array_equal(scored["prediction"], model.predict(frame))


def test_duckdb(frame, labels, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    model = SVC(random_state=0).fit(frame, labels)
    frame.assign(id=np.arange(N)).to_parquet(tmp_path / "rows.parquet")
    with duckdb.connect() as database:
        reading = database.cursor()
        rows = reading.sql(f"from '{tmp_path / 'rows.parquet'}'").to_arrow_reader(100)
        batches = predict_batches(model, rows, keep=["id"])
        first = next(batches)
        scored = pyarrow.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        database.register("scored", scored)
        counts = database.sql("select prediction, count(*) from scored group by all").fetchall()
    assert dict(counts) == dict(
        zip(*np.unique(model.predict(frame), return_counts=True), strict=True)
    )
