import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

import hssvm
from hssvm.cli import app as cli
from hssvm.cli.progress import seconds_left

COMMANDS = ("train", "predict", "cv", "info", "forecast")


@pytest.fixture
def folder(tmp_path, rng):
    """LIBSVM and CSV files of rows inside and outside of a circle."""
    for name, n in (("train", 600), ("test", 200)):
        X = rng.standard_normal((n, 3))
        y = np.where(np.hypot(X[:, 0], X[:, 1]) < 1.1, 1, -1)
        dump_svmlight_file(X, y, str(tmp_path / f"{name}.libsvm"), zero_based=False)
        words = np.where(y > 0, "in", "out")
        lines = [f"{a:.6f},{b:.6f},{c:.6f},{w}" for (a, b, c), w in zip(X, words, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,c,where", *lines]) + "\n")
    return tmp_path


def call(*arguments, ok=True):
    result = CliRunner().invoke(cli.app, [str(a) for a in arguments])
    if ok and result.exit_code:
        raise AssertionError(result.output) from result.exception
    return result


def test_from_training_to_predictions(folder):
    model = folder / "model.hssvm"
    trained = call("train", folder / "train.libsvm", "-o", model, "--C", 10, "--scale", "standard",
                   "--test", folder / "test.libsvm")  # fmt: skip
    assert "relative duality gap" in trained.output
    accuracy = float(re.search(r"accuracy ([\d.]+) on 200 rows", trained.output)[1])
    assert accuracy > 0.9
    labels = folder / "labels.txt"
    predicted = call("predict", model, folder / "test.libsvm", "-o", labels)
    assert f"accuracy {accuracy:.4f}" in predicted.output
    loaded = hssvm.load(model)
    assert loaded.C == 10
    assert loaded.scaling == "standard"
    _, y = hssvm.io.read(folder / "test.libsvm", n_features=3)
    assert np.mean(np.loadtxt(labels) == y) == pytest.approx(accuracy, abs=1e-4)
    values = call("predict", model, folder / "test.libsvm", "--values").stdout.splitlines()
    assert np.all(np.sign(np.array(values, float)) == np.loadtxt(labels))
    assert "rows" in call("info", model).output


def test_labels_that_are_words(folder):
    model = folder / "model.hssvm"
    call("train", folder / "train.csv", "-o", model, "--target", "where", "--quiet")
    lines = call("predict", model, folder / "test.csv", "--target", 3).stdout.splitlines()
    assert set(lines) == {"in", "out"}


def test_regression_and_novelty(folder):
    for task, score in (("svr", "R\\^2"), ("one-class", "share inside")):
        model = folder / f"{task}.hssvm"
        result = call("train", folder / "train.libsvm", "-o", model, "--task", task, "--nu", 0.1,
                      "--test", folder / "test.libsvm")  # fmt: skip
        assert re.search(score, result.output)
    assert isinstance(hssvm.load(folder / "svr.hssvm"), hssvm.SVR)
    assert hssvm.load(folder / "one-class.hssvm").nu == 0.1


def test_cross_validation(folder):
    model = folder / "best.hssvm"
    result = call("cv", folder / "train.libsvm", "--Cs", "0.01,1", "--gammas", "0.1,1", "-o", model)
    assert "best: C =" in result.output
    assert "C = 0.01" in result.output
    assert hssvm.load(model).C_ in (0.01, 1)


@pytest.mark.parametrize("task", ["svc", "svr", "one-class"])
def test_forecast(folder, task):
    result = call("forecast", folder / "train.libsvm", "--task", task)
    assert "forecast for 600 rows" in result.output
    assert "fits." in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_enough(command):
    text = call(command, "--help").output
    assert "Usage" in text
    if command != "info":
        assert re.search(r"hssvm\s+" + command, text)


def hssvm_process(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", "from hssvm.cli import main; main()", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train", "missing.libsvm", "-o", "m"), 1, "missing.libsvm"),
        (("train", "broken.libsvm", "-o", "m"), 1, "line 2"),
        (("train", "train.libsvm", "-o", "m", "--C", "0"), 1, "C must be"),
        (("train", "train.libsvm", "-o", "m", "--gamma", "wide"), 1, "gamma must be"),
        (("train", "train.libsvm", "-o", "m", "--memory-limit", "1e-9"), 1, "memory_limit"),
        (("train", "train.libsvm"), 2, "output"),
        (("info", "train.libsvm"), 1, "train.libsvm"),
        (("dance",), 2, "dance"),
    ],
)
def test_errors_a_script_can_rely_on(folder, arguments, code, message):
    (folder / "broken.libsvm").write_text("1 1:0.5\n1 1:x\n")
    process = hssvm_process(*arguments, cwd=folder)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code
    assert message in errors
    assert "Traceback" not in errors
    assert not (folder / "m").exists()


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to a child on Windows")
def test_ctrl_c_keeps_the_model(tmp_path, rng):
    X = rng.uniform(-3, 3, (4000, 2))
    y = np.sin(3 * X[:, 0]) + rng.standard_normal(4000) > 0
    np.savez(tmp_path / "data.npz", X=X, y=y.astype(float))
    process = hssvm_process(
        "train", "data.npz", "-o", "model.hssvm", "--C", "1e6", "--tol", "1e-13", "--refine", "no",
        "--double", cwd=tmp_path,
    )  # fmt: skip
    for line in process.stderr:  # piped: plain lines
        if line.startswith("iteration"):
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Ctrl-C" in output
    assert hssvm.load(tmp_path / "model.hssvm").fit_report_.status == ["STOPPED"]


def test_time_left():
    assert seconds_left([(0.0, 1.0), (1.0, 0.1), (2.0, 0.01)], 1e-3) == ", about 1 s left"
    assert seconds_left([(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)], 1e-3) == ""
    assert seconds_left([(0.0, 1.0)], 1e-3) == ""
