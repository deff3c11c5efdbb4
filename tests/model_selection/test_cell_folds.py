"""Folds of many rows, which are trained in cells if the final model is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, StratifiedKFold

from hssvm import SVC, SVCCV, SVR, SVRCV, Cells
from hssvm.kernels import Gaussian
from hssvm.model_selection import selection
from hssvm.model_selection.fold_solver import FoldSolver

CELLS = Cells(size=60, n_trees=1)


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    """Few rows are many, and no model is exact."""
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    monkeypatch.setattr(selection, "SEPARATE_ROWS", 100)


def data_of(rng, n, n_classes=2):
    X = rng.standard_normal((n, 3))
    r = np.hypot(X[:, 0], X[:, 1])
    return X, r if n_classes == 0 else np.digitize(r, [0.9, 1.5][: n_classes - 1])


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_fold_models_are_those_of_an_estimator_with_cells(n_classes, rng):
    X, y = data_of(rng, 300, n_classes)
    seen = []

    def scoring(model, rows, targets):
        seen.append((model, rows))
        return 0.0

    search, single = (SVCCV, SVC) if n_classes else (SVRCV, SVR)
    cv = (StratifiedKFold if n_classes else KFold)(3)
    given = {"approximation": CELLS, "scaling": "standard", "random_state": 0, "tol": 1e-7}
    more = {} if n_classes else {"epsilon": 0.2}
    search([5.0], gammas=[0.4], cv=cv, scoring=scoring, **given, **more).fit(X, y)
    for (train, test), (fold, rows) in zip(cv.split(X, y), seen, strict=True):
        ovr = {"multi_class": "ovr"} if n_classes else {}
        model = single(5.0, gamma=0.4, **given, **more, **ovr).fit(X[train], y[train])
        assert model.fit_report_.n_cells > 1
        values = "decision_function" if n_classes else "predict"
        expected = getattr(model, values)(X[test])
        assert_allclose(getattr(fold, values)(rows), expected, atol=1e-4)
        assert_allclose(getattr(fold, values)(rows.copy()), expected, atol=1e-4)
        assert_allclose(fold.predict(rows), model.predict(X[test]), atol=1e-4)


def test_few_rows_are_on_the_exact_kernel(rng):
    X, y = data_of(rng, 90)
    exact = []

    def scoring(model, rows, targets):
        exact.append(model.model.result.compressed is None)
        return 0.0

    SVCCV([5.0], gammas=[0.4], scoring=scoring, approximation=CELLS, scaling=None, cv=3).fit(X, y)
    assert len(exact) == 3
    assert all(exact)


def test_members_have_about_eight_trees_together(rng, monkeypatch):
    monkeypatch.setattr("hssvm.costs.AFFORDABLE_PASS", 0.0)
    monkeypatch.setattr("hssvm.training.config.SMALL_CELL", 60)
    monkeypatch.setattr(FoldSolver, "again", lambda self, finalist: None)
    X, y = data_of(rng, 300)
    for count, n_trees in ((1, 4), (2, 4), (3, 3)):
        kept = lambda ranked, scores, score, limit, count=count: ranked[:count]  # noqa: E731
        monkeypatch.setattr(selection, "choose_members", kept)
        model = SVCCV(
            [5.0], gammas=[0.4], kernel=["rbf", "exponential", "laplacian"], scaling=None, cv=3,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        reports = [member.fit_report_ for member in model.members_]
        assert [report.n_trees for report in reports] == [n_trees] * count
        assert all(report.n_cells for report in reports)


@pytest.mark.parametrize("max_members", [1, 2])
def test_members_are_exact_if_all_of_them_are_affordable(max_members, rng, monkeypatch):
    X, y = data_of(rng, 300)
    model = SVCCV(
        [5.0], gammas=[0.4], kernel=["rbf", "exponential"], scaling=None, cv=3, random_state=0,
        max_members=max_members,
    )  # fmt: skip
    one_pass = 300**2 * Gaussian(1.0).value_cost(X)
    monkeypatch.setattr("hssvm.costs.AFFORDABLE_PASS", 1.5 * one_pass)
    model.fit(X, y)
    assert bool(model.members_[0].fit_report_.n_cells) == (max_members == 2)


@pytest.mark.parametrize("better", [True, False])
def test_more_trees_of_one_model_compete_with_a_mean(better, rng, monkeypatch):
    """The score of the best candidate with itself on other cells is the one to beat."""
    X, y = data_of(rng, 300)
    pairs = []

    def score_mean(self, finalists):
        same = finalists[0].candidate == finalists[1].candidate
        if same:
            pairs.append(finalists)
        return np.full(3, 0.9 if same == better else 0.8)

    monkeypatch.setattr(FoldSolver, "score_mean", score_mean)
    model = SVCCV(
        [5.0], gammas=[0.4], kernel=["rbf", "exponential"], scaling=None, cv=3, random_state=0,
        approximation=CELLS, scoring=lambda model, rows, targets: 0.5,
    ).fit(X, y)  # fmt: skip
    assert len(model.members_) == (1 if better else 2)
    ((first, again),) = pairs
    values = [[model.values for model in one.models] for one in (first, again)]
    for a, b in zip(*values, strict=True):
        assert a.shape == b.shape and not np.allclose(a, b)  # other cells


def test_scales_come_from_rows_that_no_fold_has(rng, monkeypatch):
    monkeypatch.setattr(selection, "max_sample_rows", lambda n: 80)
    monkeypatch.setattr("hssvm.model_selection.rounds.FIRST_ROWS", 90)
    monkeypatch.setattr("hssvm.model_selection.rounds.SEARCH_ROWS", 0)
    seen, learned = [], []
    make = selection.CommonScales

    def common(*arguments):
        seen.append(make(*arguments))
        return seen[-1]

    monkeypatch.setattr(selection, "CommonScales", common)
    original = FoldSolver.score

    def score(self, family, gamma, Cs):
        if self.scales is not None:
            learned.append((self, family))
        return original(self, family, gamma, Cs)

    monkeypatch.setattr(FoldSolver, "score", score)
    X, y = data_of(rng, 600)
    model = SVCCV(
        kernel="laplacian", scaling="learned", cv=3, approximation=CELLS, random_state=0
    ).fit(X, y)
    (scales,) = seen
    factors = scales.of(model._family).factors
    for solver, family in learned:
        assert not np.isin(solver.folds.rows, scales.rows).any()
        for group in solver.groups[family]:
            train = group.folds.splits[0][0]
            assert_allclose(group.scaling.factor, factors / solver.X[train].std(axis=0))
    assert learned
    assert_allclose(model.feature_factor_, factors / X.std(axis=0))
    assert_allclose(model.feature_importances_, factors / factors.sum())
    assert model.fit_report_.n_scale_steps == scales.of(model._family).n_steps
