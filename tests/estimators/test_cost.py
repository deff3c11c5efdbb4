import numpy as np
import pytest
from helpers.rows import stripes
from sklearn.exceptions import NotFittedError

from hssvm import HSS, SVC, SVR, Cells, OneClassSVM
from hssvm.hss import ClusterTree
from hssvm.training.routes.cells.route import SPLITTER


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("n", [300, 5000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_an_estimate_describes_the_fit(n, refine, rng):
    X, y = stripes(rng, n, 6)
    model = SVC(gamma=0.3, refine=refine, approximation=HSS(), random_state=0, tol=1e-2)
    estimate = model.estimate_cost(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    report = model.fit(X, y).fit_report_
    assert estimate.memory > report.matrix_bytes + report.factor_bytes
    assert estimate.n_rows == n
    assert estimate.refines == (refine and n > 2000)
    assert estimate.seconds.keys() == report.seconds.keys()
    assert f"{n:,} rows" in str(estimate)


def test_an_estimate_describes_cells(rng, monkeypatch):
    splitters = []
    monkeypatch.setattr(
        "hssvm.training.cell_cost.ClusterTree.build",
        lambda *args, build=ClusterTree.build: splitters.append(args[2]) or build(*args),
    )
    X, y = stripes(rng, 12_000)
    model = SVC(approximation=Cells(1400, 3), out_of_fold=True, random_state=0)
    estimate = model.estimate_cost(X, y)
    assert set(splitters) == {SPLITTER}
    assert (estimate.cell_size, estimate.n_trees) == (750, 3)
    assert estimate.n_sample % 750 == 0
    assert estimate.seconds.keys() == {"tree", "solve"}
    assert "within cells of 750 rows of 3 trees" in str(estimate)
    assert SVC(approximation=Cells(800, 3)).estimate_cost(X, y).cell_size == 750


@pytest.mark.slow
@pytest.mark.parametrize("out_of_fold", [False, True])
@pytest.mark.parametrize("size", [2000, 3500])
def test_estimates_of_cells_are_near_their_fits(size, out_of_fold, rng):
    X, y = stripes(rng, 100_000, 6)
    model = SVC(C=10, approximation=Cells(size, 2), out_of_fold=out_of_fold, random_state=0)
    expected = model.estimate_cost(X, y).seconds
    seconds = model.fit(X, y).fit_report_.seconds
    assert seconds["solve"] > 1
    assert seconds["solve"] / 2.5 < expected["solve"] < 2.5 * seconds["solve"]
    assert seconds["tree"] / 4 < expected["tree"] < 4 * seconds["tree"]


@pytest.mark.parametrize("estimator", [SVR(), OneClassSVM(nu=0.1)])
def test_other_estimators(estimator, rng):
    X, y = stripes(rng, 5000)
    rows = (X,) if isinstance(estimator, OneClassSVM) else (X, y)
    estimate = estimator.set_params(scaling="standard", random_state=0).estimate_cost(*rows)
    assert estimate.total_seconds > 0
    assert estimate.advice == ["No problem expected."]


def test_labels_of_any_kind_and_rare_classes(rng):
    X, _ = stripes(rng, 30_000)
    y = np.where(np.arange(30_000) % 3000 == 0, "rare", "common")
    assert SVC(random_state=0, approximation=HSS()).estimate_cost(X, y).n_sample == 8000


def test_two_rows_are_enough(rng):
    X = rng.standard_normal((2, 3))
    assert SVC().estimate_cost(X, [0, 1]).n_sample == 2
    assert SVR().estimate_cost(X[:1], [0.5]).n_sample == 1
    with pytest.raises(ValueError, match="the data has 1 class"):
        SVC().estimate_cost(X, [1, 1])


def test_advice_on_a_narrow_kernel(rng):
    X, y = rng.standard_normal((10_000, 10)), rng.random(10_000) < 0.5
    poor = SVC(gamma=0.5, approximation=HSS(max_rank=8), tol=0.1, random_state=0)
    assert any("lower gamma" in advice for advice in poor.estimate_cost(X, y).advice)


def test_advice_on_little_memory(rng, monkeypatch):
    monkeypatch.setattr("hssvm.training.cost.installed_memory", lambda: 1e6)
    X, y = stripes(rng, 10_000)
    estimate = SVC(approximation=HSS(), random_state=0).estimate_cost(X, y)
    assert "this machine has" in estimate.advice[0]


DATA = {"ijcnn1": True, "a9a": True, "cod-rna": False, "w8a": False, "covtype.50k": False}


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
@pytest.mark.filterwarnings("ignore:The gap no longer decreases")  # w8a in float32
def test_estimates_of_real_data(name):
    from benchmarks.peers.settings import load_setting

    (X, y, _, _), parameters = load_setting(name)
    model = SVC(**parameters, refine=DATA[name], approximation=HSS(), random_state=0)
    estimate = model.estimate_cost(X, y)
    report = model.fit(X, y).fit_report_
    total = sum(report.seconds.values())
    assert total / 2 < estimate.total_seconds < 2 * total
