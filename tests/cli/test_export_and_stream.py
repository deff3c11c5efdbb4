"""``hssvm export``, and ``hssvm predict`` with Parquet files."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from helpers.command import run_here
from numpy.testing import assert_allclose, assert_array_equal

import hssvm
import hssvm.io.parquet

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((300, 3))
    return X, np.where(np.hypot(X[:, 0], X[:, 1]) < 1.1, "in", "out")


@pytest.fixture
def folder(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hssvm.io.parquet.PART_ROWS", 64)
    X, y = rows
    hssvm.SVC(probability="sigmoid", random_state=0).fit(X, y).save("rings.hssvm")
    write_rows(X, y)
    return tmp_path


def write_rows(X, y=None, path="rows.parquet"):
    columns = {} if y is None else {"y": y}
    columns |= {f"x{j}": X[:, j] for j in range(X.shape[1])}
    parquet.write_table(pyarrow.table(columns), path, row_group_size=100)


def call(*arguments):
    result = run_here(*arguments, cwd=".")
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def fail(*arguments):
    result = run_here(*arguments, cwd=".")
    assert result.returncode != 0
    return " ".join(result.stderr.split())


def test_parquet_in_and_out(folder, rows):
    X, y = rows
    model = hssvm.load("rings.hssvm")
    predict = ("predict", "rings.hssvm", "rows.parquet", "--target", "y")
    accuracy = np.mean(model.predict(X) == y)
    assert f"accuracy {accuracy:.4f} on 300 rows" in call(*predict, "-o", "labels.parquet")
    labels = parquet.read_table("labels.parquet")
    assert labels.column_names == ["prediction"]
    assert labels["prediction"].to_pylist() == model.predict(X).tolist()
    call(*predict, "--values", "-o", "values.parquet")
    values = parquet.read_table("values.parquet")["decision"].to_numpy()
    assert_allclose(values, model.decision_function(X))
    call(*predict, "--probability", "-o", "probabilities.parquet")
    found = parquet.read_table("probabilities.parquet")
    assert found.column_names == ["probability_in", "probability_out"]
    assert_allclose(np.transpose([c.to_numpy() for c in found.columns]), model.predict_proba(X))
    call(*predict, "-o", "labels.txt")
    assert Path("labels.txt").read_text().split() == model.predict(X).tolist()


def test_regression_is_scored_over_all_parts(folder, rng):
    X = rng.standard_normal((300, 3))
    y = 1000 + X[:, 0] + 0.3 * rng.standard_normal(300)
    model = hssvm.SVR(random_state=0).fit(X, y)
    model.save("line.hssvm")
    write_rows(X, y)
    output = call("predict", "line.hssvm", "rows.parquet", "--target", "y", "-o", "values.txt")
    assert f"R^2 {model.score(X, y):.4f} on 300 rows" in output


def test_only_some_rows_are_in_memory(folder, rows, monkeypatch):
    X, _ = rows
    sizes = []
    original = hssvm.SVC.predict

    def recorded(self, X):
        sizes.append(len(X))
        return original(self, X)

    monkeypatch.setattr(hssvm.SVC, "predict", recorded)
    write_rows(np.tile(X, (2, 1)))
    call("predict", "rings.hssvm", "rows.parquet", "-o", "labels.txt")
    assert sum(sizes) == 600
    assert max(sizes) <= 64


def test_messages_name_the_row_of_the_file(folder, rows):
    X, y = rows
    X[250, 1] = np.nan
    write_rows(X, y)
    Path("labels.txt").write_text("old\n")
    predict = ("predict", "rings.hssvm", "rows.parquet", "--target", "y", "-o", "labels.txt")
    assert "row 250 is nan" in fail(*predict)
    assert Path("labels.txt").read_text() == "old\n"
    empty = pyarrow.table({f"x{j}": np.empty(0) for j in range(3)})
    parquet.write_table(empty, "empty.parquet")
    assert "has no rows" in fail("predict", "rings.hssvm", "empty.parquet")
    Path("broken.parquet").write_bytes(b"PAR1 and nothing else")
    assert "cannot be read as Parquet" in fail("predict", "rings.hssvm", "broken.parquet")


def test_export(folder, rows):
    X, _ = rows
    model = hssvm.load("rings.hssvm")
    assert "Python file rings.py" in call("export", "rings.hssvm", "rings.py")
    call("export", "rings.hssvm", "rings.txt", "--numpy")
    for path in ("rings.py", "rings.txt"):
        assert_array_equal(runpy.run_path(path)["predict"](X), model.predict(X))
    assert "pass --numpy" in fail("export", "rings.hssvm", "rings.bin")
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    assert "ONNX model rings.onnx" in call("export", "rings.hssvm", "rings.onnx")
    session = runtime.InferenceSession("rings.onnx", providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"X": X.astype(np.float32)})
    assert_allclose(scores, model.decision_function(X), atol=1e-4)
