"""Forests: by definition the mean of the models of single trees."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from helpers.predictors import leafwise
from helpers.stops import StopInTree
from numpy.testing import assert_allclose, assert_array_equal

from hssvm import HSS
from hssvm._threads import openmp_threads
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.problems import OneClassProblem, SVCProblem, SVRProblem
from hssvm.progress import listening
from hssvm.solvers import ADMM, Status
from hssvm.training import FitReport, Monitor, Route, TrainingConfig, plan_problem, train
from hssvm.training.config import EXACT_ROWS
from hssvm.training.plan import DEFAULT_ITER
from hssvm.training.routes.forest import forest
from hssvm.training.routes.forest.forest import compared_rows, fingerprint
from hssvm.training.routes.forest.route import train_tree
from hssvm.training.warm_start import LastFit

N = EXACT_ROWS + 400
KERNEL = Gaussian(0.5)


def rows_of(rng, n=N, dtype=np.float64):
    return rng.standard_normal((n, 3)).astype(dtype)


def two_classes(X):
    return SVCProblem(np.where(X[:, :1] * X[:, 1:2] > 0, 2.0, -2.0).astype(X.dtype))


def three_classes(X):
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    return SVCProblem(np.where(y[:, None] == np.arange(3), 1.0, -1.0).astype(X.dtype))


def regression(X):
    y = np.sin(2 * X[:, :1])
    return SVRProblem(y, np.full_like(y, 3.0), np.array([0.1]))


def novelty(X):
    bound = np.ones((X.shape[0], 1), X.dtype)
    return OneClassProblem(bound, np.array([0.2]), diagonal=KERNEL.diag(X).astype(np.float64))


PROBLEMS = [two_classes, three_classes, regression, novelty]


def small(n_trees):
    return HSS(n_trees, leaf_size=128, max_rank=16)


def config_of(rng, n_trees, **parameters):
    seed = int(rng.integers(2**31))
    return TrainingConfig(approximation=small(n_trees), seed=seed, **parameters)


class Tree:
    """Compression and solution of one tree, step by step."""

    def __init__(self, problem, X, plan, index):
        seed = plan.tree_seed(index)
        tree = ClusterTree.build(X, leaf_size=plan.leaf_size, random_state=seed)
        self.matrix = compress(KERNEL, X, tree, plan.compressor, random_state=seed)
        solver = ADMM(plan.tol, DEFAULT_ITER)
        self.solution = solver.solve(problem, HSSOperator(self.matrix))

    def at_training_rows(self):
        return self.matrix @ self.solution.Z + self.solution.intercept

    def decisions(self, T):
        return leafwise(self.matrix, self.solution.Z)(T) + self.solution.intercept


def assert_same_result(found, expected, T):
    assert_array_equal(found.Z, expected.Z)
    assert_array_equal(found.intercept, expected.intercept)
    assert_array_equal(found.compressed(T), expected.compressed(T))
    assert_array_equal(found.compressed.ids, expected.compressed.ids)
    for name in ("n_trees", "n_iter", "n_factors", "gap", "objective", "spread", "disagreement",
                 "status", "advice", "ranks", "n_support", "kernel_error"):  # fmt: skip
        assert_array_equal(getattr(found.report, name), getattr(expected.report, name), name)


def run(problem, X, config, monitor=None, last=None):
    plan = plan_problem(config, problem, KERNEL, X)
    return train(problem, KERNEL, X, plan, FitReport(), monitor or Monitor(), last)


def run_until(monitor, problem, X, config):
    with listening(monitor.listen):
        return run(problem, X, config, monitor)


def last_fit(result):
    return LastFit(
        result.report,
        result.support,
        result.coefficients,
        result.compressed,
        result.out_of_fold,
        result.fingerprint,
        0,
    )


@pytest.mark.parametrize("make", PROBLEMS)
def test_a_forest_is_the_mean_of_its_trees(make, rng):
    X, T = rows_of(rng), rows_of(rng, 200)
    problem, config = make(X), config_of(rng, 3)
    result = run(problem, X, config)
    plan = config.plan(N, route=Route.COMPRESSED)
    trees = [Tree(problem, X, plan, index) for index in range(3)]
    values = np.mean([tree.decisions(T) for tree in trees], axis=0)
    scale = np.abs(values).max()
    assert_allclose(result.compressed(T) + result.intercept, values, atol=1e-9 * scale)
    inside = np.mean([tree.at_training_rows() for tree in trees], axis=0)
    assert_allclose(result.compressed(X) + result.intercept, inside, atol=1e-8 * scale)
    assert_allclose(result.Z, np.mean([tree.solution.Z for tree in trees], axis=0), atol=1e-12)
    assert_allclose(result.intercept, np.mean([t.solution.intercept for t in trees], axis=0))
    assert_array_equal(
        result.report.n_iter, np.max([tree.solution.n_iter for tree in trees], axis=0)
    )
    assert result.report.n_factors == sum(tree.solution.n_factors for tree in trees)
    assert_array_equal(result.report.gap, np.max([tree.solution.gap for tree in trees], axis=0))
    objective = np.mean([tree.solution.primal for tree in trees], axis=0)
    assert_allclose(result.report.objective, objective)
    assert result.report.n_trees == 3
    assert not result.report.exact_kernel
    assert result.report.n_support == np.count_nonzero(result.Z.any(axis=1))


@pytest.mark.parametrize("make", PROBLEMS)
def test_one_tree_is_the_training_on_its_matrix(make, rng):
    X, T = rows_of(rng), rows_of(rng, 200)
    problem, config = make(X), config_of(rng, 1)
    plan = config.plan(N, route=Route.COMPRESSED)
    operator = HSSOperator(Tree(problem, X, plan, 0).matrix)
    report = FitReport()
    alone = forest.Forest(0, report)
    alone.add(train_tree(operator, problem, plan, report, Monitor()))
    assert_same_result(run(problem, X, config), alone.result(problem, KERNEL, X, plan.seed), T)
    assert_array_equal(report.spread, np.zeros(problem.k))
    assert_array_equal(report.disagreement, np.zeros(problem.k))


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("make", PROBLEMS)
def test_spread_and_disagreement_by_definition(make, few, rng, monkeypatch):
    if few:
        monkeypatch.setattr(forest, "COMPARED_ROWS", 300)
    X = rows_of(rng)
    problem, config = make(X), config_of(rng, 3)
    result = run(problem, X, config)
    sample = np.arange(N)
    if few:
        sample = compared_rows(N, config.seed)
    plan = config.plan(N, route=Route.COMPRESSED)
    values = np.array([Tree(problem, X, plan, t).at_training_rows()[sample] for t in range(3)])
    mean = values.mean(axis=0)
    variance = ((values - mean) ** 2).sum(axis=0) / 2
    spread = np.sqrt(variance.mean(axis=0))
    assert_allclose(result.report.spread, spread, rtol=1e-6)
    signs = (values > 0).sum(axis=0)
    disagreement = ((signs > 0) & (signs < 3)).mean(axis=0)
    assert (np.abs(result.report.disagreement - disagreement) <= 1.5 / sample.size).all()
    assert (result.report.spread > 0).all()
    assert (result.report.disagreement > 0).any()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trees_may_be_added_later(dtype, sparse, rng):
    X, T = rows_of(rng, dtype=dtype), rows_of(rng, 200, dtype)
    make = PROBLEMS[rng.integers(len(PROBLEMS))]
    problem = make(X)
    if sparse:
        X, T = scipy.sparse.csr_array(X), scipy.sparse.csr_array(T)
    few = config_of(rng, 1, tol=1e-2)
    many = replace(few, approximation=small(4))
    result = run(problem, X, few)
    for n_trees in (2, 4):
        result = run(problem, X, replace(few, approximation=small(n_trees)), last=last_fit(result))
    assert_same_result(result, run(problem, X, many), T)


@pytest.mark.parametrize("in_solver", [False, True])
@pytest.mark.parametrize("make", PROBLEMS)
def test_complete_trees_are_kept(make, in_solver, rng):
    X, T = rows_of(rng), rows_of(rng, 200)
    problem, config = make(X), config_of(rng, 3, tol=1e-6)
    with openmp_threads(1):  # one tree after the other
        stopped = run_until(StopInTree(2, in_solver=in_solver), problem, X, config)
    assert stopped.report.n_trees == len(stopped.compressed.trees) == 2
    assert stopped.report.status == ["FEWER_TREES"] * problem.k
    assert Status.FEWER_TREES.value in stopped.report.advice
    two = run(problem, X, replace(config, approximation=small(2)))
    assert_array_equal(stopped.compressed(T), two.compressed(T))
    assert_array_equal(stopped.report.spread, two.report.spread)
    grown = run(problem, X, config, last=last_fit(stopped))
    assert_same_result(grown, run(problem, X, config), T)


@pytest.mark.parametrize("n_trees", [1, 3])
def test_the_first_tree_is_kept_unfinished(n_trees, rng):
    X = rows_of(rng)
    config = config_of(rng, n_trees, tol=1e-9)
    result = run_until(StopInTree(0, in_solver=True), two_classes(X), X, config)
    assert result.report.status == ["STOPPED"]
    assert result.report.n_trees == len(result.compressed.trees) == 1
    assert result.report.n_iter[0] == 10
    assert Status.FEWER_TREES.value not in result.report.advice


def test_another_problem_begins_again(rng):
    X = rows_of(rng)
    config = config_of(rng, 2, tol=1e-7)
    before = run(two_classes(X), X, config)
    moved, more = X + 1e-3, replace(config, approximation=small(3))
    again = run(two_classes(X), moved, more, last=last_fit(before))
    fresh = run(two_classes(X), moved, more)
    assert again.fingerprint == fresh.fingerprint != before.fingerprint
    assert_allclose(again.compressed(X), fresh.compressed(X), atol=1e-2)
    assert again.report.n_trees == 3 and again.X is moved


def test_a_fingerprint_is_that_of_what_determines_the_trees(rng):
    def problem(y, C=3.0, epsilon=0.1):
        return SVRProblem(y, np.full_like(y, C), np.array([epsilon]))

    def next_to(array):
        array, at = array.copy(), tuple(rng.integers(array.shape))
        array[at] = np.nextafter(array[at], np.inf)
        return array

    X = rows_of(rng)
    y = np.sin(2 * X[:, :1])
    plan = config_of(rng, 2).plan(N, route=Route.COMPRESSED)
    mine = fingerprint(problem(y), KERNEL, X, plan)
    assert mine == fingerprint(problem(y.copy()), Gaussian(0.5), X.copy(), replace(plan))
    assert mine == fingerprint(problem(y), KERNEL, X, replace(plan, n_trees=7))
    assert mine == fingerprint(problem(y), KERNEL, X, replace(plan, memory_limit=1e12))
    other_plans = {
        "tol": plan.tol / 2,
        "max_iter": 17,
        "leaf_size": 64,
        "seed": plan.seed + 1,
        "compressor": replace(plan.compressor, max_rank=17),
    }
    others = [
        fingerprint(problem(next_to(y)), KERNEL, X, plan),
        fingerprint(problem(y, C=3.5), KERNEL, X, plan),
        fingerprint(problem(y, epsilon=0.2), KERNEL, X, plan),
        fingerprint(problem(y), Gaussian(np.nextafter(0.5, 1)), X, plan),
        fingerprint(problem(y), KERNEL, next_to(X), plan),
        fingerprint(problem(y), KERNEL, X.astype(np.float32), plan),
        fingerprint(problem(y), KERNEL, scipy.sparse.csr_array(X), plan),
        *(
            fingerprint(problem(y), KERNEL, X, replace(plan, **{name: value}))
            for name, value in other_plans.items()
        ),
    ]
    assert len({mine, *others}) == 1 + len(others)


@pytest.mark.parametrize("make", PROBLEMS)
def test_the_rows_of_all_trees_are_stored_once(make, rng):
    X = rows_of(rng)
    predictor = run(make(X), X, config_of(rng, 3)).compressed
    assert np.unique(predictor.ids).size == predictor.ids.size == predictor.X.shape[0]
    assert_array_equal(predictor.X, X[predictor.ids])
    used = [tree.rows for tree in predictor.trees]
    assert_array_equal(np.unique(np.concatenate(used)), np.arange(predictor.ids.size))
    assert_array_equal(used[0], np.arange(used[0].size))  # in the order of the first tree
    for tree in predictor.trees:
        assert np.unique(tree.rows).size == tree.rows.size
        assert tree.ends[-1] == tree.rows.size == tree.weights.shape[0]
        assert tree.weights.any(axis=1).all()
