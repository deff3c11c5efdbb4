"""Shapley values on the command line."""

import numpy as np
import pandas as pd
import pytest
from helpers.command import run_here
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose

import hssvm
from hssvm.io import parquet

NAMES = ["u", "v", "w", "x", "y", "base_value"]


def run(*arguments, cwd, code=0):
    quiet = ["-q"] if arguments[0] == "train" else []
    done = run_here(*arguments, *quiet, cwd=cwd)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def table(rng):
    """A table of numbers, with a feature named as the column that is added."""
    X, y = noisy_classes(rng, 300)
    return pd.DataFrame(X, columns=NAMES).assign(label=np.where(y > 0, "yes", "no"))


@pytest.fixture
def trained(table, tmp_path):
    table.to_csv(tmp_path / "rows.csv", index=False)
    run(
        "train", "rows.csv", "-o", "model.hssvm", "--target", "label", "--probability", "sigmoid",
        cwd=tmp_path,
    )  # fmt: skip
    return tmp_path


def read(path):
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


@pytest.mark.parametrize("name", ["values.csv", "values.parquet"])
def test_values_are_those_of_python_in_any_parts(name, trained, table, monkeypatch):
    monkeypatch.setattr(parquet, "PART_ROWS", 70)
    table.to_parquet(trained / "rows.parquet")
    done = run("explain", "model.hssvm", "rows.parquet", "-o", name, cwd=trained)
    found = read(trained / name)
    model = hssvm.load(trained / "model.hssvm")
    expected = model.explain(table[NAMES])
    assert list(found.columns) == [*NAMES, "base_value_"]
    assert_allclose(found[NAMES], expected.values, rtol=1e-8, atol=1e-8)
    assert_allclose(found["base_value_"], expected.base_values, rtol=1e-8)
    decision = model.decision_function(table[NAMES])
    assert_allclose(found.sum(axis=1), decision, atol=1e-4)  # the model is in float32
    largest = NAMES[int(expected.importances.argmax())]
    means = f"300 rows; mean absolute values: {largest} {expected.importances.max():.3g}"
    assert means in done.stdout and ", ..." in done.stdout


def test_stdout_has_the_values_only(trained, table):
    done = run("explain", "model.hssvm", "rows.csv", cwd=trained)
    lines = done.stdout.splitlines()
    assert lines[0] == ",".join([*NAMES, "base_value_"]) and len(lines) == 301
    assert "mean absolute values" in done.stderr


def test_backgrounds_and_log_odds(trained, table):
    table[:9].to_csv(trained / "background.csv", index=False)
    run(
        "explain", "model.hssvm", "rows.csv", "-o", "values.csv", "--log-odds",
        "--background", "background.csv", cwd=trained,
    )  # fmt: skip
    model, X = hssvm.load(trained / "model.hssvm"), table[NAMES]
    expected = model.explain(X, X[:9], output="log_odds")
    assert_allclose(read(trained / "values.csv")[NAMES], expected.values, rtol=1e-7, atol=1e-7)


def test_columns_of_an_encoded_table(trained, table, rng):
    table["city"] = rng.choice(["Graz", "Linz", "Wien"], 300)
    table.loc[::9, "v"] = np.nan
    table.to_csv(trained / "encoded.csv", index=False)
    run(
        "train", "encoded.csv", "-o", "encoded.hssvm", "--target", "label", "--scale", "standard",
        cwd=trained,
    )  # fmt: skip
    run("explain", "encoded.hssvm", "encoded.csv", "-o", "values.parquet", cwd=trained)
    found = read(trained / "values.parquet")
    assert list(found.columns) == [*NAMES, "city", "base_value_"]
    model = hssvm.load(trained / "encoded.hssvm")
    X = table.drop(columns="label")
    assert_allclose(found.sum(axis=1), model.decision_function(X), atol=1e-4)


def test_several_classes(trained, table):
    table["label"] = np.digitize(table["u"], [-0.5, 0.5])
    table.to_csv(trained / "three.csv", index=False)
    run("train", "three.csv", "-o", "three.hssvm", "--target", "label", cwd=trained)
    run("explain", "three.hssvm", "three.csv", "-o", "values.csv", cwd=trained)
    found, model = read(trained / "values.csv"), hssvm.load(trained / "three.hssvm")
    expected = model.explain(table[NAMES])
    assert list(found.columns[:7]) == [f"{name}_0.0" for name in [*NAMES, "base_value_"]]
    assert_allclose(found["w_2.0"], expected.values[:, 2, 2], rtol=1e-7, atol=1e-8)
    assert_allclose(found["base_value__1.0"], expected.base_values[:, 1], rtol=1e-7)


def test_errors_are_single_lines(trained, table):
    run("train", "rows.csv", "-o", "other.hssvm", "--target", "label", "--kernel", "poly",
        cwd=trained)  # fmt: skip
    done = run("explain", "other.hssvm", "rows.csv", "-o", "values.csv", cwd=trained, code=1)
    assert "is not a product over the features" in done.stderr
    assert not (trained / "values.csv").exists()
    done = run("explain", "other.hssvm", "rows.csv", "--log-odds", cwd=trained, code=1)
    assert "--log-odds needs probabilities; fit with --probability sigmoid" in done.stderr
    table.drop(columns="v").to_csv(trained / "less.csv", index=False)
    done = run("explain", "model.hssvm", "less.csv", cwd=trained, code=1)
    assert "'v'" in done.stderr
    done = run("explain", "model.hssvm", "rows.csv", "-o", "rows.csv", cwd=trained, code=2)
    assert "rows.csv would be overwritten" in done.stderr.replace("\n", " ")
