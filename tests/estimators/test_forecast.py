import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hssvm import SVC, SVR, OneClassSVM


def stripes(rng, n, p=2):
    X = rng.uniform(-3, 3, (n, p))
    return X, np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(n) > 0


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("n", [300, 5000, 20_000])
def test_memory_is_that_of_the_fit(n, refine, rng):
    X, y = stripes(rng, n, 6)
    model = SVC(gamma=0.3, refine=refine, random_state=0, tol=1e-2)
    forecast = model.forecast(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    report = model.fit(X, y).fit_report_
    memory = report.matrix_bytes + report.factor_bytes
    assert memory / 1.5 < forecast.memory < 1.5 * memory
    assert forecast.n_rows == n
    assert forecast.refines == (refine and n > 2000)
    assert forecast.seconds.keys() == report.seconds.keys()
    assert f"{n:,} rows" in str(forecast)


@pytest.mark.parametrize("estimator", [SVR(), OneClassSVM(nu=0.1)])
def test_other_estimators(estimator, rng):
    X, y = stripes(rng, 5000)
    rows = (X,) if isinstance(estimator, OneClassSVM) else (X, y)
    forecast = estimator.set_params(scaling="standard", random_state=0).forecast(*rows)
    assert forecast.total_seconds > 0
    assert forecast.advice == ["fits."]


def test_labels_of_any_kind_and_rare_classes(rng):
    X, _ = stripes(rng, 30_000)
    y = np.where(np.arange(30_000) % 3000 == 0, "rare", "common")
    assert SVC(random_state=0, refine=False).forecast(X, y).n_sample == 8000


def test_advice_on_a_narrow_kernel(rng):
    X, y = rng.standard_normal((10_000, 10)), rng.random(10_000) < 0.5
    poor = SVC(gamma=0.5, refine=False, max_rank=8, tol=0.1, random_state=0).forecast(X, y)
    assert any("smaller gamma" in advice for advice in poor.advice)


def test_advice_on_little_memory(rng, monkeypatch):
    monkeypatch.setattr("hssvm.estimators.forecast._installed_memory", lambda: 1e6)
    X, y = stripes(rng, 10_000)
    assert "too little" in SVC(refine=False, random_state=0).forecast(X, y).advice[0]


@pytest.mark.parametrize("estimator", [SVC(), SVR(), OneClassSVM()])
def test_a_fit_beyond_the_limit_is_refused(estimator, rng):
    X, y = stripes(rng, 10_000)
    estimator = clone(estimator).set_params(memory_limit=1e6, refine=False, random_state=0)
    with pytest.raises(MemoryError, match="lower max_rank"):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    report = estimator.set_params(memory_limit=1e9).fit(X, y).fit_report_
    assert report.matrix_bytes + report.factor_bytes < 1e9


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")
def test_the_limit_is_one_on_what_a_fit_may_take(rng):
    X, y = rng.standard_normal((6000, 12)), rng.random(6000) < 0.5
    model = SVC(gamma=0.3, refine=False, tol=0.1, random_state=0).fit(X, y)  # all ranks are full
    memory = model.fit_report_.matrix_bytes + model.fit_report_.factor_bytes
    with pytest.raises(MemoryError):
        model.set_params(memory_limit=0.9 * memory).fit(X, y)
    model.set_params(memory_limit=1.2 * memory).fit(X, y)


DATA = {"ijcnn1": True, "a9a": True, "cod-rna": False, "w8a": False, "covtype.50k": False}


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_forecasts_of_real_data(name):
    from benchmarks.peers.settings import load_setting

    (X, y, _, _), parameters = load_setting(name)
    model = SVC(**parameters, refine=DATA[name], random_state=0)
    forecast = model.forecast(X, y)
    report = model.fit(X, y).fit_report_
    memory = report.matrix_bytes + report.factor_bytes
    assert memory / 1.5 < forecast.memory < 1.5 * memory
    total = sum(report.seconds.values())
    assert total / 2 < forecast.total_seconds < 2 * total
