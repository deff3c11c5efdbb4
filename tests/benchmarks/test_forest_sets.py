import pytest

from benchmarks.forest import choose, large, out_of_fold, problems, sets
from hssvm import SVC, SVR


@pytest.fixture
def forests(disks, waves, monkeypatch):
    """Small problems in the place of those of the benchmarks; "casp" is a regression."""

    def load(name):
        make, data = (SVR, waves) if name == "casp" else (SVC, disks(n_rows=2500))
        return make, {"C": 10.0, "gamma": 1.0}, data

    for module in (sets, choose, out_of_fold):
        monkeypatch.setattr(module, "load_forest", load)


@pytest.mark.parametrize("name", ["letter", "casp"])
def test_sets(name, forests, run_command):
    results, tables = run_command(sets, name, "--seeds", 1)
    found = results.runs[f"{name}: approximated"]
    assert min(found["cells, score"], found["HSS, score"]) > 80
    assert results.runs[f"{name}: exact"]["exact, score"] > 80
    line = tables["sets"].splitlines()[2]
    assert line.startswith(f"| {name} | ")


def test_large(run_command, monkeypatch):
    monkeypatch.setattr(large, "TEST_ROWS", 1000)
    results, tables = run_command(large, "--rows", 3000, "--fits", "cells", "HSS")
    assert all(run["accuracy"] > 60 and run["fit"] > 0 for run in results.runs.values())
    starts = ["| 3,000 rows: cells |", "| 3,000 rows: HSS |"]
    for line, start in zip(tables["growth"].splitlines()[2:], starts, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize("name", ["any", "casp"])
def test_choose(name, forests, run_command):
    results, tables = run_command(choose, name, "--trees", 3, "--settings", "256:16:1e-2")
    scores = results.runs[f"{name}: 256:16:1e-2"]["scores"]
    assert len(scores) == 3 and min(scores) > 80
    assert tables["settings"].splitlines()[2].startswith(f"| {name} | 256 | 16 | 1e-2 | ")


def test_out_of_fold(forests, run_command):
    results, tables = run_command(out_of_fold, "any", "--seeds", 1)
    found = results.runs["any"]
    assert abs(found["test"] - found["out of fold"]) < 10
    assert tables["scores"].splitlines()[2].startswith("| any, 2,500 x 2 | ")


def test_problems_without_settings_get_defaults(disks, monkeypatch):
    monkeypatch.setattr(problems, "load", lambda name, scale: disks())
    make, parameters, _ = problems.load_forest("shuttle")
    assert make is SVC
    assert parameters == {"C": 10.0, "gamma": 0.5}
