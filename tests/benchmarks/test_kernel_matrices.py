import numpy as np
import pytest

from benchmarks.kernels import (
    fingerprints,
    irrelevant,
    learned_scales,
    precomputed,
    precomputed_sets,
    widths,
)


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
    assert tables["large"].splitlines()[2].endswith(" GB |")
    assert tables["models"].count("\n") == 1 + len(fingerprints.MODELS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_precomputed_sets(n_classes, disks, run_command, monkeypatch):
    monkeypatch.setattr(precomputed_sets, "load", lambda name, max_train: disks(n_classes))
    results, tables = run_command(precomputed_sets, "any")
    assert results.runs["any"]["dual"] < 1e-4
    assert results.runs["any"]["same"] > 98
    assert tables["sets"].splitlines()[2].startswith("| any | 400 | ")


def test_precomputed(disks, run_command, monkeypatch, tmp_path):
    X, y, X_test, y_test = disks(n_rows=1500)
    monkeypatch.setattr(precomputed, "load", lambda name: (X, y, X_test, y_test))
    results, tables = run_command(precomputed, "--rows", 2500, "--folder", tmp_path)
    (found,) = results.runs.values()
    assert found["dual"] < 1e-3
    assert found["same"] > 98
    assert found["passes"] > 0
    assert np.isclose(found["file"], 4 * 2500**2, rtol=1e-3)
    assert " | 2,500 | " in tables["fits"].splitlines()[2]


def test_learned_scales(disks, waves, run_command, monkeypatch):
    data = {"cod-rna": disks(), "casp": waves}
    monkeypatch.setattr(learned_scales, "load", data.get)
    names, options = ("cod-rna", "casp"), ("--rows", 300, "--kernels", "rbf", "exponential")
    results, tables = run_command(learned_scales, *names, *options)
    for key, run in results.runs.items():
        assert run["rows"] == 300
        assert run["regression"] == key.startswith("casp")
        assert run["standard"] > 0
        assert len(run["held out"]) > run["steps"]
    assert tables["scores"].splitlines()[0].endswith("| features | rbf | exponential |")
    assert tables["summary"].startswith("Scales were kept in ")


@pytest.mark.filterwarnings("ignore::hssvm.exceptions.DataWarning")
def test_irrelevant_features(run_command, monkeypatch):
    monkeypatch.setattr(irrelevant, "TEST_ROWS", 500)
    results, tables = run_command(irrelevant, "--rows", "4000")
    assert results.runs["learned"]["error"] < results.runs["standard"]["error"]
    assert results.runs["learned"]["found"]
    assert tables["errors"].count("\n") == 3


def test_widths(disks, waves, run_command, monkeypatch):
    data = {"cod-rna": disks(), "cadata": waves}
    monkeypatch.setattr(learned_scales, "load", data.get)
    names, options = ("cod-rna", "cadata"), ("--rows", 300, "--kernels", "exponential", "rbf")
    results, tables = run_command(widths, *names, *options)
    assert len(results.runs) == 4
    assert np.isclose(results.runs["cadata: rbf"]["1.0"], results.runs["cadata: rbf"]["moments"])
    assert tables["mean"].count("\n") == 3
    assert tables["sets"].count("\n") == 3
