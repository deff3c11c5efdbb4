import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.svm import SVR as ExactSVR
from sklearn.svm import OneClassSVM as ExactOneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

import hssvm
from hssvm import HSS, SVR, SVRCV, Cells, OneClassSVM
from hssvm.hss import HSSANN
from hssvm.kernels import Gaussian
from hssvm.training.config import FOREST_TOL


@pytest.mark.filterwarnings("ignore:No candidate scores higher")  # y is noise in some checks
@parametrize_with_checks(
    [
        SVR(),
        SVR(kernel="matern52", approximation=HSS()),
        SVRCV(Cs=3, cv=3),
        OneClassSVM(),
        OneClassSVM(nu=0.1, refine=False),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def waves(rng, n, dtype=np.float64):
    X = rng.uniform(-3, 3, (n, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)
    return X.astype(dtype), y


@pytest.mark.filterwarnings("ignore:C is too small for the units of y")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_small_regression_is_exact(weighted, sparse, rng):
    X, y = waves(rng, 500)
    weight = rng.integers(0, 3, 500) if weighted else None
    rows = scipy.sparse.csr_array(X) if sparse else X
    model = SVR(C=5, epsilon=0.05, gamma=0.7).fit(rows, 100 * y, sample_weight=weight)
    weight = np.ones(500) if weight is None else weight
    kept = np.flatnonzero(weight)  # others have no number among LIBSVM's support vectors
    exact = ExactSVR(C=5, epsilon=0.05, gamma=0.7, tol=1e-8)
    exact.fit(X[kept], 100 * y[kept], sample_weight=weight[kept])
    assert_allclose(model.predict(rows), exact.predict(X), atol=0.2)  # 1e-3 of the targets
    assert_allclose(model.intercept_, exact.intercept_, atol=0.2)
    K, z = Gaussian(0.7).block(X), np.zeros(500)
    z[kept[exact.support_]] = exact.dual_coef_[0]
    beyond = np.maximum(0, np.abs(K @ z + exact.intercept_ - 100 * y) - 0.05)
    primal = z @ K @ z / 2 + 5 * weight @ beyond
    dual = 100 * y @ z - 0.05 * np.abs(z).sum() - z @ K @ z / 2
    certificate = model.certify(rows, 100 * y, weight)
    assert certificate.gap[0] < 1e-6
    assert_allclose(certificate.primal[0], primal, rtol=1e-5)
    assert_allclose(certificate.dual[0], dual, rtol=1e-5)
    assert_allclose(model.fit_report_.objective[0], primal, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_refined_regression_is_that_of_another_solver(dtype, rng):
    X, y = waves(rng, 3000, dtype)
    model = SVR(C=2, gamma=0.7, random_state=0, refine=True).fit(X, y)
    exact = ExactSVR(C=2, gamma=0.7, tol=1e-6).fit(X, y)
    assert model.fit_report_.exact_kernel
    assert model.predict(X).dtype == np.float64
    assert_allclose(model.predict(X), exact.predict(X), atol=2e-2)
    assert model.certify(X, y).gap[0] < 2e-4


@pytest.mark.parametrize("n_trees", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_compressed_regression(n_trees, rng):
    X, y = waves(rng, 4000)
    X_test, y_test = waves(rng, 500)
    model = SVR(C=2, gamma=0.7, random_state=0, approximation=HSS(n_trees=n_trees)).fit(X, y)
    exact = ExactSVR(C=2, gamma=0.7).fit(X, y)
    assert model.fit_report_.gap[0] < (1e-3 if n_trees == 1 else FOREST_TOL)
    assert_allclose(model.predict(X_test), exact.predict(X_test), atol=0.1)  # the noise of y
    assert model.score(X_test, y_test) > exact.score(X_test, y_test) - 0.01
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X_test), model.predict(X_test))
    assert_array_equal(clone(model).fit(X, y).predict(X_test), model.predict(X_test))


def test_a_tube_around_everything(rng):
    X, y = waves(rng, 300)
    model = SVR(epsilon=100).fit(X, y)
    assert model.support_.size == 0
    assert_allclose(np.ptp(model.predict(X)), 0)
    assert np.all(np.abs(model.predict(X) - y) <= 100)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
def test_small_novelty_is_exact(nu, weighted, rng):
    X = rng.standard_normal((401, 3))  # nu times the weights is no integer: the offset is unique
    weight = rng.uniform(1, 2, 401) if weighted else None
    model = OneClassSVM(nu=nu, gamma=0.5).fit(X, sample_weight=weight)
    exact = ExactOneClassSVM(nu=nu, gamma=0.5, tol=1e-9).fit(X, sample_weight=weight)
    size = exact.offset_[0]
    assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-3 * size)
    assert_allclose(model.offset_, exact.offset_, rtol=1e-3)
    assert_allclose(model.score_samples(X), exact.score_samples(X), atol=1e-3 * size)
    clear = np.abs(exact.decision_function(X)) > 1e-3 * size
    assert_array_equal(model.predict(X)[clear], exact.predict(X)[clear])
    assert model.certify(X, weight).gap[0] < 1e-5


@pytest.mark.parametrize("seed", [4, 7, 15])  # every row is an outlier or has a zero coefficient
def test_an_offset_that_is_not_unique_lies_in_the_middle(seed):
    X = np.random.default_rng(seed).standard_normal((400, 3))
    model = OneClassSVM(nu=0.9, gamma=0.5).fit(X)
    scores = np.sort(model.score_samples(X))
    assert model.support_.size == 360
    assert_allclose(model.offset_, scores[359:361].mean(), rtol=1e-6)


@pytest.mark.parametrize(("refine", "n_trees"), [(False, None), (False, 1), (True, None)])
def test_novelty_of_many_rows(refine, n_trees, rng):
    X = rng.standard_normal((4000, 2))
    model = OneClassSVM(
        nu=0.1, gamma=0.5, refine=refine, approximation=HSS(n_trees=n_trees), random_state=0
    ).fit(X)
    exact = ExactOneClassSVM(nu=0.1, gamma=0.5, tol=1e-6).fit(X)
    assert model.fit_report_.gap[0] < (1e-3 if refine or n_trees == 1 else FOREST_TOL)
    error = np.abs(model.decision_function(X) - exact.decision_function(X)) / exact.offset_[0]
    forest = not refine and n_trees is None  # of rougher trees
    assert np.sqrt(np.mean(error**2)) < (0.04 if forest else 0.01)
    if not forest:
        assert error.max() < (0.02 if refine else 0.05)  # at single rows K~ is less accurate
    assert abs(np.mean(model.predict(X) == -1) - 0.1) < 0.02
    assert model.predict([[9.0, 9.0]]) == -1


def test_the_papers_compression_serves_regression_too(rng):
    X, y = waves(rng, 2500)
    compressor = HSSANN(rtol=1e-4, atol=1e-6, max_rank=400, n_neighbors=100)
    model = SVR(C=2, gamma=0.3, approximation=HSS(compressor=compressor), random_state=0).fit(X, y)
    exact = ExactSVR(C=2, gamma=0.3).fit(X, y)
    assert_allclose(model.predict(X), exact.predict(X), atol=0.05)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR(C=0), "C must be"),
        (SVR(epsilon=-1), "epsilon must be"),
        (OneClassSVM(nu=0), "nu must be"),
        (OneClassSVM(nu=1.5), "nu must be"),
    ],
)
def test_parameters_are_checked(model, message, rng):
    X, y = waves(rng, 50)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("model", [SVR(), OneClassSVM()])
def test_some_row_must_count(model, rng):
    X, y = waves(rng, 50)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, y, sample_weight=np.zeros(50))


def several(rng, n, dtype=np.float64):
    """Three targets in different units."""
    X, y = waves(rng, n, dtype)
    return X, np.column_stack([y, 3 * X[:, 0] ** 2 + y, -0.2 * X[:, 1]])


@pytest.mark.parametrize("approximation", [None, Cells(300, 2), HSS(n_trees=2)], ids=repr)
def test_several_targets_are_columns(approximation, rng):
    """Trained together, they are the same as one after the other."""
    X, Y = several(rng, 2500)
    weight = rng.uniform(0.5, 2, 2500)
    given = {"C": 3, "epsilon": 0.05, "tol": 1e-4, "random_state": 0}
    model = SVR(approximation=approximation, **given).fit(X, Y, weight)
    new = rng.uniform(-3, 3, (200, 2))
    assert model.predict(new).shape == (200, 3)
    for j in range(3):
        one = SVR(approximation=approximation, **given).fit(X, Y[:, j], weight)
        assert_allclose(model.predict(new)[:, j], one.predict(new), atol=0.02 * Y[:, j].std())
    assert model.fit_report_.status == ["CONVERGED"] * 3
    expected = np.mean([r2_score(Y[:, j], model.predict(X)[:, j]) for j in range(3)])
    assert_allclose(model.score(X, Y), expected)


def test_what_models_of_several_targets_have(rng, tmp_path):
    X, Y = several(rng, 400)
    model = SVR(C=3, scaling="learned", out_of_fold=True, random_state=0).fit(X, Y)
    assert model.out_of_fold_decision_.shape == (400, 3)
    assert model.nonconformity_scores_ is None
    with pytest.raises(ValueError, match="predict_interval is for one target"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="predicts one value, but this one predicts 3"):
        model.save_libsvm(tmp_path / "libsvm", range_path=tmp_path / "range")
    assert (model.certify(X, Y).gap < 1e-3).all()
    model.save(tmp_path / "model")
    assert_array_equal(hssvm.load(tmp_path / "model").predict(X), model.predict(X))
    explanation = model.explain(X[:3])
    assert explanation.output_names == ["target 0", "target 1", "target 2"]
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total, model.predict(X[:3]), atol=1e-8)
    with pytest.warns(DataConversionWarning):
        assert SVR().fit(X, Y[:, :1]).predict(X).shape == (400,)
