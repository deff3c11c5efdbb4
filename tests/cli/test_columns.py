"""Columns of tables: the model knows which were the labels and the features."""

import contextlib
import re
import subprocess
import sys

import numpy as np
import pytest
from helpers.command import run_here
from typer.testing import CliRunner

import hssvm
from hssvm.cli.app import app


def hssvm_run(*arguments, cwd, code=0, input=None):
    """In a process of its own where that matters: for streams."""
    if code != 0:
        run = run_here(*arguments, cwd=cwd)
        assert run.returncode == code, run.stderr
        return subprocess.CompletedProcess(
            arguments, code, run.stdout.encode(), run.stderr.encode()
        )
    if input is None:
        with contextlib.chdir(cwd):
            run = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        assert run.exit_code == 0, run.output
        return subprocess.CompletedProcess(arguments, 0, run.stdout_bytes, run.stderr_bytes)
    run = subprocess.run(
        [sys.executable, "-m", "hssvm", *arguments], capture_output=True, cwd=cwd, input=input
    )
    assert run.returncode == 0, run.stderr.decode()
    return run


def write(path, columns, header=True):
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines] if header else lines) + "\n")


@pytest.fixture
def rows(rng):
    """Two features of different scale and importance, and a label."""
    a, b = rng.standard_normal(400).round(4), (5 + 5 * rng.standard_normal(400)).round(4)
    return {"kind": np.where(a > 0, "up", "down"), "a": a, "b": b}


def accuracy(run):
    return float(re.search(r"accuracy ([\d.]+) on", run.stderr.decode())[1])


def shuffled(rows, *names):
    return {name: rows[name] for name in names}


@pytest.fixture
def trained(rows, tmp_path):
    write(tmp_path / "train.csv", shuffled(rows, "a", "b", "kind"))
    options = "--target", "kind", "--gamma", "0.5", "-q"
    run = hssvm_run("train", "train.csv", "-o", "model.hssvm", *options, cwd=tmp_path)
    assert re.search(r"labels +│ column 'kind' ", run.stdout.decode())
    assert re.search(r"features +│ 2: a, b ", run.stdout.decode())
    return tmp_path


def test_the_model_knows_its_columns(trained):
    model = hssvm.load(trained / "model.hssvm")
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.target_name_ == "kind"
    text = hssvm_run("info", "model.hssvm", cwd=trained).stdout.decode()
    assert re.search(r"features +2: a, b\n", text)
    assert re.search(r"classes +2: down, up\n", text)
    assert re.search(r"label column +kind\n", text)
    assert re.search(rf"support vectors +{len(model.support_)}\n", text)
    assert re.search(r"gamma +0.5\n", text)


def test_columns_in_another_order(trained, rows):
    """Reordered, with others between, without the label: the same predictions."""
    same = hssvm_run("predict", "model.hssvm", "train.csv", cwd=trained)
    assert accuracy(same) > 0.95
    write(trained / "other.csv", shuffled(rows, "b", "kind", "a"))
    other = hssvm_run("predict", "model.hssvm", "other.csv", cwd=trained)
    assert (other.stdout, accuracy(other)) == (same.stdout, accuracy(same))
    write(trained / "unlabelled.csv", {"id": [f"row {i}" for i in range(400)], "c": rows["a"],
                                       **shuffled(rows, "b", "a")})  # fmt: skip
    unlabelled = hssvm_run("predict", "model.hssvm", "unlabelled.csv", cwd=trained)
    assert unlabelled.stdout == same.stdout
    assert unlabelled.stderr.decode().splitlines() == [
        "hssvm: ignored 'id', 'c' of unlabelled.csv, not used in training"
    ]


def test_parquet_columns_in_another_order(trained, rows):
    pandas = pytest.importorskip("pandas")
    same = hssvm_run("predict", "model.hssvm", "train.csv", cwd=trained)
    pandas.DataFrame(shuffled(rows, "b", "a")).to_parquet(trained / "rows.parquet")
    assert hssvm_run("predict", "model.hssvm", "rows.parquet", cwd=trained).stdout == same.stdout


def test_missing_features_are_named(trained, rows):
    write(trained / "missing.csv", shuffled(rows, "kind", "a"))
    run = hssvm_run("predict", "model.hssvm", "missing.csv", cwd=trained, code=1)
    assert "missing.csv lacks 'b', which the model was trained on" in run.stderr.decode()
    assert not run.stdout


def test_another_column_of_labels(trained, rows):
    truth = shuffled(rows, "a", "b") | {"truth": rows["kind"]}
    write(trained / "truth.csv", truth)
    run = hssvm_run("predict", "model.hssvm", "truth.csv", "--target", "truth", cwd=trained)
    assert accuracy(run) > 0.95
    run = hssvm_run("predict", "model.hssvm", "truth.csv", "--target", "a", cwd=trained, code=1)
    assert "'a' cannot be the target, as it is a feature of the model" in run.stderr.decode()


def test_the_first_column_is_said_to_be_the_label(rows, tmp_path):
    write(tmp_path / "train.csv", rows, header=False)
    run = hssvm_run("train", "train.csv", "-o", "model.hssvm", "-q", cwd=tmp_path)
    assert "column 0, the first; --target chooses another" in run.stdout.decode()


def test_the_label_among_named_columns_is_not_guessed(rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    write(tmp_path / "train.csv", rows)
    pandas.DataFrame(rows).to_parquet(tmp_path / "train.parquet")
    for data in ("train.csv", "train.parquet"):
        run = hssvm_run("train", data, "-o", "model.hssvm", cwd=tmp_path, code=1)
        assert run.stderr.decode() == (
            f"hssvm: {data} has column names; name the column of labels by --target, one of "
            "'kind', 'a', 'b'\n"
        )


@pytest.mark.parametrize("header", [True, False])
def test_ignored_columns(header, rows, tmp_path):
    """The model is that of a file without them, and predictions need not ignore named ones."""
    with_ids = {"id": [f"row {i}" for i in range(400)], **rows, "note": ["x"] * 400}
    write(tmp_path / "train.csv", with_ids, header)
    write(tmp_path / "plain.csv", rows, header)
    label = "kind" if header else "1"
    ignore = ("--ignore", "id", "--ignore", "note") if header else ("--ignore", "0", "--ignore=-1")
    options = "--gamma", "0.5", "-q"
    run = hssvm_run(
        "train", "train.csv", "-o", "m", "--target", label, *ignore, *options, cwd=tmp_path
    )
    shown = "'id', 'note'" if header else "0, 4"
    assert re.search(rf"ignored +│ {shown} ", run.stdout.decode())
    label = "kind" if header else "0"
    hssvm_run("train", "plain.csv", "-o", "plain", "--target", label, *options, cwd=tmp_path)
    expected = hssvm_run("predict", "plain", "plain.csv", cwd=tmp_path)
    found = hssvm_run("predict", "m", "train.csv", *ignore, cwd=tmp_path)
    assert (found.stdout, accuracy(found)) == (expected.stdout, accuracy(expected))
    if header:
        assert hssvm_run("predict", "m", "train.csv", cwd=tmp_path).stdout == expected.stdout
    hssvm_run("train", "train.csv", "-o", "m", "--target", "kind" if header else "1", *ignore,
              "--test", "train.csv", *options, cwd=tmp_path)  # fmt: skip


def test_columns_that_cannot_be_ignored(trained):
    def message(*arguments):
        return hssvm_run(*arguments, cwd=trained, code=1).stderr.decode()

    train = "train", "train.csv", "-o", "other.hssvm", "--target", "kind"
    assert "has no column 'c'" in message(*train, "--ignore", "c")
    assert "labels or weights cannot be ignored" in message(*train, "--ignore", "kind")
    assert "has no feature columns" in message(*train, "--ignore", "a", "--ignore", "b")
    predict = "predict", "model.hssvm", "train.csv"
    assert "'a' cannot be ignored, as it is a feature" in message(*predict, "--ignore", "a")
    (trained / "rows.libsvm").write_text("1 1:2\n0 1:3\n")
    run = message("train", "rows.libsvm", "-o", "other.hssvm", "--ignore", "0")
    assert "only columns of a table can be ignored" in run


def test_files_without_names(rows, tmp_path):
    write(tmp_path / "train.csv", shuffled(rows, "a", "b", "kind"), header=False)
    write(tmp_path / "features.csv", shuffled(rows, "a", "b"), header=False)
    write(tmp_path / "first.csv", rows, header=False)
    write(tmp_path / "wide.csv", {**rows, "c": rows["a"]}, header=False)
    options = "--target", "2", "--gamma", "0.5", "-q"
    hssvm_run("train", "train.csv", "-o", "model.hssvm", *options, cwd=tmp_path)
    labelled = hssvm_run("predict", "model.hssvm", "train.csv", cwd=tmp_path)
    assert accuracy(labelled) > 0.95
    features = hssvm_run("predict", "model.hssvm", "features.csv", cwd=tmp_path)
    assert (features.stdout, features.stderr) == (labelled.stdout, b"")
    first = hssvm_run("predict", "model.hssvm", "first.csv", "--target", "0", cwd=tmp_path)
    assert accuracy(first) == accuracy(labelled)
    wide = hssvm_run("predict", "model.hssvm", "wide.csv", cwd=tmp_path, code=1)
    assert "4 columns, but the model has 2 features" in wide.stderr.decode()


def test_names_that_occur_twice(rows, tmp_path):
    (tmp_path / "train.csv").write_text("y,a,a\n1,2,3\n0,4,5\n")
    run = hssvm_run(
        "train", "train.csv", "-o", "model.hssvm", "--target", "y", cwd=tmp_path, code=1
    )
    assert "train.csv has 2 columns named 'a'; rename them" in run.stderr.decode()


def test_booleans_and_separators(rows, tmp_path):
    columns = {"kind": rows["kind"], "positive": rows["a"] > 0, "b": rows["b"]}
    write(tmp_path / "rows.csv", columns)
    text = (tmp_path / "rows.csv").read_text().replace(",", ";")
    (tmp_path / "rows.csv").write_text(text)
    hssvm_run("train", "rows.csv", "-o", "m", "--separator", ";", "--scale", "standard",
              "--target", "kind", cwd=tmp_path)  # fmt: skip
    run = hssvm_run("predict", "m", "rows.csv", "--separator", ";", cwd=tmp_path)
    assert accuracy(run) > 0.95


@pytest.mark.slow
def test_stdin_and_stdout(trained, rows):
    data = (trained / "train.csv").read_bytes()
    expected = hssvm_run("predict", "model.hssvm", "train.csv", cwd=trained)
    piped = hssvm_run(
        "predict", "model.hssvm", "-", "--format", "csv", "-o", "-", cwd=trained, input=data
    )
    assert (piped.stdout, piped.stderr) == (expected.stdout, expected.stderr)
    options = "--format", "csv", "--target", "kind", "--gamma", "0.5"
    model = hssvm_run("train", "-", "-o", "-", *options, cwd=trained, input=data)
    assert "support vectors" in model.stderr.decode()
    (trained / "piped.hssvm").write_bytes(model.stdout)
    again = hssvm_run("predict", "piped.hssvm", "train.csv", cwd=trained)
    assert again.stdout == expected.stdout
    info = hssvm_run("info", "-", cwd=trained, input=model.stdout)
    assert "label column     kind" in info.stdout.decode()
    assert not (trained / "-").exists()


def test_files_that_are_read_are_not_replaced(trained, rows):
    data, model = next(trained.glob("*.csv")), next(trained.glob("*.hssvm"))
    before = data.read_bytes(), model.read_bytes()
    run = hssvm_run("train", data.name, "-o", data.name, cwd=trained, code=2)
    assert "would be overwritten" in " ".join(run.stderr.decode().split())
    hssvm_run("predict", model.name, data.name, "-o", model.name, cwd=trained, code=2)
    assert (data.read_bytes(), model.read_bytes()) == before
