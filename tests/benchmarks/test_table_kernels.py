import numpy as np
import pytest

from benchmarks.tables import kernels
from benchmarks.tables.data import CLASSIFICATION, REGRESSION

SVMS = [method for method in kernels.METHODS if method.partition(", ")[0] in kernels.KERNELS]


@pytest.fixture
def waves_of_one_feature(rng, monkeypatch):
    """Two problems in which one feature of six matters."""
    X = rng.uniform(-1, 1, (700, 6)).astype(np.float32)
    y = np.sin(6 * X[:, 0])
    monkeypatch.setattr(
        kernels, "read_once", lambda table: (X, y if table == "values" else np.sign(y))
    )
    problems = {
        "classes, 300": kernels.Problem("classes", 300),
        "values, 300": kernels.Problem("values", 300, REGRESSION),
    }
    monkeypatch.setattr(kernels, "PROBLEMS", problems)
    return problems


@pytest.mark.parametrize("method", SVMS)
def test_a_run(method, waves_of_one_feature):
    for name, problem in waves_of_one_feature.items():
        run = kernels.run(name, method)
        assert (run["rows"], run["test rows"], len(run["chosen"])) == (300, 140, 3)
        assert all(chosen["C"] in kernels.CS for chosen in run["chosen"])
        if "learned" in method:
            assert run["score"] > 0.9, problem.task


def test_more_rows_are_chosen_for_in_cells(waves_of_one_feature, monkeypatch):
    monkeypatch.setattr(kernels, "FEW_ROWS", 299)
    monkeypatch.setattr(kernels, "EXACT_ROWS", 299)
    monkeypatch.setattr(kernels, "CELL_ROWS", 100)
    for name in waves_of_one_feature:
        run = kernels.run(name, "Gaussian, learned")
        assert len(run["chosen"]) == 1
        assert run["score"] > 0.8


def test_the_tables(waves_of_one_feature, run_command):
    methods = ["Gaussian, standard", "Gaussian, learned", kernels.BOOSTING]
    results, tables = run_command(kernels, *waves_of_one_feature, "--methods", *methods, "--resume")
    assert len(results.runs) == 6
    classes, values = (tables[task].splitlines()[2] for task in (CLASSIFICATION, REGRESSION))
    run = results.runs["classes, 300: Gaussian, learned"]
    assert classes.startswith("| classes, 300 | ")
    assert classes.split(" | ")[2] == f"{100 * run['score']:.2f}"
    rmse = float(values.split(" | ")[2])
    expected = results.runs["values, 300: Gaussian, learned"]["score"]
    assert 1 - rmse**2 == pytest.approx(expected, abs=0.005)


def test_which_problems_are_fitted_in_cells():
    """More rows are fitted in cells, and few rows more than once."""
    for name, problem in kernels.PROBLEMS.items():
        assert f"{problem.rows:,}" in name
        assert (problem.approximation is None) == (problem.rows <= kernels.EXACT_ROWS)
    assert kernels.PROBLEMS["covtype.binary, 464,810, one tree"].approximation.n_trees == 1


@pytest.mark.parametrize(("kernel", "power"), [("Gaussian", 2), ("exponential", 1), ("L1", 1)])
def test_the_median_distance(kernel, power):
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    expected = 7 if kernel == "L1" else 5**power
    assert kernels.median_distance(X, kernel) == expected
