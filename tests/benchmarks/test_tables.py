import importlib.util
import time

import numpy as np
import pytest
from sklearn import metrics

from benchmarks.results import ROOT, Results
from benchmarks.tables import __main__ as ours
from benchmarks.tables import data, rivals, runs, summary, tools
from benchmarks.tables.searched import SearchedLightGBM

TASKS = {"disks": data.CLASSIFICATION, "waves": data.REGRESSION}


@pytest.fixture
def folder(tmp_path_factory, disks, waves, monkeypatch):
    """A cache with two tables, as those of PMLB."""
    root = tmp_path_factory.mktemp("data")
    (root / "pmlb").mkdir()
    for name, (X, y, *_) in {"disks": disks(3), "waves": waves}.items():
        table = np.column_stack([y, X])
        file = root / "pmlb" / f"{name}.tsv.gz"
        np.savetxt(file, table, delimiter="\t", header="target\ta\tb", comments="")
    monkeypatch.setenv("HSSVM_DATA", str(root))
    monkeypatch.setattr(data, "PMLB", TASKS)
    monkeypatch.setattr(data, "SETS", {})
    return root


def test_splits_of_a_table(folder):
    tasks = {}
    for name in TASKS:
        parts = []
        for split in (0, 0, 1):
            tasks[name], (X, y, X_test, y_test) = data.load_table(name, split, max_rows=150)
            assert (len(X), len(X_test)) == (150, 80)
            rows = {tuple(row) for row in X}
            assert rows.isdisjoint(tuple(row) for row in X_test)
            parts.append((X, y, X_test, y_test))
        assert all(np.array_equal(*pair) for pair in zip(*parts[:2], strict=True))
        assert not np.array_equal(parts[0][0], parts[2][0])
    assert tasks == TASKS


def test_classes_without_training_rows(rng):
    """The rare class is in the training rows or in the test rows."""
    y = np.array([3, 7] * 20 + [9])
    X = np.arange(41.0)[:, None]
    for split in range(10):
        X_train, y_train, X_test, y_test = data.divided(X, y, data.CLASSIFICATION, split, 1000)
        number = dict(zip(y[X_train[:, 0].astype(int)], y_train, strict=True))
        assert sorted(number.values()) == list(range(len(number)))
        assert [number.get(label, -1) for label in y[X_test[:, 0].astype(int)]] == list(y_test)


def test_a_run_of_both_commands(folder, run_command, monkeypatch):
    untuned = ["HistGradientBoosting", "random forest"]
    run_command(rivals, "--splits", 1, "--tools", *untuned)
    given = ["--splits", 1, "--tools", tools.OURS, tools.WITH_PROBABILITIES]
    results, tables = run_command(ours, *given)
    assert set(results.runs) == {
        "disks: hssvm, 1",
        "waves: hssvm, 1",
        "disks: hssvm, probabilities, 1",
    }
    assert all(run["test error"] < 0.2 and run["fit"] > 0 for run in results.runs.values())
    assert {"C", "gamma"} <= results.runs["waves: hssvm, 1"]["chosen"].keys()
    for task in TASKS.values():
        lines = tables[task].splitlines()
        assert len(lines) == 2 + 3 + (task == data.CLASSIFICATION)
        assert all("| 1 of 1 |" in line for line in lines[2:])
    assert tables["log loss"].count("\n") == 4
    assert tables["errors of regression"].splitlines()[2].startswith("| waves | ")

    monkeypatch.setattr(runs, "run", None)  # no run is made again
    again, _ = run_command(ours, "--resume", *given)
    assert again.runs == results.runs


def test_the_search_gets_the_time_of_ours(folder, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(runs, "attempt", lambda *given: made.append(given) or {"fit": 7.0})
    options = ["--tools", tools.OURS, tools.SEARCHED, "--splits", "1", "--tables", "waves"]
    monkeypatch.setattr(ours, "TABLES", {})
    monkeypatch.setattr("sys.argv", ["tables", *options, "--output", str(tmp_path)])
    ours.main()
    assert made == [
        (1800, "waves", tools.OURS, 1, 10_000),
        (1800, "waves", tools.SEARCHED, 1, 10_000, 7.0),
    ]


def test_what_is_not_installed_says_so(monkeypatch):
    monkeypatch.setitem(runs.ALL_TOOLS, "absent", tools.Tool("no-such-package", None))
    assert runs.attempt(1, "waves", "absent", 0, 100) == {"error": runs.NOT_INSTALLED}


def test_rivals_may_be_resumed_after_a_change_of_hssvm(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "attempt", lambda *given: {"error": "none"})
    monkeypatch.setattr("sys.argv", ["rivals", "--resume", "--output", str(tmp_path)])
    rivals.main()
    monkeypatch.setattr("benchmarks.results.last_commit", lambda: "another")
    rivals.main()


@pytest.mark.parametrize("tool", tools.RIVALS)
@pytest.mark.parametrize("task", TASKS.values())
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_every_tool_that_is_installed(tool, task, disks, waves):
    if tools.RIVALS[tool].version is None or tools.RIVALS[tool].package == "pytabkit":
        pytest.skip("not installed, or slow")
    rows = disks() if task == data.CLASSIFICATION else waves
    found = runs.scored(tools.RIVALS[tool].make(task, 0), task, *rows)
    assert found["test error"] < 0.25
    assert ("log loss" in found) == (task == data.CLASSIFICATION)


@pytest.mark.parametrize("task", TASKS.values())
def test_lightgbm_searched(task, disks, waves):
    pytest.importorskip("optuna")
    model = SearchedLightGBM(task, split=0, n_threads=1, seconds=2)
    start = time.perf_counter()
    found = runs.scored(model, task, *(disks() if task == data.CLASSIFICATION else waves))
    assert time.perf_counter() - start < 4
    assert model.n_trials_ > 2
    assert found["test error"] < 0.25


def test_errors(rng):
    y, p = rng.integers(3, size=90), rng.dirichlet([1, 1, 1], 90)
    assert runs.log_loss(y, p) == pytest.approx(metrics.log_loss(y, p))
    assert runs.log_loss(np.array([-1]), p[:1]) == pytest.approx(-np.log(1e-6))
    values, predicted = rng.standard_normal((2, 50))
    expected = np.mean((values - predicted) ** 2) / values.var()
    assert runs.error_of(data.REGRESSION, values, predicted) == pytest.approx(expected)
    assert runs.error_of(data.CLASSIFICATION, y, p.argmax(1)) == np.mean(y != p.argmax(1))


@pytest.fixture
def results(tmp_path):
    """Three tables, two splits: CatBoost was stopped on the last table."""
    errors = {
        "HistGradientBoosting": [0.2, 0.4, 0.1],
        "CatBoost": [0.1, 0.2, None],
        tools.OURS: [0.1, 0.1, 0.2],
        tools.SEARCHED: [0.05, 0.05, 0.05],
    }
    rest, mine = Results(tmp_path / "table_rivals.json"), Results(tmp_path / "tables.json")
    for tool, values in errors.items():
        for table, error in zip("abc", values, strict=True):
            for split, factor in enumerate([0.5, 1.5]):
                run = {"task": data.REGRESSION, "fit": 3.0, "predict": 1.0, "test rows": 100}
                run = {"stopped": 9} if error is None else {**run, "test error": factor * error}
                file = rest if tool in tools.RIVALS else mine
                file.add(runs.key_of(table, tool, split), {**run, "wall": 1.0})
    return mine


def test_summary(results):
    found = summary.errors(results, data.REGRESSION)
    assert found.tables == ["a", "b", "c"]
    untuned = found.of_tools([tools.OURS, "HistGradientBoosting", "CatBoost"])
    ranks = {tools.OURS: 1.5, "HistGradientBoosting": 7 / 3, "CatBoost": 6.5 / 3}
    assert untuned.mean_ranks() == pytest.approx(ranks)
    assert untuned.mean_ratio(tools.OURS, "HistGradientBoosting") == pytest.approx(4 ** (-1 / 3))
    assert untuned.mean_ratio(tools.OURS, "CatBoost") == pytest.approx(2**-0.5)
    assert untuned.wins(tools.OURS, "CatBoost") == (1, 0)
    lines = ours.TABLES["regression"](results).splitlines()
    assert lines[2] == "| hssvm | 1.5 | 0.63 | 0.707 | - | 3 of 3 | 3 | 10,000 |"
    assert lines[3] == "| CatBoost | 2.17 | 0.5 | 1 | 1 : 0 | 2 of 3 | 3 | 10,000 |"
    assert lines[5].startswith("| LightGBM, searched | - | ")
    assert ours.TABLES["lost"](results).splitlines()[2:] == [
        "| c | regression | 0.2 | HistGradientBoosting | 0.1 | 2 |"
    ]
    assert ours.TABLES["errors of regression"](results).endswith("| c | 0.2 | 0.05 | 0.1 | - |")
    assert ours.TABLES["classification"](results).count("\n") == 1


def test_the_charts(results, monkeypatch):
    """The best tool is at the top of the first one, the worst table at the bottom of the second."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(ROOT / "docs" / "figures")
    monkeypatch.setattr("benchmarks.results.RESULTS", results.path.parent)
    spec = importlib.util.spec_from_file_location("charts", "tables.py")
    charts = importlib.util.module_from_spec(spec)
    with pyplot.rc_context():  # the module changes the style
        spec.loader.exec_module(charts)
        charts.ranks_of_regression()
        names = [label.get_text() for label in pyplot.gca().get_yticklabels()]
        assert names == ["HistGradientBoosting", "CatBoost", "hssvm"]
        charts.ratios_of_regression()
        (shown,) = (line for line in pyplot.gca().lines if line.get_label() == tools.OURS)
        assert list(shown.get_xdata()) == pytest.approx([2, 0.5, 0.25])
    pyplot.close("all")


def test_a_perfect_classifier_has_half_an_error():
    runs_of_two_splits = [{"test error": 0.0, "test rows": 50}] * 2
    assert summary.mean_of(runs_of_two_splits, "test error", data.CLASSIFICATION) == 0.005
    assert summary.mean_of(runs_of_two_splits, "test error", data.REGRESSION) == 0


def test_the_critical_difference_of_demsar():
    """Section 3.2.2 of his paper: four classifiers, 14 data sets."""
    found = summary.Errors(list("abcdefghijklmn"), list("wxyz"), np.zeros((14, 4)))
    assert found.critical_difference() == pytest.approx(1.25, abs=0.005)
    assert found.critical_difference(0.1) == pytest.approx(1.12, abs=0.005)
