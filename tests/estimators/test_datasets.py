"""On real data: minutes, by hand."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as LIBSVM

from hssvm import HSS, SVC, SVCCV, svc_path

SETS = {"ijcnn1": (0.5, None), "cod-rna": (1.0, "standard"), "a9a": (3.0, None)}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize(("refine", "tol"), [(False, 1e-3), (True, 1e-4)])
def test_gap_below_tol_or_the_status_says_why(data, name, C, refine, tol, rng):
    h, scale = SETS[name]
    X, y, _, _ = data(name, scale=scale)
    seed = int(rng.integers(1000))
    parameters = {"refine": refine, "approximation": HSS(), "random_state": seed}
    model = SVC(C=C, gamma=1 / (2 * h**2), **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    report = model.fit_report_
    print(name, C, report.gap[0], report.n_iter[0], report.n_rounds[0], report.status)
    assert (report.gap[0] <= 1e-3) == (report.status == ["CONVERGED"])
    assert report.gap[0] <= 5 * tol


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "C", "exact"),
    [("ijcnn1", 10.0, 98.91), ("cod-rna", 1.0, 96.61), ("a9a", 1.0, 85.04)],
)
@pytest.mark.parametrize(("refine", "error"), [(False, 0.4), (True, 0.05)])
def test_accuracy_is_near_that_of_the_exact_svm(data, name, C, exact, refine, error, rng):
    h, scale = SETS[name]
    X, y, X_test, y_test = data(name, scale=scale)
    seeds = rng.integers(1000, size=1 if refine else 3).tolist()  # one compression varies by 0.2
    parameters = {"gamma": 1 / (2 * h**2), "refine": refine, "approximation": HSS()}
    models = [SVC(C=C, random_state=seed, **parameters) for seed in seeds]
    accuracy = 100 * np.mean([model.fit(X, y).score(X_test, y_test) for model in models])
    assert accuracy >= exact - error
    if refine:
        assert accuracy <= exact + error


@pytest.mark.slow
def test_cross_validation_agrees_with_a_fit_per_fold(data):
    """Mean of two compressions per fold: one alone varies by a quarter of a point itself."""
    X, y, _, _ = data("ijcnn1", max_train=20_000)
    cv, Cs, gamma = StratifiedKFold(5, shuffle=True, random_state=0), np.logspace(-2, 2, 10), 2.0
    model = SVCCV(Cs, gammas=[gamma], cv=cv, approximation=HSS(), random_state=0).fit(X, y)
    scores = np.zeros((Cs.size, 5))
    for f, (train, test) in enumerate(cv.split(X, y)):
        for seed in range(2):
            options = {"gamma": gamma, "approximation": HSS(), "random_state": seed}
            path = svc_path(X[train], y[train], Cs, **options)
            scores[:, f] += np.mean(path.predict(X[test]) == y[test][:, None], axis=0) / 2
    print(np.round(100 * (model.scores_[0] - scores), 2))
    assert np.abs(model.scores_[0] - scores).max() <= 0.003
    means = scores.mean(axis=1)
    assert means[np.flatnonzero(Cs == model.C_)[0]] >= means.max() - 0.001


L1_SETS = ["a9a", "diabetes", "ijcnn1", "cod-rna", "skin_nonskin", "covtype.binary", "phishing",
           "higgs_sample", "susy_sample", "australian"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", L1_SETS)
def test_the_l1_kernel_gives_the_same_model_as_libsvm_on_its_matrix(data, name):
    X, y, X_test, _ = data(name, max_train=2000)
    X, X_test = (Z.toarray() if scipy.sparse.issparse(Z) else Z for Z in (X, X_test[:2000]))
    scaler = StandardScaler().fit(X)
    X, X_test = (scaler.transform(Z).astype(np.float64) for Z in (X, X_test))
    gamma = 1 / X.shape[1]
    K, cross = laplacian_kernel(X, gamma=gamma), laplacian_kernel(X_test, X, gamma=gamma)
    theirs = LIBSVM(C=10, kernel="precomputed", tol=1e-7).fit(K, y)
    ours = SVC(C=10, kernel="laplacian", gamma=gamma, refine=True, tol=1e-7).fit(X, y)
    values = ours.decision_function(X_test)
    np.testing.assert_allclose(values, theirs.decision_function(cross), atol=1e-4)
    clear = np.abs(values) > 1e-4
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(ours.predict(X_test)[clear], theirs.predict(cross)[clear])
    assert dual(ours, K) == pytest.approx(dual(theirs, K), rel=1e-6)


def dual(model, K):
    """Objective of the dual, to be maximized."""
    z = np.zeros(len(K))
    z[model.support_] = model.dual_coef_[0]
    return np.abs(z).sum() - z @ K @ z / 2
