"""Patching of scikit-learn, in a process and for a script."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hssvm
from hssvm import dropin
from hssvm.dropin.patch import NAMES
from hssvm.dropin.script import run_script


@pytest.fixture(autouse=True)
def unpatched():
    yield
    hssvm.unpatch_sklearn()


def test_replaces_and_restores_all_classes():
    before = {name: getattr(sklearn.svm, name) for name in NAMES}
    hssvm.patch_sklearn()
    hssvm.patch_sklearn()
    assert all(getattr(sklearn.svm, name) is getattr(dropin, name) for name in NAMES)
    hssvm.unpatch_sklearn()
    assert before == {name: getattr(sklearn.svm, name) for name in NAMES}


def test_replaces_some_classes():
    hssvm.patch_sklearn(["SVC", "SVR"])
    assert sklearn.svm.SVC is dropin.SVC
    assert sklearn.svm.NuSVC is not dropin.NuSVC
    hssvm.unpatch_sklearn("SVC")
    assert sklearn.svm.SVC is not dropin.SVC
    assert sklearn.svm.SVR is dropin.SVR


def test_names_the_classes_that_it_has():
    with pytest.raises(
        ValueError, match=r"no drop-in for sklearn\.svm\.LinearSVC; choose from SVC"
    ):
        hssvm.patch_sklearn("LinearSVC")


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("name", NAMES)
def test_models_are_those_of_scikit_learn_to_its_tools(name, rng):
    X = rng.standard_normal((60, 3))
    y = np.arange(60) % 2
    model = getattr(dropin, name)()
    assert repr(model) == f"{name}()"
    assert isinstance(model, getattr(sklearn.svm, name))
    fitted = clone(model).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    hssvm.patch_sklearn()  # models that were trained before can still be stored
    other = sklearn.svm._classes.SVC().fit(X, y)
    assert type(pickle.loads(pickle.dumps(other))) is type(other)


@pytest.mark.usefixtures("few_rows")
def test_searches_find_the_same_parameters(rng):
    X = rng.standard_normal((150, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(150), [-0.5, 0.5])
    grid = {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}
    ours, theirs = (
        GridSearchCV(module.SVC(tol=1e-5), grid, cv=3).fit(X, y) for module in (dropin, sklearn.svm)
    )
    scores = [search.cv_results_["mean_test_score"] for search in (ours, theirs)]
    assert np.allclose(*scores, atol=0.02)


SCRIPT = """
import sys
import helper
from sklearn.svm import SVC
print(__name__, SVC.__module__, sys.argv[1:], helper.NAME)
"""


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "hssvm", *arguments], cwd=cwd, capture_output=True, text=True
    )


@pytest.fixture
def scripts(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "fit.py").write_text(SCRIPT)
    (tmp_path / "inner" / "helper.py").write_text("NAME = 'beside the script'\n")
    return tmp_path


def test_runs_a_script(scripts):
    done = run("inner/fit.py", "--name", "a.py", cwd=scripts)
    expected = "__main__ hssvm.dropin.classes ['--name', 'a.py'] beside the script"
    assert done.stdout.strip() == expected
    assert done.stderr == ""


def test_runs_a_module(scripts):
    done = run("-m", "fit", "3", cwd=scripts / "inner")
    assert done.stdout.strip() == "__main__ hssvm.dropin.classes ['3'] beside the script"


def test_prints_which_library_trained(scripts):
    (scripts / "few.py").write_text(
        "from sklearn.svm import SVC\nSVC().fit([[0.0], [1.0]], [0, 1])\n"
    )
    done = run("--verbose", "few.py", cwd=scripts)
    assert "hssvm: sklearn.svm.SVC.fit: trained by scikit-learn: 2 rows" in done.stderr


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (["missing.py"], "missing.py does not exist; usage: python -m hssvm"),
        (["-m"], "-m needs the name of a module; usage: python -m hssvm"),
    ],
)
def test_errors_say_what_to_do(program, message):
    with pytest.raises(SystemExit, match=message):
        run_script(program)


def test_commands_still_run(scripts):
    assert run("train", "train.py", cwd=scripts).stderr == "hssvm: no such file: train.py\n"
