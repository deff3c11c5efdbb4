"""Out-of-fold decision values are those of models that have not seen the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import r2_score

from hssvm import HSS, SVC, SVR, svc_path
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.problems import OneClassProblem, PairsProblem, SVCProblem, SVRProblem
from hssvm.solvers import ADMM
from hssvm.training.out_of_fold import assign_folds, decisions_without_fold, with_folds
from hssvm.training.plan import FOLDS


def random_problem(kind, n, rng):
    if kind == "SVC":
        return SVCProblem(rng.choice([-1.0, 1.0], (n, 2)) * rng.uniform(1, 3, (n, 2)))
    if kind == "SVR":
        y, bound = rng.standard_normal((n, 2)), rng.uniform(1, 3, (n, 2))
        return SVRProblem(y, bound, np.array([0.1, 0.2]))
    return OneClassProblem(rng.uniform(1, 2, (n, 2)), np.array([0.2, 0.5]))


@pytest.mark.parametrize("kind", ["SVC", "SVR", "one class"])
def test_excluded_rows_might_as_well_not_exist(kind, rng):
    n = 120
    problem, fold = random_problem(kind, n, rng), rng.integers(3, size=n)
    folds = with_folds(problem, fold, 3)
    assert folds.k == 4 * problem.k
    Z, F = np.zeros((n, 8)), rng.standard_normal((n, 8))
    Z[:, :] = rng.uniform(folds.lower, folds.upper)
    whole = folds.evaluate(Z, F)
    for f in range(3):
        kept, columns = fold != f, 2 * (1 + f) + np.arange(2)
        if kind == "SVC":
            alone = SVCProblem(problem.bound[kept])
        elif kind == "SVR":
            alone = SVRProblem(problem.linear[kept], problem.upper[kept], problem.l1_weight)
        else:
            alone = OneClassProblem(problem.upper[kept], problem.nu)
        found = alone.evaluate(Z[kept][:, columns], F[kept][:, columns])
        for name in ("primal", "dual", "intercept"):
            assert_allclose(getattr(whole, name)[columns], getattr(found, name), rtol=1e-9)


def test_values_are_those_of_separate_problems(rng):
    """On the same compressed kernel, solved without the fold."""
    n, n_folds = 600, 3
    X = rng.standard_normal((n, 2))
    H = compress(Gaussian(0.5), X, ClusterTree.build(X, 100), max_rank=30)
    problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 3.0, -3.0))
    fold = rng.integers(n_folds, size=n)
    solution = ADMM(1e-7).solve(with_folds(problem, fold, n_folds), HSSOperator(H))
    values = decisions_without_fold(solution.F[:, 1:], solution.intercept[1:], fold, 1)
    for f in range(n_folds):
        bound = np.where(fold == f, 0.0, problem.bound[:, 0])[:, None]
        alone = ADMM(1e-7).solve(SVCProblem(bound), HSSOperator(H))
        expected = alone.F + alone.intercept
        assert_allclose(values[fold == f], expected[fold == f], atol=0.02)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_score_of_a_classifier(n_classes, rng):
    X = rng.standard_normal((3000, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * rng.standard_normal(3000), [0, 1])]
    y = np.where(y == "c", "b", y) if n_classes == 2 else y
    weight = rng.uniform(0.5, 1.5, 3000)
    model = SVC(out_of_fold=True, approximation=HSS(n_trees=2), random_state=0).fit(X, y, weight)
    values = model.out_of_fold_decision_
    assert values.shape == ((3000,) if n_classes == 2 else (3000, 3))
    codes = (values > 0).astype(int) if n_classes == 2 else values.argmax(axis=1)
    score = np.average(model.classes_[codes] == y, weights=weight)
    assert model.fit_report_.out_of_fold_score == pytest.approx(score)
    assert f"out-of-fold accuracy {score:.4g}" in model.summary()
    assert model.score(X, y) >= score - 0.02
    model.set_params(out_of_fold=False, approximation=HSS(n_trees=1)).fit(X, y)
    assert not hasattr(model, "out_of_fold_decision_")
    assert np.isnan(model.fit_report_.out_of_fold_score)


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")
def test_noise_cannot_be_predicted(rng):
    """A score on rows that a model has seen would be far above one half."""
    X, y = rng.standard_normal((3000, 5)), rng.integers(0, 2, 3000)
    model = SVC(
        C=100, gamma=1.0, out_of_fold=True, approximation=HSS(n_trees=2), random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.9
    assert abs(model.fit_report_.out_of_fold_score - 0.5) < 0.06


def test_the_score_of_a_regression(rng):
    X = rng.standard_normal((3000, 2))
    y = 1000 + np.sin(X[:, 0]) + 0.1 * rng.standard_normal(3000)
    model = SVR(out_of_fold=True, approximation=HSS(n_trees=2), random_state=0).fit(X, y)
    score = r2_score(y, model.out_of_fold_decision_)
    assert model.fit_report_.out_of_fold_score == pytest.approx(score)
    assert score == pytest.approx(1 - 0.01 / np.var(y), abs=0.02)


def test_a_grown_forest_has_the_same_values(rng):
    X = rng.standard_normal((2500, 2))
    y = X[:, 0] * X[:, 1] > 0
    one, three = (HSS(n_trees, leaf_size=256) for n_trees in (1, 3))
    whole = SVC(out_of_fold=True, approximation=three, random_state=0).fit(X, y)
    grown = SVC(out_of_fold=True, approximation=one, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(approximation=three).fit(X, y)
    assert_array_equal(grown.out_of_fold_decision_, whole.out_of_fold_decision_)
    assert grown.fit_report_.out_of_fold_score == whole.fit_report_.out_of_fold_score


def test_folds_have_equal_shares_of_every_class(rng):
    seed, strata = int(rng.integers(2**31)), np.repeat(np.arange(4), [1, 2, 300, 697])
    strata = rng.permutation(strata)
    fold = assign_folds(strata, seed)
    assert_array_equal(fold, assign_folds(strata, seed))
    assert_array_equal(fold[strata == 0], -1)  # a model without this class would be useless
    assert_array_equal(np.sort(fold[strata == 1]), [0, 1])
    for stratum in (2, 3):
        assert np.ptp(np.bincount(fold[strata == stratum], minlength=FOLDS)) <= 1


def test_strata_are_the_classes(rng):
    codes = rng.integers(4, size=50)
    signs = np.where(codes[:, None] == np.arange(4), 1.0, -1.0)
    for problem in (SVCProblem(signs * rng.uniform(1, 2, 50)[:, None]),
                    PairsProblem(codes, np.ones(50), 4)):  # fmt: skip
        same = problem.strata[:, None] == problem.strata
        assert_array_equal(same, codes[:, None] == codes)


def test_errors_say_what_to_do(rng):
    X, y = rng.standard_normal((100, 2)), np.arange(100) % 2
    with pytest.raises(TypeError, match="use SVC for out-of-fold"):
        svc_path(X, y, [1.0], out_of_fold=True)
