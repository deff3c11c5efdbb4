import numpy as np
import pytest

from benchmarks.kernels import fingerprints, precomputed, precomputed_sets
from benchmarks.results import Results


@pytest.mark.filterwarnings("ignore::hssvm.exceptions.DataWarning")
def test_fingerprints(rng, run_command, monkeypatch):
    X, y = fingerprints.random_fingerprints(700, rng)
    monkeypatch.setattr(fingerprints, "load", lambda name: (X, y.astype(int), None, None))
    sizes = {"N_EXACT": 400, "N_TEST": 100, "N_LARGE": 400, "N_LARGE_TEST": 100}
    for name, size in sizes.items():
        monkeypatch.setattr(fingerprints, name, size)
    results, tables = run_command(fingerprints)
    assert results.runs["same solution"]["dual"] < 1e-4
    assert results.runs["same solution"]["same"] > 98
    assert all(0 <= run["auc"] <= 1 for run in results.runs.values() if "auc" in run)
    assert tables["exact, peak"].endswith(" GB")
    assert tables["models"].count("\n") == 1 + len(fingerprints.MODELS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_precomputed_sets(n_classes, disks, run_command, monkeypatch):
    monkeypatch.setattr(precomputed_sets, "load", lambda name, max_train: disks(n_classes))
    results, tables = run_command(precomputed_sets, "any")
    assert results.runs["any"]["dual"] < 1e-4
    assert results.runs["any"]["same"] > 98
    assert tables["sets"].splitlines()[2].startswith("| any | 400 | ")


def test_the_worst_of_the_precomputed_sets(tmp_path):
    results = Results(tmp_path / "results.json")
    for name, same, dual in (("a", 100.0, 1e-9), ("b", 99.9, 2e-10)):
        results.add(name, {"same": same, "dual": dual})
    shown = {name: precomputed_sets.TABLES[name](results) for name in precomputed_sets.TABLES
             if name not in ("setup", "sets")}  # fmt: skip
    assert shown == {"sets with other labels": "1 of 2", "other labels": "0.1", "dual": "1e-09"}


def test_precomputed(disks, run_command, monkeypatch, tmp_path):
    X, y, X_test, y_test = disks(n_rows=1500)
    monkeypatch.setattr(precomputed, "load", lambda name: (X, y, X_test, y_test))
    results, tables = run_command(precomputed, "--rows", 2500, "--folder", tmp_path)
    (found,) = results.runs.values()
    assert found["dual"] < 1e-3
    assert found["same"] > 98
    assert found["passes"] > 0
    assert np.isclose(found["file"], 4 * 2500**2, rtol=1e-3)
    assert tables["rows"] == "2,500"
