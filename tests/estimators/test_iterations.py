"""`max_iter` limits what `n_iter_` counts, whichever solvers a fit uses."""

import numpy as np
import pytest
from helpers.rows import stripes
from reference import exponential_function
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hssvm import HSS, SVC, SVR, OneClassSVM

HARD = {"gamma": 1.0, "tol": 1e-9, "random_state": 0}

ROUTES = {
    "few rows": (SVC(C=100, **HARD), 300),
    "few rows of a callable": (SVC(C=100, kernel=exponential_function), 150),
    "one-vs-rest": (SVC(C=100, multi_class="ovr", **HARD), 300),
    "pairs": (SVC(C=100, multi_class="ovo", **HARD), 300),
    "large pairs": (SVC(C=100, multi_class="ovo", refine=True, gamma=1.0, tol=1e-6), 2500),
    "working set": (SVC(C=100, refine=True, **HARD), 3100),
    "refinement": (SVR(C=100, refine=True, **HARD), 2500),
    "one tree": (SVC(C=100, approximation=HSS(n_trees=1), **HARD), 2500),
    "forest": (SVC(C=100, approximation=HSS(n_trees=2), **HARD), 2500),
    "large leaf": (SVC(C=100, approximation=HSS(leaf_size=3000), **HARD), 2100),
    "regression": (SVR(C=100, **HARD), 300),
    "novelty": (OneClassSVM(nu=0.3, **HARD), 300),
    "novelty, compressed": (OneClassSVM(nu=0.3, refine=False, **HARD), 2500),
}  # fmt: skip


def fit(name, rng, max_iter):
    estimator, n = ROUTES[name]
    X, y = stripes(rng, n)
    if name in ("one-vs-rest", "pairs", "large pairs"):
        y = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    return clone(estimator).set_params(max_iter=max_iter).fit(X, y)


@pytest.mark.parametrize("max_iter", [1, 7, 30])
@pytest.mark.parametrize("name", ROUTES)
def test_iterations_are_limited(name, max_iter, rng):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = fit(name, rng, max_iter)
    report = model.fit_report_
    assert model.n_iter_.max() == max_iter
    for gap, status, n_iter in zip(report.gap, report.status, model.n_iter_, strict=True):
        assert np.isfinite(gap)
        assert status == ("CONVERGED" if gap <= report.tol else "MAX_ITER")
        assert status == "CONVERGED" or n_iter == max_iter


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["few rows", "pairs", "one tree", "regression", "novelty"])
def test_a_large_limit_changes_nothing(name, rng):
    seed = rng.integers(2**32)
    free, limited = (fit(name, np.random.default_rng(seed), m) for m in (None, 10**9))
    if name != "one tree":  # where None means 1000
        np.testing.assert_array_equal(limited.n_iter_, free.n_iter_)
        np.testing.assert_array_equal(limited.dual_coef_, free.dual_coef_)
    assert (free.n_iter_ > 30).all()


def test_the_paper_makes_all_iterations(rng):
    X, y = stripes(rng, 2500)
    model = SVC(solver="paper", max_iter=7).fit(X, y)
    assert model.n_iter_[0] == 7
    assert model.fit_report_.status == ["FIXED"]


def test_reduced_models_have_no_iterations(rng, tmp_path):
    X, y = stripes(rng, 500)
    model = SVC(gamma=1.0).fit(X, y)
    reduced = model.reduce(X, y)
    assert model.n_iter_[0] > 0
    with pytest.raises(AttributeError, match="reduced"):
        reduced.n_iter_  # noqa: B018
    reduced.save(tmp_path / "model.hssvm")
