"""``hssvm convert``, in processes of its own and in this one."""

import subprocess
import sys

import numpy as np
import pytest
from helpers import libsvm
from helpers.command import run_here
from numpy.testing import assert_allclose, assert_array_equal

import hssvm


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((80, 3))
    return X, np.where(np.hypot(X[:, 0], X[:, 1]) < 1.1, 1, -1)


@pytest.fixture
def folder(rows, tmp_path):
    """A model as both kinds of file."""
    model = hssvm.SVC(C=2, random_state=0).fit(*rows)
    model.save(tmp_path / "ours.hssvm")
    model.save_libsvm(tmp_path / "theirs.model")
    return tmp_path


def hssvm_process(*arguments, cwd, **options):
    command = [sys.executable, "-m", "hssvm", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, **options)


def test_both_directions(folder, rows):
    X, _ = rows
    there = hssvm_process("convert", "ours.hssvm", "new.model", cwd=folder, text=True)
    assert there.returncode == 0, there.stderr
    assert "LIBSVM model in new.model" in there.stdout
    assert (folder / "new.model").read_bytes() == (folder / "theirs.model").read_bytes()
    back = hssvm_process(
        "convert", "new.model", "new.hssvm", "--features", 4, cwd=folder, text=True
    )
    assert back.returncode == 0, back.stderr
    assert back.stdout.startswith("model in new.hssvm")
    loaded = hssvm.load(folder / "new.hssvm")
    assert loaded.n_features_in_ == 4
    wide = np.column_stack([X, np.zeros(len(X))])
    expected = hssvm.load(folder / "ours.hssvm").decision_function(X)
    assert_allclose(loaded.decision_function(wide), expected, atol=1e-9)


@pytest.mark.slow
def test_in_a_pipe(folder):
    text = (folder / "theirs.model").read_bytes()
    archive = hssvm_process("convert", "-", "-", cwd=folder, input=text)
    assert archive.returncode == 0, archive.stderr
    assert archive.stdout.startswith(b"PK")
    again = hssvm_process("convert", "-", "-", cwd=folder, input=archive.stdout)
    assert again.stdout == text
    assert b"LIBSVM model in -" in again.stderr


def test_a_converted_model_predicts_and_has_no_report(folder, rows):
    X, y = rows
    np.savez(folder / "rows.npz", X=X, y=y)
    assert run_here("convert", "theirs.model", "new.hssvm", cwd=folder).returncode == 0
    labels = {}
    for name in ("ours", "new"):
        done = run_here("predict", f"{name}.hssvm", "rows.npz", "-o", name, cwd=folder)
        assert "accuracy" in done.stderr
        labels[name] = (folder / name).read_text()
    assert labels["ours"].split() == [str(int(label)) for label in labels["new"].split()]
    described = run_here("info", "new.hssvm", cwd=folder).stdout
    assert "unknown: the model comes from LIBSVM" in described
    n_support = hssvm.load(folder / "ours.hssvm").support_.size
    assert f"support vectors  {n_support}" in described
    resumed = run_here("train", "rows.npz", "--resume", "new.hssvm", cwd=folder)
    assert resumed.returncode == 1
    assert "converted from a LIBSVM model" in resumed.stderr


def test_a_model_of_svm_train(folder, rows):
    X, y = rows
    model = libsvm.train(folder, X, y, "-s", 3)
    assert run_here("convert", model, "new.hssvm", cwd=folder).returncode == 0
    values, _ = libsvm.Model(model).values(X, 1)
    assert_allclose(hssvm.load(folder / "new.hssvm").predict(X), values, atol=1e-9)


def test_scaled_features(folder, rows):
    X, y = rows
    hssvm.SVC(scaling="standard").fit(X, y).save(folder / "scaled.hssvm")
    refused = run_here("convert", "scaled.hssvm", "scaled.model", cwd=folder)
    assert refused.returncode == 1
    assert "pass --range to write a file for svm-scale" in refused.stderr
    arguments = ("convert", "scaled.hssvm", "scaled.model", "--range", "scaled.range")
    assert run_here(*arguments, cwd=folder).returncode == 0
    ends = np.loadtxt(folder / "scaled.range", skiprows=2)
    assert_array_equal(ends[:, 0], [1, 2, 3])
    assert_allclose(ends[:, 1], X.mean(axis=0))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("theirs.model", "theirs.model"), 2, "would be overwritten"),
        (("ours.hssvm", "new.hssvm"), 2, "use another file extension"),
        (("ours.hssvm", "new.model", "--features", 3), 2, "leave it out"),
        (("ours.hssvm", "new.model", "--range", "new.model"), 2, "other than OUTPUT"),
        (("ours.hssvm", "new.model", "--range", "ours.hssvm"), 2, "would be overwritten"),
        (("theirs.model", "new.hssvm", "--range", "new.range"), 2, "do not scale"),
        (("theirs.model", "new.hssvm", "--features", 2), 1, "--features must be at least 3"),
        (("broken.model", "new.hssvm"), 1, "broken.model, line 2: 'oops' is not an entry"),
        (("absent.model", "new.hssvm"), 1, "absent.model"),
        (("ours.hssvm", "new.model", "--range", "new.range"), 1, "leave out --range"),
    ],
)
def test_errors_are_one_line(arguments, code, message, folder):
    (folder / "broken.model").write_text("svm_type c_svc\noops\n")
    done = run_here("convert", *arguments, cwd=folder)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("new.*"))


def test_what_libsvm_cannot_express(folder, rows):
    X, _ = rows
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    hssvm.SVC(multi_class="ovr").fit(X, labels).save(folder / "rest.hssvm")
    done = run_here("convert", "rest.hssvm", "new.model", cwd=folder)
    assert done.returncode == 1
    assert "fit with --multi-class ovo" in done.stderr


def test_predict_hints_at_convert(folder):
    done = run_here("predict", "theirs.model", "ours.hssvm", cwd=folder)
    assert done.returncode == 1
    assert "convert it with hssvm convert" in done.stderr
