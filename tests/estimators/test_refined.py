import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose
from reference import svc_primal
from sklearn.svm import SVC as ExactSVC
from sklearn.utils import compute_sample_weight

from hssvm import HSS, SVC, SVCCV, OneClassSVM, svc_path
from hssvm.kernels import Gaussian


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_refined_is_the_exact_svm(dtype, sparse, rng):
    X, y = noisy_classes(rng, 4000, dtype=dtype)
    weight = rng.uniform(0, 2, 3000)
    rows = scipy.sparse.csr_array(X) if sparse else X
    model = SVC(C=5.0, gamma=0.3, refine=True, approximation=HSS(max_rank=8))
    model.fit(rows[:3000], y[:3000], sample_weight=weight)
    exact = ExactSVC(C=5.0, gamma=0.3, tol=1e-5)
    exact.fit(X[:3000].astype(float), y[:3000], sample_weight=weight)
    values = exact.decision_function(X.astype(float))
    assert_allclose(model.decision_function(rows), values, atol=0.02 * np.abs(values).max())
    assert np.mean(model.predict(rows[3000:]) == exact.predict(X[3000:])) > 0.99
    K = Gaussian(0.3).block(X[:3000].astype(float))
    z, z_exact = np.zeros(3000), np.zeros(3000)
    z[model.support_], z_exact[exact.support_] = model.dual_coef_[0], exact.dual_coef_[0]
    dual, dual_exact = (np.abs(v).sum() - v @ K @ v / 2 for v in (z, z_exact))
    assert_allclose(dual, dual_exact, rtol=2e-5)
    report = model.fit_report_
    assert report.exact_kernel
    assert report.gap[0] <= 1e-4
    assert report.n_rounds[0] > 0
    assert report.objective_error[0] == 0
    primal = svc_primal(K, z, 2 * y[:3000] - 1, 5 * weight, model.intercept_[0])
    assert_allclose(report.objective[0], primal, rtol=1e-5)
    assert "on the exact kernel" in model.summary()
    copy = pickle.loads(pickle.dumps(model))
    assert_allclose(copy.decision_function(rows), model.decision_function(rows))


def test_refined_classes_are_one_against_the_rest(rng):
    X, y = noisy_classes(rng, 2500, n_classes=3)
    model = SVC(gamma=0.3, class_weight="balanced", multi_class="ovr", refine=True).fit(X, y)
    weight = compute_sample_weight("balanced", y)
    values = np.stack(
        [
            ExactSVC(gamma=0.3, tol=1e-5).fit(X, y == c, sample_weight=weight).decision_function(X)
            for c in range(3)
        ],
        axis=1,
    )
    assert_allclose(model.decision_function(X), values, atol=0.02 * np.abs(values).max())
    assert model.fit_report_.gap.max() <= 1e-4


def test_refined_path_and_cross_validation(rng):
    X, y = noisy_classes(rng, 2500)
    path = svc_path(X, y, [0.1, 10.0], gamma=0.3, refine=True, random_state=0)
    assert path.fit_report_.exact_kernel
    for j, C in enumerate(path.Cs):
        exact = ExactSVC(C=C, gamma=0.3, tol=1e-5).fit(X, y).decision_function(X)
        found = path.decision_function(X)[:, j]
        assert_allclose(found, exact, atol=0.02 * np.abs(exact).max())
    search = SVCCV(Cs=[0.1, 1.0], gammas=[0.3], cv=3, refine=True, random_state=0).fit(X, y)
    exact = ExactSVC(C=search.C_, gamma=0.3, tol=1e-5).fit(X, y).decision_function(X)
    assert_allclose(search.decision_function(X), exact, atol=0.02 * np.abs(exact).max())
    assert search.certify(X, y).gap[0] <= 1.1e-4


def test_automatic_choice_follows_the_budget(rng, monkeypatch):
    X, y = noisy_classes(rng, 2500)
    assert SVC().fit(X, y).fit_report_.exact_kernel
    assert not SVC(prediction="compressed").fit(X, y).fit_report_.exact_kernel
    monkeypatch.setattr("hssvm.costs.AFFORDABLE_PASS", 0.0)
    model = SVC().fit(X, y)
    assert not model.fit_report_.exact_kernel
    assert model.fit_report_.n_cells > 1
    assert len(OneClassSVM().fit(X).fit_report_.ranks) > 1
    assert SVC(refine=np.True_).fit(X, y).fit_report_.exact_kernel
    small = SVC(refine=True).fit(X[:500], y[:500])  # nothing to refine
    assert small.fit_report_.exact_kernel
    assert "refine" not in small.fit_report_.seconds


def test_what_does_not_go_together(rng):
    X, y = noisy_classes(rng, 2500)
    with pytest.raises(ValueError, match=r"set approximation=HSS\(\)"):
        SVC(refine=True, prediction="compressed").fit(X, y)
    with pytest.raises(ValueError, match="refine=True is not available with solver='paper'"):
        SVC(refine=True, solver="paper").fit(X, y)
    with pytest.raises(ValueError, match="refine must be"):
        SVC(refine="perhaps").fit(X, y)
    with pytest.raises(TypeError, match="no parameter 'cache_size': use memory_limit='4GB'"):
        SVC(refine=True, cache_size=100)
    with pytest.raises(ValueError, match="max_time"):
        SVC(refine=True, max_time=-1).fit(X, y)
    model = SVC(refine=True).fit(X, y).set_params(prediction="compressed")
    with pytest.raises(ValueError, match=r"fit with approximation=HSS\(\)"):
        model.predict(X)


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_certificate_by_definition(refine, n_classes, rng):
    X, y = noisy_classes(rng, 2500, n_classes=n_classes)
    weight, of_class = rng.uniform(0.5, 2, 2500), np.array([1.0, 2.0, 0.5])[:n_classes]
    model = SVC(
        C=3.0, gamma=0.3, refine=refine, approximation=HSS(), random_state=0, multi_class="ovr",
        class_weight=dict(enumerate(of_class)),
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    cost = 3 * weight * of_class[y]
    found = model.certify(X, y, sample_weight=weight)
    K = Gaussian(0.3).block(X)
    for j in range(1 if n_classes == 2 else 3):
        z, sign = np.zeros(2500), np.where(y == (1 if n_classes == 2 else j), 1, -1)
        z[model.support_] = model.dual_coef_[j]
        primal = svc_primal(K, z, sign, cost, model.intercept_[j])
        dual = np.abs(z).sum() - z @ K @ z / 2
        assert_allclose([found.primal[j], found.dual[j]], [primal, dual], rtol=1e-8)
        assert_allclose(found.gap[j], (primal - dual) / primal, atol=1e-8)
    assert_allclose(found.low, found.high)
    assert found.n_rows == 2500
    assert "relative gap" in str(found)
    if refine:
        assert_allclose(found.gap, model.fit_report_.gap, atol=1e-6)


def test_sampled_certificate_covers_the_truth(rng):
    """95 % intervals: of 40, fewer than 30 have a chance below 1e-5."""
    X, y = noisy_classes(rng, 3000)
    model = SVC(C=3.0, gamma=0.3, approximation=HSS(max_rank=12)).fit(X, y)
    truth = model.certify(X, y).gap[0]
    found = [model.certify(X, y, n_rows=600) for _ in range(40)]
    assert all(certificate.n_rows == 600 for certificate in found)
    assert sum(c.low[0] <= truth <= c.high[0] for c in found) >= 30
    # and are no wider than the estimates scatter: four standard deviations, of 40 draws
    width = np.mean([c.high[0] - c.low[0] for c in found])
    assert width < 8 * np.std([c.gap[0] for c in found])


def test_certificate_of_a_float32_model_is_computed_in_float64(rng):
    X, y = noisy_classes(rng, 2500, dtype=np.float32)
    model = SVC(C=300.0, gamma=1.0, refine=True).fit(X, y)
    K, z = Gaussian(1.0).block(X.astype(float)), np.zeros(2500)
    z[model.support_] = model.dual_coef_[0]
    primal = svc_primal(K, z, 2 * y - 1, 300.0, model.intercept_[0])
    found = model.certify(X, y)
    assert_allclose(found.gap[0], 1 - (np.abs(z).sum() - z @ K @ z / 2) / primal, atol=1e-5)


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_the_reported_gap_is_that_of_the_certificate(C, rng):
    """Also where rounding errors of float32 are as large as the gap."""
    X, y = noisy_classes(rng, 2500, dtype=np.float32)
    model = SVC(C=C, gamma=0.3, refine=True, tol=1e-2, random_state=0).fit(X, y)
    assert model.fit_report_.n_rounds[0] > 0
    certified = model.certify(X, y).gap[0]
    assert certified < 1e-2
    assert certified == pytest.approx(model.fit_report_.gap[0], rel=0.2, abs=5e-3)


def test_certificate_needs_the_training_data(rng):
    X, y = noisy_classes(rng, 300)
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="X has fewer rows than the training data"):
        model.certify(X[:20], y[:20])
    order = rng.permutation(300)
    with pytest.raises(ValueError, match="in another order"):
        model.certify(X[order], y[order])
    with pytest.raises(ValueError, match="in another order"):
        model.certify(scipy.sparse.csr_array(X[order]), y[order])
    with pytest.raises(ValueError, match="n_rows"):
        model.certify(X, y, n_rows=0)
    assert model.certify(X, y, n_rows=300).n_rows == 300
    with pytest.raises(ValueError, match="labels"):
        model.certify(X, np.zeros(300))
