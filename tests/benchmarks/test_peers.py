import numpy as np
import pytest

from benchmarks.markdown import ABSENT
from benchmarks.peers import (
    coverage,
    dropin,
    folds,
    large,
    many_classes,
    multi_class,
    probability,
    tuning,
)
from benchmarks.results import Results

PARAMETERS = {"C": 10.0, "gamma": 1.0}


def test_multi_class(disks, run_command, monkeypatch):
    monkeypatch.setattr(multi_class, "load", lambda name, scale: disks(3))
    results, tables = run_command(multi_class, "any", "--repeats", 2)
    assert results.runs["any"]["same"] > 99
    assert results.runs["any"]["accuracy"]["ovo"] > 90
    assert tables["sets"].splitlines()[2].startswith("| any, 400 x 2, 3 classes | ")


def test_many_classes(run_command, monkeypatch):
    monkeypatch.setattr(many_classes, "RIVAL_CLASSES", 4)
    results, tables = run_command(many_classes, 4, 6)
    assert results.runs["4 classes"]["same"] > 95
    assert results.runs["6 classes"]["pairs"] == 15
    assert tables["classes"].splitlines()[3].endswith("GB | - | - | - |")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probability(n_classes, disks, run_command, monkeypatch):
    monkeypatch.setattr(
        probability, "load_setting", lambda name: (disks(n_classes, 2500), PARAMETERS)
    )
    monkeypatch.setattr(probability, "METHODS", ["sigmoid"])
    results, tables = run_command(probability, "any", "--repeats", 1)
    ours, theirs = results.runs["any: sigmoid"]["log loss"]
    assert ours == pytest.approx(theirs, rel=0.3)
    assert (
        tables["sigmoid"]
        .splitlines()[2]
        .startswith("| any, 3 classes | " if n_classes > 2 else "| any | ")
    )
    assert tables["isotonic"].count("\n") == 1


@pytest.mark.parametrize("regression", [False, True])
def test_coverage(regression, disks, waves, run_command, monkeypatch):
    parameters = {**PARAMETERS, "epsilon": 0.1} if regression else PARAMETERS
    data = waves if regression else disks()
    monkeypatch.setattr(coverage, "load_problem", lambda name: (data, parameters))
    results, tables = run_command(coverage, "casp", "--splits", 3, "--rows", 200)
    assert 80 < np.mean(results.runs["casp"]["coverage"]) < 99
    assert tables["splits"].splitlines()[2].startswith("| casp, regression | ")


def test_folds(disks, run_command, monkeypatch):
    monkeypatch.setattr(folds, "load_setting", lambda name: (disks(), PARAMETERS))
    monkeypatch.setattr(folds, "grid_of", lambda name: (3, [1.0, 10.0]))
    results, tables = run_command(folds, "ijcnn1", folds.LARGE)
    assert results.runs["ijcnn1: hssvm"]["score"] > 90
    line = tables["folds"].splitlines()[2]
    assert line.startswith("| ijcnn1 | 9") and line.endswith("| 98.2 % in 27.4 s |")
    assert tables["folds"].count("\n") == 2


def test_torchkm(tmp_path):
    results = Results(tmp_path / "results.json")
    results.add("a9a: hssvm", {"fit": 50.0, "score": 85.06, "C": 1.0})
    results.add("a9a: TorchKM, low rank", {"stopped": 600})
    assert folds.folds_table(results).splitlines()[2] == (
        "| a9a | 85.06 % in 50 s | over 600 s | 85.1 % in 17.9 s |"
    )
    assert folds.torchkm_version(results) == ABSENT


def test_tuning(disks, run_command, monkeypatch):
    monkeypatch.setattr(tuning, "load_setting", lambda name: (disks(n_rows=2500), PARAMETERS))
    results, tables = run_command(tuning, "any", "--repeats", 1)
    assert all(gap < 2e-3 for gap in results.runs["any"]["gaps"].values())
    assert tables["paths"].splitlines()[2].startswith("| any, C = 10 | ")


@pytest.mark.parametrize("name", ["letter", "cadata", "phishing, nu", "cod-rna, one class"])
def test_dropin(name, disks, waves, run_command, monkeypatch):
    data = waves if name == "cadata" else disks()
    monkeypatch.setattr(dropin, "load_problem", lambda name: (data, PARAMETERS))
    monkeypatch.setattr(dropin, "load", lambda name, scale: data)
    results, tables = run_command(dropin, name, "--rows", 300, "--repeats", 1)
    assert results.runs[name]["same"] > 98
    kind = dropin.MODELS[name][0]
    assert tables["problems"].splitlines()[2].startswith(f"| {name}, 300 x 2 | `{kind}` | ")


def test_large(disks, run_command, monkeypatch):
    monkeypatch.setattr(large, "load_setting", lambda name: (disks(n_rows=3000), PARAMETERS))
    results, tables = run_command(large)
    assert results.runs["exact"]["rows"] == 3000
    assert results.runs["exact"]["gap"] < 1e-2
    assert all(run["accuracy"] > 90 and run["peak"] > 1e7 for run in results.runs.values())
    assert tables["fits"].splitlines()[-1].startswith("| HSS | 3,000 | ")
