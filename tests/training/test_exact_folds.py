"""Exact models that leave out a fold, with the knowledge of the model of all rows."""

import numpy as np
import pytest
from helpers.rows import two_moons
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hssvm import SVC
from hssvm.kernels import Gaussian
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import SVCProblem, SVRProblem
from hssvm.solvers import Solution, WorkingSet
from hssvm.training import FitReport, Monitor, Route, TrainingConfig
from hssvm.training.out_of_fold import assign_folds
from hssvm.training.routes.exact import folds as exact_folds
from hssvm.training.routes.exact.folds import _balanced, _near, exact_decisions


@pytest.mark.parametrize("kind", ["SVC", "SVR"])
def test_values_are_those_of_exact_solutions(kind, rng, monkeypatch):
    """Where the fold models are solved accurately, on the rows near the margin only."""
    monkeypatch.setattr(exact_folds, "FOLD_GAP", 1e-6)
    X, y = two_moons(rng, 700)
    if kind == "SVC":
        problem = SVCProblem(10.0 * y[:, None])
    else:
        y = X[:, :1] + 0.1 * rng.standard_normal((700, 1))
        problem = SVRProblem(y, np.full((700, 1), 5.0), np.array([0.1]))
    K = LazyKernelMatrix(Gaussian(1.0), X)
    zero = Solution.empty(np.zeros((700, 1)))
    solution = WorkingSet(1e-6).solve(problem, K, zero)
    plan = TrainingConfig(held_out=700).plan(700, route=Route.REFINED)
    values = exact_decisions(problem, Gaussian(1.0), X, solution, plan, FitReport(), Monitor())
    fold = assign_folds(problem.strata, plan.seed)
    for f in range(5):
        bound = np.where(fold == f, 0, problem.reach[:, 0])[:, None]
        alone = (
            SVCProblem(bound * problem.linear)
            if kind == "SVC"
            else SVRProblem(y, bound, np.array([0.1]))
        )
        solved = WorkingSet(1e-6).solve(alone, K, zero)
        expected = (solved.F + solved.intercept)[fold == f]
        error = np.abs(values[fold == f] - expected)
        assert error.mean() < 0.02
        assert error.max() < 0.3  # a row outside the margin of all rows may be inside here


def test_far_rows_are_predicted(rng):
    """Rows far outside the margin are in no working set, but have values of their fold, too."""
    X = np.concatenate([two_moons(rng, 600)[0], rng.standard_normal((600, 2)) * 0.1 + 3])
    y = np.concatenate([two_moons(rng, 600)[1], np.ones(600)])
    model = SVC(C=10.0, gamma=1.0, out_of_fold=True, random_state=0).fit(X, y)
    assert np.isfinite(model.out_of_fold_decision_).all()
    assert np.all(model.out_of_fold_decision_[600:] > 0.5)  # the outermost have some 0.85


@given(seed=st.integers(0, 2**32 - 1))
def test_balanced_columns(seed):
    rng = np.random.default_rng(seed)
    Z = rng.choice([-1.0, 0.0, 1.0], (30, 3)) * rng.uniform(0, 2, (30, 3))
    violation = -rng.uniform(0, 1, (30, 3))
    found = _balanced(Z.copy(), violation)
    assert_allclose(found.sum(axis=0), 0, atol=1e-12)
    assert np.all(found * Z >= 0)
    assert np.all(np.abs(found) <= np.abs(Z))
    for j in range(3):
        side = np.flatnonzero(Z[:, j] * Z[:, j].sum() > 0)
        order = side[np.argsort(-violation[side, j])]
        share = found[order, j] / Z[order, j]
        assert np.all(np.diff(share) >= -1e-12)  # the nearest ones are reduced first


def test_near_rows(rng, monkeypatch):
    monkeypatch.setattr(exact_folds, "MIN_NEAR_ROWS", 100)
    distance, strata = rng.uniform(0, 5, (900, 2)), rng.integers(3, size=900)
    strata[:40] = 3
    near = _near(distance, strata)
    assert near[:40].all()
    assert near[distance < 0.5].all()
    for stratum in range(3):
        rows = strata == stratum
        for j in range(2):
            n_near = near[rows, j].sum()
            assert n_near == max(100, np.sum(distance[rows, j] < 0.5))
            assert distance[rows, j][near[rows, j]].max() <= distance[rows, j][~near[rows, j]].min()
    assert_array_equal(_near(distance[:50], strata[:50]), True)
