"""Squared and Huber losses: the same models as other solvers, on all routes, in files."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.svm import SVC as ExactSVC
from sklearn.svm import SVR as ExactSVR

from hssvm import HSS, SVC, SVR, Cells, load, svc_path
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.kernels import Gaussian
from hssvm.solvers import Status

C, GAMMA = 2.0, 0.5


@pytest.fixture
def rows(rng):
    """Rows with weights, targets with outliers, and classes."""
    X = rng.standard_normal((300, 3))
    weight = rng.uniform(0.2, 2, 300)
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_t(2, 300)
    return (
        X,
        weight,
        y,
        np.digitize(X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(300), [-0.5, 0.5]),
    )


def all_coefficients(model):
    """Coefficients of all 300 rows."""
    Z = np.zeros((model.dual_coef_.shape[0], 300))
    Z[:, model.support_] = model.dual_coef_
    return Z


def test_squared_hinge_is_a_hinge_on_a_larger_diagonal(rows):
    """Its dual is that of the hinge without an upper bound, for K plus 1 / (2 C)."""
    X, weight, _, classes = rows
    K = Gaussian(GAMMA).block(X)
    for labels in (classes, classes > 0):
        model = SVC(C, loss="squared_hinge", gamma=GAMMA, tol=1e-7).fit(X, labels, weight)
        diagonal = np.diag(1 / (2 * C * weight))
        theirs = ExactSVC(C=1e9, kernel="precomputed", tol=1e-8, decision_function_shape="ovo")
        theirs.fit(K + diagonal, labels)
        assert_allclose(all_coefficients(model), all_coefficients(theirs), atol=1e-4)
        assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)
        assert (model.certify(X, labels, weight).gap < 1e-6).all()


def test_squared_tube_is_a_tube_on_a_larger_diagonal(rows):
    X, weight, y, _ = rows
    model = SVR(C, loss="squared_epsilon_insensitive", gamma=GAMMA, tol=1e-7).fit(X, y, weight)
    K = Gaussian(GAMMA).block(X)
    theirs = ExactSVR(kernel="precomputed", C=1e9, epsilon=0.1, tol=1e-8)
    theirs.fit(K + np.diag(1 / (2 * C * weight)), y)
    values = K[:, theirs.support_] @ theirs.dual_coef_[0] + theirs.intercept_
    assert_allclose(model.predict(X), values, atol=1e-4)
    assert model.certify(X, y, weight).gap[0] < 1e-6


def test_squared_errors_without_a_tube_are_a_linear_system(rows):
    X, weight, y, _ = rows
    Y = np.stack([y, y**2], axis=1)
    model = SVR(C, loss="squared_epsilon_insensitive", epsilon=0, gamma=GAMMA, tol=1e-9)
    K, one = Gaussian(GAMMA).block(X), np.ones((300, 1))
    system = np.block([[K + np.diag(1 / (2 * C * weight)), one], [one.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.concatenate([Y, np.zeros((1, 2))]))
    found = model.fit(X, Y, weight).predict(X)
    assert_allclose(found, K @ solution[:-1] + solution[-1], atol=1e-6)


def test_huber_is_a_median_on_a_larger_diagonal(rows):
    X, weight, y, _ = rows
    model = SVR(C, loss="huber", epsilon=0.3, gamma=GAMMA, tol=1e-7).fit(X, y, weight)
    K = Gaussian(GAMMA).block(X)
    theirs = ExactSVR(kernel="precomputed", C=0.3 * C, epsilon=0, tol=1e-8)
    theirs.fit(K + np.diag(1 / (C * weight)), y, weight)
    values = K[:, theirs.support_] @ theirs.dual_coef_[0] + theirs.intercept_
    assert_allclose(model.predict(X), values, atol=1e-4)
    assert model.certify(X, y, weight).gap[0] < 1e-6
    assert np.abs(model.dual_coef_).max() <= 0.3 * C * weight.max() * (1 + 1e-9)


MODELS = [
    (SVC, "squared_hinge"),
    (SVR, "huber"),
    (SVR, "squared_epsilon_insensitive"),
]


@pytest.mark.parametrize(("kind", "loss"), MODELS)
def test_weights_count_as_repeated_rows_and_0_as_none(kind, loss, rows, rng):
    X, _, y, classes = rows
    target = y if kind is SVR else classes
    times = rng.integers(0, 3, 300)
    times[:3] = [1, 1, 1]
    again = np.repeat(np.arange(300), times)
    model = kind(loss=loss, gamma=GAMMA, tol=1e-7)
    weighted = model.fit(X, target, times)
    values = weighted.intercept_, weighted._decision_values(X)
    repeated = model.fit(X[again], target[again])
    assert_allclose(repeated.intercept_, values[0], atol=1e-4)
    assert_allclose(repeated._decision_values(X), values[1], atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [
        {"approximation": Cells(size=300, n_trees=2)},
        {"approximation": HSS(n_trees=1)},
        {"approximation": HSS(n_trees=2)},
        {"refine": True},
    ],
    ids=str,
)
@pytest.mark.parametrize(("kind", "loss"), MODELS)
def test_all_routes(kind, loss, options, dtype, rng):
    """Approximations agree with the exact model; all know their gaps, and unseen rows."""
    X = rng.standard_normal((3000, 2)).astype(dtype)  # more than one leaf
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(3000)
    target = y if kind is SVR else y > 0
    exact = kind(loss=loss, gamma=1.0).fit(X, target)
    model = kind(loss=loss, gamma=1.0, out_of_fold=True, random_state=0, **options).fit(X, target)
    report = model.fit_report_
    assert exact.fit_report_.gap[0] < 1e-3
    assert report.gap[0] < 0.05
    assert report.n_cells > 1 or len(report.ranks) > 1 or "refine" in options
    assert report.out_of_fold_score > exact.score(X, target) - 0.1
    assert model.score(X, target) > exact.score(X, target) - 0.05
    if "refine" in options:
        difference = model._decision_values(X) - exact._decision_values(X)
        assert np.abs(difference).mean() < 0.01
    if report.n_trees == 1:
        assert_allclose(exact.certify(X, target).gap, exact.fit_report_.gap, atol=1e-3)
        sample = model.certify(X, target, n_rows=500)
        assert sample.low[0] <= model.certify(X, target).gap[0] * 1.2 + 1e-3


def test_csr_rows_and_pairs_of_classes_in_the_core(rng):
    """Pairs of few rows are solved side by side, also of sparse rows."""
    X = rng.standard_normal((400, 4)) * (rng.random((400, 4)) < 0.7)
    y = rng.integers(0, 20, 400)  # 190 pairs
    model = SVC(loss="squared_hinge", gamma=GAMMA)
    dense = model.fit(X, y).decision_function(X)
    assert_allclose(model.fit(scipy.sparse.csr_array(X), y).decision_function(X), dense, atol=1e-2)
    gap = model.certify(X, y).gap
    assert gap.size == 190
    assert (gap < 1e-2).all()


@pytest.mark.parametrize(("kind", "loss"), MODELS)
def test_files_keep_the_loss(kind, loss, rows, tmp_path):
    X, weight, y, classes = rows
    target = y if kind is SVR else classes
    model = kind(loss=loss, gamma=GAMMA).fit(X, target, weight)
    model.save(tmp_path / "model.hssvm")
    again = load(tmp_path / "model.hssvm")
    assert again.loss == loss
    assert_allclose(again.predict(X[:50]), model.predict(X[:50]))
    gap = again.certify(X, target, weight).gap
    assert_allclose(gap, model.certify(X, target, weight).gap)
    assert (gap < 1e-6).all()


def test_warm_start_from_another_loss(rows):
    X, _, y, _ = rows
    model = SVR(gamma=GAMMA, tol=1e-7, warm_start=True).fit(X, y)
    model.set_params(loss="huber").fit(X, y)
    cold = SVR(gamma=GAMMA, tol=1e-7, loss="huber").fit(X, y)
    assert_allclose(model.predict(X), cold.predict(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_costs_have_finite_models(rows):
    X, _, y, classes = rows
    for C in (1e-30, 1e-6, 1e6):
        for dtype in (np.float32, np.float64):
            for loss in ("huber", "squared_epsilon_insensitive"):
                model = SVR(C, loss=loss, gamma=GAMMA, max_iter=10_000).fit(X.astype(dtype), y)
                assert np.isfinite(model.predict(X)).all()
                assert model.fit_report_.gap[0] > -1e-6
            model = SVC(C, loss="squared_hinge", gamma=GAMMA, max_iter=10_000)
            model.fit(X.astype(dtype), classes)
            assert np.isfinite(model._decision_values(X)).all()


def test_no_advice_about_a_bound_that_does_not_exist(rng):
    """With a small C, nearly all rows are support vectors of a smooth model."""
    X = rng.standard_normal((1000, 2))
    model = SVC(1e-3, loss="squared_hinge").fit(X, X[:, 0] > 0)
    assert model.support_.size > 980
    assert model.fit_report_.advice == [Status.CONVERGED.value]
    model = SVR(1e-3, loss="huber", epsilon=5.0).fit(X, X[:, 0])
    assert model.fit_report_.advice == [Status.CONVERGED.value]


def test_invalid_losses(rows):
    X, _, y, classes = rows
    with pytest.raises(InvalidParameterError, match="loss must be 'hinge' or 'squared_hinge'"):
        SVC(loss="huber").fit(X, classes)
    with pytest.raises(InvalidParameterError, match="'huber', got 'hinge'"):
        SVR(loss="hinge").fit(X, y)
    with pytest.raises(InvalidParameterError, match="epsilon above 0"):
        SVR(loss="huber", epsilon=0).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kind", "loss"), MODELS)
def test_tiny_weights(kind, loss, dtype, rng):
    """A row that hardly counts does not change the others, although 1 / C is not finite."""
    X = rng.standard_normal((60, 2)).astype(dtype)
    y = X[:, 0] if kind is SVR else X[:, 0] > 0
    weight = np.where(np.arange(60) < 5, np.finfo(dtype).tiny / 8, 1).astype(dtype)
    model = kind(loss=loss, gamma=1.0, tol=1e-6)
    without = model.fit(X[5:], y[5:])._decision_values(X)
    assert_allclose(model.fit(X, y, weight)._decision_values(X), without, atol=1e-3)


def test_class_weights_of_one_vs_rest(rng):
    X, y = rng.standard_normal((200, 2)), rng.integers(0, 3, 200)
    X[y > 0] += y[y > 0, None]
    weight = {0: 1.0, 1: 3.0, 2: 0.5}
    model = SVC(loss="squared_hinge", multi_class="ovr", gamma=GAMMA, class_weight=weight, tol=1e-6)
    values = model.fit(X, y).decision_function(X)
    for c in range(3):
        single = SVC(loss="squared_hinge", gamma=GAMMA, tol=1e-6)
        single.fit(X, y == c, np.array(list(weight.values()))[y])
        assert_allclose(values[:, c], single.decision_function(X), atol=1e-3)
    SVC(loss="squared_hinge", multi_class="ovr", class_weight="balanced").fit(X, y)


def test_a_path_has_one_loss(rng):
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    with pytest.raises(TypeError, match="use SVC for each C"):
        svc_path(X, y, [0.1, 1.0], loss="squared_hinge")
