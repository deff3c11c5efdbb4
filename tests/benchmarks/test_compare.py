import numpy as np
import pytest
import scipy.sparse

from benchmarks.peers import compare, rivals
from benchmarks.peers.rivals import NOT_INSTALLED, RIVALS
from benchmarks.results import ROOT, Results


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path / "results.json")
    runs = {
        ("hssvm", 10): {"version": "1", "fit": 0.1, "predict": 3.0, "score": 90.0, "dual": "20"},
        ("hssvm", 99): {
            "version": "1",
            "fit": 2.0,
            "predict": 4.0,
            "score": 95.0,
            "dual": "99.99999",
        },
        ("scikit-learn SVM", 10): {"fit": 0.2, "predict": 30.0, "score": 90.0, "dual": "20"},
        ("scikit-learn SVM", 99): {"fit": 9.0, "predict": 40.0, "score": 95.0, "dual": "100"},
        ("scikit-learn-intelex", 10): {"fit": 0.3, "predict": 5.0, "score": 90.0, "dual": "20"},
        ("scikit-learn-intelex", 99): {"stopped": 60.0},
        ("xRFM", 10): {"error": NOT_INSTALLED},
    }
    for (tool, n_rows), found in runs.items():
        results.add(compare.key_of("ijcnn1", tool, n_rows), {**found, "wall": 1.0})
    return results


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("tool", RIVALS)
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
def test_a_run(tool, sparse, rng, monkeypatch):
    if RIVALS[tool].version is None:
        pytest.skip("not installed")
    X = rng.standard_normal((900, 2)).astype(np.float32)
    y = np.where(np.hypot(*X.T) < 1, 1, -1)
    rows = scipy.sparse.csr_array(X) if sparse else X
    parameters = {"C": 10.0, "gamma": 1.0}
    monkeypatch.setattr(compare, "load_problem", lambda name: ((rows, y, rows, y), parameters))
    run = compare.run("any", tool, 800, 500)
    assert run["score"] > 90
    assert run["fit"] > 0
    assert run["predict"] > 0
    assert ("dual" in run) == RIVALS[tool].dual


@pytest.mark.parametrize("tool", [tool for tool in RIVALS if RIVALS[tool].regress])
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
def test_a_run_of_regression(tool, rng, monkeypatch):
    if RIVALS[tool].version is None:
        pytest.skip("not installed")
    X = rng.standard_normal((900, 2)).astype(np.float32)
    y = np.sin(X[:, 0]) * X[:, 1]
    parameters = {"C": 10.0, "gamma": 0.5, "epsilon": 0.1}
    monkeypatch.setattr(compare, "load_problem", lambda name: ((X, y, X, y), parameters))
    assert 70 < compare.run("cadata", tool, 800, 500)["score"] <= 100


def test_solvers_of_the_dual_agree(tmp_path, rng, monkeypatch):
    X = rng.standard_normal((600, 2))
    y = np.where(np.hypot(*X.T) < 1, 1, -1)
    monkeypatch.setattr(
        compare, "load_problem", lambda name: ((X, y, X, y), {"C": 10.0, "gamma": 1.0})
    )
    results = Results(tmp_path / "results.json")
    for tool in ("hssvm", "scikit-learn SVM"):
        results.add(compare.key_of("any", tool, 600), compare.run("any", tool, 600, 100))
    duals = [float(run["dual"]) for run in Results.read(results.path).runs.values()]
    assert duals[0] == pytest.approx(duals[1], rel=2e-3)
    assert duals[0] != duals[1]  # not rounded until they are equal


def test_what_cannot_end_is_not_tried(tmp_path, rng, monkeypatch):
    """Of 10 times as many rows: over 10 s x 10^1.5 for an SVM, and always for what was stopped."""
    seconds = {"hssvm": 50.0, "scikit-learn SVM": 1.0, "scikit-learn-intelex": 10.0, "xRFM": None}
    tried = []

    def attempt(limit, tool, run, name, _, n_rows, n_test):
        tried.append((tool, n_rows))
        return {"stopped": limit} if seconds[tool] is None else {"fit": seconds[tool]}

    y = rng.standard_normal(100)
    monkeypatch.setattr(compare, "load_problem", lambda name: ((None, y, None, y), {}))
    monkeypatch.setattr(compare, "attempt", attempt)
    results = Results(tmp_path / "results.json")
    compare.run_all(results, ["any"], list(seconds), [10, 1000], 60, 5)
    assert tried[:4] == [(tool, 10) for tool in seconds]
    assert tried[4:] == [("hssvm", 100), ("scikit-learn SVM", 100)]
    compare.run_all(results, ["any"], list(seconds), [10, 1000], 60, 5)
    assert len(tried) == 6  # known runs stay


def test_what_is_not_installed_says_so_and_is_tried_again(results, monkeypatch):
    monkeypatch.setattr(compare, "load_problem", lambda name: ((None, range(10), None, None), {}))
    monkeypatch.setattr(rivals, "limited", lambda *arguments: {"fit": 1.0})
    monkeypatch.setattr(rivals, "version", lambda package: "2")
    compare.run_all(results, ["ijcnn1"], ["xRFM"], [10], 60, 5)
    assert results.runs["ijcnn1: xRFM, 10"]["fit"] == 1


def test_tables(results):
    lines = compare.TABLES["ijcnn1"](results).splitlines()
    assert lines[2:] == [
        "| hssvm | 0.1 | 90.00 | 2 | 95.00 | 4 | 1e-07 |",
        "| scikit-learn SVM | 0.2 | 90.00 | 9 | 95.00 | 40 | best |",
        "| scikit-learn-intelex | 0.3 | 90.00 | over 60 | - | 5 | - |",
        "| xRFM | not installed | - | - | - | - | - |",
    ]
    assert "| hssvm | hssvm | 1 | C, gamma, epsilon |" in compare.TABLES["tools"](results)


def test_the_chart_knows_every_tool():
    text = (ROOT / "docs" / "figures" / "compare.py").read_text()
    assert all(f'    "{tool}": ("' in text for tool in RIVALS)
