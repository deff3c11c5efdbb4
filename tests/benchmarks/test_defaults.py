import numpy as np
import pytest

from benchmarks.peers import defaults
from benchmarks.results import Results
from hssvm import SVCCV


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path / "results.json")
    runs = {
        "SVC()": {
            "score": 89.0,
            "warnings": ["DataWarning: scale", "UserWarning: other"],
            "fit": 1.0,
        },
        "SVCCV()": {
            "score": 95.5, "warnings": [], "fit": 9.0, "C": 10.0, "gamma": 0.1, "one fit": 2.0
        },
        "10 x 10 grid": {
            "score": 96.0, "warnings": [], "fit": 90.0, "C": 1.0, "gamma": 0.3, "one fit": 2.0
        },
        "sklearn.svm.SVC()": {"stopped": 300},
    }  # fmt: skip
    for method, found in runs.items():
        results.add(defaults.key_of("cod-rna", method), {**found, "wall": 1})
    return results


@pytest.mark.parametrize("name", ["classification", "regression"])
def test_a_run_of_every_method(name, rng, monkeypatch):
    X = rng.standard_normal((700, 3)) * [1, 1, 1e3]
    y = X[:, 0] * 1e3 if name == "regression" else np.hypot(X[:, 0], X[:, 1]) < 1
    monkeypatch.setattr(defaults, "load", lambda name, max_train: (X, y, X, y))
    monkeypatch.setattr(defaults, "REGRESSION", ["regression"])
    scores = []
    for method in defaults.METHODS[name]:
        if method == "10 x 10 grid":
            continue
        run = defaults.run(name, method)
        scores.append(run["score"])
        assert run["rows"] == 700
        warned = any(text.startswith("DataWarning") for text in run["warnings"])
        assert warned == (method in ("SVC()", "SVR()"))
    assert len(scores) >= 3 and len(set(scores)) > 1
    assert 90 < max(scores) <= 100


@pytest.mark.filterwarnings("ignore:The best")
def test_the_grid_has_a_single_round(rng, monkeypatch):
    monkeypatch.setattr(defaults.rounds, "FIRST_ROWS", defaults.rounds.FIRST_ROWS)
    X = rng.standard_normal((4500, 2))
    model = defaults.grid(SVCCV, X).set_params(gammas=[1.0]).fit(X, X[:, 0] > 0)
    assert set(model.cv_results_["n_resources"]) == {4500}


def test_known_runs_stay(results, monkeypatch):
    made = []
    monkeypatch.setattr(
        defaults, "limited", lambda limit, run, *what: made.append((*what, limit)) or {"score": 1.0}
    )
    defaults.run_all(results, ["cod-rna", "cadata"], ["SVCCV()", "SVRCV()", defaults.GRID], 300)
    assert made == [("cadata", "SVRCV()", 300), ("cadata", "10 x 10 grid", 3000)]
    made.clear()
    defaults.run_all(results, ["cod-rna"], None, 300)
    assert [method for _, method, _ in made] == [
        'SVC(scaling="standard")',
        "HistGradientBoosting()",
    ]


def test_tables(results):
    line = defaults.TABLES["classification"](results).splitlines()[2]
    assert line == "| cod-rna | 89.00* | 95.50 | - | over 300 s | - | 96.00 |"
    assert "| cod-rna | 10 | 0.1 | 1 | 0.3 | -0.50 | 9 | 4.5 | 90 |" in defaults.choices(results)
    assert defaults.advice(results).splitlines()[2:] == ["| cod-rna | SVC() | scale |"]
