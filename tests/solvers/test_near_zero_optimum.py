"""One-class problems whose optimal value is 0: no gap is a small share of it."""

import numpy as np
import pytest
from sklearn.svm import OneClassSVM as ExactOneClassSVM

from hssvm import OneClassSVM
from hssvm.kernels import Gaussian, Linear
from hssvm.operators import DenseOperator
from hssvm.problems import OneClassProblem
from hssvm.solvers import ADMM, Status


@pytest.mark.parametrize("n", [500, 3000])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_centered_rows(n, kernel, dtype, rng):
    X = rng.standard_normal((n, 5))
    X = (X - X.mean(axis=0)).astype(dtype)
    model = OneClassSVM(kernel=kernel, nu=0.3, random_state=0).fit(X)
    report = model.fit_report_
    assert report.status == ["CONVERGED"]
    assert report.n_iter[0] + report.n_rounds[0] <= 300
    z, K = model.dual_coef_[0].astype(float), model.kernel_.block(model.support_vectors_)
    floor = z**2 @ np.diag(K) / 2
    assert z @ K @ z / 2 <= 1e-3 * floor  # scikit-learn's is as close to 0 as this
    exact = ExactOneClassSVM(kernel=kernel, nu=0.3).fit(X.astype(float))
    best = exact.dual_coef_[0] @ model.kernel_.block(exact.support_vectors_) @ exact.dual_coef_[0]
    assert best / 2 <= 1e-3 * floor
    assert model.certify(X).gap[0] <= 1e-3


def test_gap_of_a_positive_kernel_is_relative_to_the_objective(rng):
    X = rng.standard_normal((300, 3))
    K, nu = Gaussian(5.0).block(X), np.array([0.2])
    plain, floored = (
        OneClassProblem(np.ones((300, 1)), nu, diagonal=diagonal)
        for diagonal in (None, np.ones(300))
    )
    solution = ADMM(tol=1e-5).solve(plain, DenseOperator(K))
    values = [p.evaluate(solution.Z, solution.F).gap for p in (plain, floored)]
    assert values[0] == values[1] <= 1e-5


def test_the_criterion_does_not_depend_on_the_units_of_the_kernel(rng):
    X = rng.standard_normal((200, 3))
    X -= X.mean(axis=0)
    for scale in (1e-4, 1.0, 1e4):
        K = Linear().block(scale * X)
        problem = OneClassProblem(np.ones((200, 1)), np.array([0.4]), diagonal=np.diag(K))
        solution = ADMM(tol=1e-4, max_iter=200).solve(problem, DenseOperator(K))
        assert solution.status == [Status.CONVERGED]
        assert abs(solution.primal[0]) <= 1e-4 * np.diag(K) @ solution.Z[:, 0] ** 2
