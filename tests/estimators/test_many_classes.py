"""Many classes of few rows: thousands of pairs, solved by the core."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from reference import all_kernels
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as ExactSVC

import hssvm
from hssvm import SVC
from hssvm._threads import openmp_threads
from hssvm.kernels.base import CoreKernel
from hssvm.problems import PairsProblem
from hssvm.progress import Share, listening
from hssvm.solvers import Status
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.exact import parts as training_parts
from hssvm.training.routes.exact.solver import ExactSolver

N_CLASSES = 18  # 153 pairs
CORE_KERNELS = [kernel for kernel in all_kernels(0.4) if isinstance(kernel, CoreKernel)]


def clusters(rng, n, dtype=np.float64):
    """Overlapping classes of different sizes."""
    centers = 1.5 * rng.standard_normal((N_CLASSES, 4))
    y = np.sort(np.minimum(rng.integers(N_CLASSES, size=n), rng.integers(N_CLASSES, size=n)))
    y[:N_CLASSES] = np.arange(N_CLASSES)
    y = rng.permutation(y)
    return (centers[y] + rng.standard_normal((n, 4))).astype(dtype), y


@pytest.fixture
def one_by_one(monkeypatch):
    def change():
        monkeypatch.setattr(training_parts, "MANY_PARTS", 10**9)

    return change


def test_the_same_labels_as_scikit_learn(rng):
    X, y = clusters(rng, 2500)
    model = SVC(C=3.0, gamma=0.3).fit(X, y)
    assert set(model.fit_report_.status) == {"CONVERGED"}
    exact = ExactSVC(C=3.0, gamma=0.3, tol=1e-5, decision_function_shape="ovo").fit(X, y)
    T = clusters(rng, 500)[0]
    values = model._decision_values(T)
    assert_allclose(values, exact.decision_function(T), atol=0.02)
    clear = np.abs(values).min(axis=1) > 0.04
    assert_array_equal(model.predict(T)[clear], exact.predict(T)[clear])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", CORE_KERNELS)
def test_every_pair_is_solved(kernel, dtype, rng):
    X, y = clusters(rng, 300, dtype)
    cost = rng.uniform(0, 5, 300).astype(dtype) * (rng.random(300) < 0.9)
    problem = PairsProblem(y, cost.astype(dtype), N_CLASSES)
    solver = ExactSolver(kernel, 1e-4, 1e9, np.inf)
    solution = training_parts.solve_parts(problem, X, solver, Monitor(), None)
    assert np.all(solution.gap <= (1e-4 if dtype == np.float64 else 2e-3))
    K = kernel.block(X.astype(float))
    for index, pair in enumerate(problem.parts()):
        z = pair.pick(solution.Z)
        assert abs(z.sum()) <= 1e-5 * (1 + np.abs(z).sum())
        values = pair.problem.evaluate(z, K[np.ix_(pair.places.rows, pair.places.rows)] @ z)
        error = 2e-3 if dtype == np.float32 else 1e-9
        for name in ("primal", "dual"):
            found = getattr(solution, name)[index]
            assert_allclose(found, getattr(values, name)[0], atol=error * values.size[0])
        assert values.gap[0] <= 1e-4 + 2 * error


def test_the_same_as_one_by_one(rng, one_by_one):
    X, y = clusters(rng, 1000)
    models = [SVC(C=3.0, gamma=0.3, refine=True).fit(X, y)]
    one_by_one()
    models.append(SVC(C=3.0, gamma=0.3, refine=True).fit(X, y))
    T = clusters(rng, 200)[0]
    assert_allclose(models[0].intercept_, models[1].intercept_, atol=1e-3)
    assert_allclose(*(model._decision_values(T) for model in models), atol=1e-3)
    gaps = [model.certify(X, y).gap for model in models]
    assert max(gap.max() for gap in gaps) <= 1e-6
    assert_allclose(models[0].fit_report_.gap, gaps[0], atol=1e-9)


def test_any_number_of_threads_gives_the_same_model(rng):
    X, y = clusters(rng, 600)
    models = []
    for n_threads in (1, 2):
        with openmp_threads(n_threads):
            models.append(SVC(C=3.0, gamma=0.3).fit(X, y))
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert_array_equal(models[0].intercept_, models[1].intercept_)


def test_hard_pairs_go_on_one_by_one(rng, monkeypatch):
    monkeypatch.setattr(training_parts, "BATCHED_STEPS", 20)
    X, y = clusters(rng, 600)
    report = SVC(C=100.0, gamma=0.3).fit(X, y).fit_report_
    assert set(report.status) == {"CONVERGED"}
    assert report.gap.max() <= 1e-7


def test_time_limit_and_warm_start(rng, monkeypatch):
    monkeypatch.setattr(training_parts, "BATCH_ROWS", 1000)
    X, y = clusters(rng, 3000)
    model = SVC(C=3.0, gamma=0.3, max_time=1e-9, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model.fit(X, y)
    report = model.fit_report_
    assert set(report.status) == {"MAX_TIME"}
    assert_allclose(report.gap, 1)
    model.set_params(max_time=None).fit(X, y)
    cold = SVC(C=3.0, gamma=0.3).fit(X, y)
    assert_allclose(model.fit_report_.objective, cold.fit_report_.objective, rtol=1e-3)
    again = model.fit(X, y).fit_report_
    assert_allclose(again.objective, cold.fit_report_.objective, rtol=1e-3)
    assert set(again.status) == {"CONVERGED"}


def test_sparse_rows_give_the_same_model(rng):
    X, y = clusters(rng, 400)
    dense, sparse = (SVC(gamma=0.3).fit(rows, y) for rows in (X, scipy.sparse.csr_array(X)))
    assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-3)


def test_predictions_some_rows_at_a_time(rng, monkeypatch, tmp_path):
    X, y = clusters(rng, 600)
    model = SVC(gamma=0.3).fit(X, y)
    T = clusters(rng, 100)[0]
    labels, values = model.predict(T), model.decision_function(T)
    monkeypatch.setattr("hssvm.estimators.classifier.PAIR_VALUES", 7 * 153)
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    for rows in (T, T.tolist(), scipy.sparse.coo_array(T)):
        assert_array_equal(model.predict(rows), labels)
        assert_allclose(loaded.decision_function(rows), values, rtol=1e-12)


def test_a_kernel_that_overflows_is_named(rng):
    X, y = clusters(rng, 3000, np.float32)
    X[int(rng.integers(3000))] = 1e10
    with pytest.raises(ValueError, match="overflow"):
        SVC(kernel="poly", degree=5, gamma=1.0).fit(X, y)


def test_progress_only_grows(rng, monkeypatch):
    monkeypatch.setattr(training_parts, "BATCH_ROWS", 2000)
    monkeypatch.setattr(training_parts, "PARTS_PER_THREAD", 1)
    X, y = clusters(rng, 3000)
    events = []
    with listening(events.append):
        SVC(C=3.0, gamma=0.3).fit(X, y)
    done = [event.done for event in events if isinstance(event, Share)]
    assert len(done) > 10
    assert done == sorted(done)
    assert done[-1] == 1


def test_stopped_pairs_have_a_gap(rng):
    X, y = clusters(rng, 300)
    problem = PairsProblem(y, np.ones(300), N_CLASSES)

    class Stops(Monitor):
        def stop(self):
            return Status.STOPPED

    solver = ExactSolver(hssvm.kernels.Gaussian(0.3), 1e-4, 1e9, np.inf)
    solution = training_parts.solve_parts(problem, X, solver, Stops(), None)
    assert set(solution.status) == {Status.STOPPED}
    assert np.all(solution.gap == 1) and not solution.Z.any()
