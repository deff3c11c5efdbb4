import numpy as np
import pytest

from benchmarks.peers import choose
from benchmarks.results import Results


@pytest.fixture
def results(tmp_path):
    """Three sizes; scikit-learn is overtaken at the second and stopped at the third."""
    results = Results(tmp_path / "results.json")
    fits = {"hssvm": (0.1, 0.3, 2), "SVC of scikit-learn": (0.01, 0.5, None)}
    for method, seconds in fits.items():
        for n, fit in zip((10, 100, 1000), seconds, strict=True):
            found = {"fit": fit, "predict": 3.0, "accuracy": 90.0} if fit else {"stopped": 60}
            results.add(choose.key_of("cod-rna", method, n), {**found, "wall": 1})
    return results


@pytest.mark.parametrize("method", choose.METHODS)
def test_a_run(method, rng, monkeypatch):
    if method == "SVC of scikit-learn-intelex":
        pytest.importorskip("sklearnex")
    X = rng.standard_normal((1500, 2)).astype(np.float32)
    y = np.where(np.hypot(*X.T) < 1, 1, -1)
    parameters = {"C": 10.0, "gamma": 1.0}
    monkeypatch.setattr(choose, "load_setting", lambda name: ((X, y, X, y), parameters))
    run = choose.run("any", method, 1200, 700)
    assert run["accuracy"] > 90
    assert run["fit"] > 0
    assert run["predict"] > 0


def test_what_was_stopped_is_not_tried_again(tmp_path, rng, monkeypatch):
    X = rng.standard_normal((30, 2))
    monkeypatch.setattr(choose, "load_setting", lambda name: ((X, X[:, 0], X, X[:, 0]), {}))
    monkeypatch.setattr(choose, "METHODS", {"hssvm": None, "slow": None})
    monkeypatch.setattr(
        choose,
        "limited",
        lambda limit, run, name, method, n, n_test: (
            {"stopped": limit} if (method, n) == ("slow", 20) else {"fit": 1.0, "accuracy": 9.0}
        ),
    )
    results = Results(tmp_path / "results.json")
    choose.run_all(results, ["any"], [10, 20, 50, 100], 60, 5)
    assert choose.sizes(results, "any") == [10, 20, 30]
    assert choose.key_of("any", "slow", 20) in results.runs
    assert choose.key_of("any", "slow", 30) not in results.runs
    monkeypatch.setattr(choose, "limited", None)  # known runs stay
    choose.run_all(results, ["any"], [10, 20, 50, 100], 60, 5)


def test_where_the_lines_cross(results):
    assert choose.from_rows(results, "cod-rna", "SVC of scikit-learn") == "from 100 rows on"
    results.add(choose.key_of("cod-rna", "hssvm", 1000), {"stopped": 60, "wall": 1})
    assert choose.from_rows(results, "cod-rna", "SVC of scikit-learn") == "from 100 rows on"
    results.add(choose.key_of("cod-rna", "hssvm", 100), {"fit": 0.6, "wall": 1})
    assert choose.from_rows(results, "cod-rna", "SVC of scikit-learn") == "-"


def test_tables(results):
    assert choose.TABLES["cod-rna fit"](results).splitlines()[-1] == (
        "| SVC of scikit-learn | 0.01 | 0.5 | over 60 |"
    )
    assert choose.TABLES["cod-rna score"](results).splitlines()[-1] == (
        "| SVC of scikit-learn | 90.00 | 90.00 | - | 3 |"
    )
