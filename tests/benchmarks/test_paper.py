import json
import os
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC as LibSVM

from benchmarks.limit import limited
from benchmarks.paper import __main__ as command
from benchmarks.paper import changes, figures, methods, multiblock, published, tables
from benchmarks.paper.grid import best, key_of, run_of
from benchmarks.results import RESULTS, ROOT, Results
from hssvm.hss import HSSANN, ClusterTree, compress
from hssvm.kernels import Gaussian

DOCS = ROOT / "docs"


def two_rings(rng, n):
    X = rng.standard_normal((n, 2))
    return X, np.where(np.hypot(*X.T) + 0.1 * rng.standard_normal(n) < 1, 1.0, -1.0)


@pytest.fixture
def small_data(rng, monkeypatch):
    data = *two_rings(rng, 2500), *two_rings(rng, 500)
    for module in (methods, changes):
        monkeypatch.setattr(module, "load_double", lambda name: data)
    return data


@pytest.mark.parametrize(
    ("run", "arguments", "expected"),
    [
        (dict, ([("a", 1)],), {"a": 1}),
        (int, ("x",), {"error": "ValueError: invalid literal for int() with base 10: 'x'"}),
        (os._exit, (3,), {"error": "the process ended with code 3"}),
    ],
)
def test_a_run_in_a_process_of_its_own(run, arguments, expected):
    assert limited(60, run, *arguments) == expected


def test_a_run_is_stopped():
    start = time.perf_counter()
    assert limited(0.5, time.sleep, 300) == {"stopped": 0.5}
    assert time.perf_counter() - start < 100


def test_multi_block_admm_finds_the_support_vector_machine(rng, monkeypatch):
    monkeypatch.setattr(multiblock, "BLOCK_SIZE", 70)
    monkeypatch.setattr(multiblock, "MAX_SWEEPS", 2000)
    monkeypatch.setattr(multiblock, "TOL", 1e-6)
    monkeypatch.setattr(multiblock, "BETA", 1.0)
    X, y = two_rings(rng, 300)
    z, b, _ = multiblock.train(Gaussian(1.0), X, y, C=2.0, max_time=60)
    exact = LibSVM(C=2.0, gamma=1.0, tol=1e-8).fit(X, y)
    values = Gaussian(1.0).block(X) @ z + b
    assert_allclose(values, exact.decision_function(X), atol=2e-2)
    assert np.all((z * y >= 0) & (z * y <= 2))


def test_multi_block_admm_ends_in_time(rng):
    X, y = two_rings(rng, 300)
    assert multiblock.train(Gaussian(1.0), X, y, C=2.0, max_time=0)[2] == 1


def test_the_bias_of_the_paper():
    Z = np.array([[0.5, 0.0], [-1.0, -1.0], [0.25, 1.0]])
    F, y = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), np.array([1.0, -1.0, 1.0])
    assert_allclose(methods.mean_intercept(Z, F, y, [1, 1]), [(0.9 + 0.5) / 2, 0])


@pytest.mark.parametrize("setting", published.TOLERANCES)
def test_methods_on_the_grid(setting, small_data):
    tolerances = published.TOLERANCES[setting]
    for run in (
        methods.interpolation("any", 0.3, published.C_GRID, tolerances),
        methods.compressed("any", 0.3, published.C_GRID),
    ):
        assert len(run["accuracy"]) == 3
        assert max(run["accuracy"]) > 85
        assert all(run[key] > 0 for key in ("compress", "factor", "solve", "memory"))


def test_methods_at_one_pair(small_data):
    exact = methods.libsvm("any", 1, 1)
    assert exact["accuracy"] > 90
    assert methods.refined("any", 1, 1)["accuracy"] == pytest.approx(exact["accuracy"], abs=0.5)
    assert methods.blocks("any", 1, 1, 60)["accuracy"] == pytest.approx(exact["accuracy"], abs=6)


def test_what_the_changes_are_worth(small_data, monkeypatch):
    monkeypatch.setattr(changes, "SETS", {"any": 1})
    found = {key: run("any") for key, run in changes.CHANGES.items()}
    assert found["definiteness"]["nested"] > -1e-10
    assert found["one kernel"]["leafwise"]["accuracy"] > 90
    ranks = found["growing ranks"]
    assert ranks["growing"]["memory"] > ranks["constant"]["memory"]
    assert found["convergence"]["ours"]["gap"] < 1e-3 < found["convergence"]["paper"]["gap"]
    json.dumps(found)


def test_least_eigenvalue(rng):
    X = rng.standard_normal((400, 3))
    compressor = HSSANN(rtol=1, atol=0.1, max_rank=2, n_neighbors=2)
    H = compress(Gaussian(0.05), X, ClusterTree.build(X, 30), compressor)
    least = np.linalg.eigvalsh(H.to_dense())[0]
    assert least < 0
    assert changes.least_eigenvalue(H) == pytest.approx(least, rel=1e-3)


def test_results_are_kept_and_read(tmp_path):
    results = Results(tmp_path / "new" / "results.json")
    results.add("a9a tight 0.1", {"accuracy": [80.12345678, 81.0, 81.0], "wall": 60.0})
    results.add("a9a tight 1", {"error": "none", "wall": 60.0})
    again = Results.read(results.path)
    assert run_of(again, "a9a", "tight", 0.1)["accuracy"] == [80.1235, 81.0, 81.0]
    assert again.minutes == 2
    assert best(again, "a9a", "tight") == (0.1, [1, 10], 81.0)
    assert best(again, "a9a", "loose") is None
    assert again.about == results.about


def test_the_plan(tmp_path, monkeypatch):
    runs = command.plan(["a9a", "skin_nonskin"], limit=60)
    keys = [key_of(*key) for key, _, _ in runs]
    assert len(set(keys)) == len(keys)
    assert {"a9a loose 0.1", "a9a compressed 10", "skin_nonskin libsvm 10 0.1"} <= set(keys)
    assert "changes definiteness a9a" in keys
    monkeypatch.setenv("HSSVM_DATA", str(tmp_path))
    assert command.present(["a9a"]) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12,300"), (0.0001234, "0.000123"), (0, "0"), (None, "-"), (-41.27, "-41.3")],
)
def test_numbers(value, text):
    assert tables.number(value) == text


def test_a_run_without_a_result_says_why():
    assert tables.seconds_and_accuracy({"stopped": 300})[0] == "stopped after 300"
    assert tables.seconds_and_accuracy({"error": "no memory"})[0] == "no memory"
    assert tables.seconds_and_accuracy({"seconds": 1.5, "accuracy": 99.0}) == ["1.5", "99.00"]


def test_pictures(tmp_path, rng, monkeypatch):
    rows = rng.standard_normal((100, 3)).astype(np.float32)
    labels = np.ones(100, np.float32)
    monkeypatch.setattr(figures, "load", lambda name: (rows, labels, rows, labels))
    results = Results.read(RESULTS / "paper.json")
    figures.draw_all(results, tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {f"{name}.png" for name in figures.PICTURES}
    assert drawn <= {path.name for path in (DOCS / "paper").iterdir()}


def test_heat_maps_side_by_side_have_one_scale():
    maps = [ax for ax in figures.heat_maps(Results.read(RESULTS / "paper.json")).axes if ax.images]
    scales = [ax.images[0].get_clim() for ax in maps]
    assert scales[::2] == scales[1::2]
    assert len(set(scales)) == len(figures.HEAT_MAPS)


def test_pictures_without_data(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HSSVM_DATA", str(tmp_path))
    figures.draw_all(Results(tmp_path / "results.json"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out.count("not drawn") == len(figures.PICTURES)
