"""Kernels of points without coordinates: precomputed matrices and objects."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

from hssvm import HSS, SVC, SVCCV, SVR, OneClassSVM, svc_path
from hssvm.hss import HSSANN, ClusterTree, compress
from hssvm.kernels import Gaussian, Linear, ObjectKernel, Precomputed
from hssvm.kernels.cached import CachedKernelMatrix
from hssvm.kernels.lazy import LazyKernelMatrix


def gaussian(A, B):
    return rbf_kernel(np.array(A), np.array(B), gamma=0.5)


def rows(rng, n):
    X = rng.standard_normal((n, 3))
    return X, np.hypot(X[:, 0], X[:, 1]) < 1.1


def as_objects(X):
    return [tuple(row) for row in X.tolist()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_values(dtype, rng):
    X = rng.standard_normal((80, 3))
    K = gaussian(X, X).astype(dtype)
    K = (K + K.T) / 2
    kernel = Precomputed().bind(K)
    points = kernel.points()
    assert points.dtype == dtype
    a, b = rng.permutation(80)[:30], rng.permutation(80)[:7]
    assert_array_equal(kernel.block(points[a], points[b]), K[np.ix_(a, b)])
    assert_array_equal(kernel.block(points[b], points[a]), K[np.ix_(b, a)])
    assert_array_equal(kernel.diag(points), K.diagonal())
    for first, second in ((a, b), (b, a)):
        W = rng.standard_normal((second.size, 2)).astype(dtype)
        product = kernel.product(points[first], points[second], W)
        assert_allclose(product, K[np.ix_(first, second)] @ W, atol=1e-5)
    new = kernel.at(K[:5, :])
    assert_array_equal(new.block(new.points(), points[b]), K[:5, b])


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_trees_without_coordinates(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 3))
    kernel = Precomputed().bind(gaussian(X, X))
    points = kernel.points()
    tree = ClusterTree.build(kernel.coordinates(points), leaf_size=64)
    leaf = np.repeat(np.arange(tree.n_leaves), np.diff(tree.offsets(tree.depth)))
    assert np.mean(tree.route(kernel.coordinates(points))[tree.perm] == leaf) > 0.99
    new = kernel.at(gaussian(X[:50], X))
    assert_array_equal(
        tree.route(new.coordinates(new.points())), tree.route(kernel.coordinates(points[:50]))
    )
    H = compress(kernel, points, tree, rtol=1e-8, max_rank=500)
    assert np.linalg.eigvalsh(H.to_dense())[0] > -1e-10 * 500
    assert_allclose(H.to_dense(), kernel.K, atol=1e-5)


def test_leaves_are_as_good_as_those_of_vectors(rng):
    X = rng.standard_normal((2000, 3))
    K = gaussian(X, X)
    kernel = Precomputed().bind(K)
    of_points = compress(kernel, kernel.points(), max_rank=64, rtol=0).to_dense()
    of_rows = compress(Gaussian(0.5), X, max_rank=64, rtol=0).to_dense()
    errors = [np.linalg.norm(H - K) / np.linalg.norm(K) for H in (of_points, of_rows)]
    assert errors[0] < 3.5 * errors[1]  # about twice as large


def test_neighbors_without_coordinates(rng):
    X = rng.standard_normal((600, 3))
    K = gaussian(X, X)
    kernel = Precomputed().bind(K)
    H = compress(kernel, kernel.points(), compressor=HSSANN(rtol=1e-6)).to_dense()
    assert_allclose(H, K, atol=1e-2)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["array", "float32", "objects"])
def test_classifiers_are_those_of_scikit_learn(n_classes, kind, rng):
    X, y = rows(rng, 500)
    y = y if n_classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
    new = rng.standard_normal((100, 3))
    theirs = svm.SVC(kernel="precomputed", tol=1e-8).fit(gaussian(X, X), y)
    if kind == "objects":
        kernel, train, test = ObjectKernel(gaussian), as_objects(X), as_objects(new)
    else:
        dtype = np.float32 if kind == "float32" else np.float64
        kernel = "precomputed"
        train, test = gaussian(X, X).astype(dtype), gaussian(new, X).astype(dtype)
    model = SVC(kernel=kernel, tol=1e-6).fit(train, y)
    expected = theirs.decision_function(gaussian(new, X))
    if n_classes == 2:
        assert_allclose(model.decision_function(test), expected, atol=2e-3)
        assert_array_equal(np.sort(model.support_), np.sort(theirs.support_))
    assert np.mean(model.predict(test) == theirs.predict(gaussian(new, X))) > 0.98
    certificate = model.certify(train, y)
    assert abs(certificate.gap).max() < 1e-4
    assert hasattr(model, "n_features_in_") == (kind != "objects")


@pytest.mark.parametrize("kind", ["precomputed", "objects"])
def test_compressed_models_and_forests(kind, rng):
    X, y = rows(rng, 2600)
    new, new_y = rows(rng, 400)
    kernel, train, test = "precomputed", gaussian(X, X), gaussian(new, X)
    if kind == "objects":
        kernel, train, test = ObjectKernel(gaussian), as_objects(X), as_objects(new)
    model = SVC(10.0, kernel=kernel, approximation=HSS(n_trees=2), random_state=0).fit(train, y)
    assert model.fit_report_.n_trees == 2
    assert "feature" not in model.summary()
    assert model.score(test, new_y) > 0.95
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(test), model.decision_function(test))


def test_regression_and_novelty_detection(rng):
    X, _ = rows(rng, 300)
    K, y = gaussian(X, X), np.sin(X[:, 0])
    ours, theirs = SVR(kernel="precomputed", tol=1e-6), svm.SVR(kernel="precomputed", tol=1e-8)
    assert_allclose(ours.fit(K, y).predict(K), theirs.fit(K, y).predict(K), atol=1e-3)
    ours = OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-7).fit(K)
    theirs = svm.OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-8).fit(K)
    expected = theirs.decision_function(K)
    assert_allclose(ours.decision_function(K), expected, atol=1e-3 * np.ptp(expected))


def test_paths(rng):
    X, y = rows(rng, 300)
    new = rng.standard_normal((50, 3))
    path = svc_path(gaussian(X, X), y, [0.1, 1.0], kernel="precomputed", tol=1e-7)
    expected = svc_path(X, y, [0.1, 1.0], gamma=0.5, tol=1e-7)
    values = path.decision_function(gaussian(new, X))
    assert_allclose(values, expected.decision_function(new), atol=1e-3)


def test_clusters_need_rows_of_numbers(rng):
    dask_estimators = pytest.importorskip("hssvm.dask")
    for kernel in ("precomputed", ObjectKernel(gaussian)):
        with pytest.raises(ValueError, match="not available on a cluster"):
            dask_estimators.SVC(kernel=kernel).fit(np.eye(3), [0, 1, 0])


@pytest.mark.filterwarnings("ignore:The best")
def test_searches_of_scikit_learn_and_ours(rng):
    X, y = rows(rng, 240)
    K = gaussian(X, X)
    grid = {"C": [0.01, 10.0]}
    theirs = GridSearchCV(SVC(kernel="precomputed"), grid, cv=3).fit(K, y)
    assert theirs.best_params_ == {"C": 10.0}
    ours = SVCCV(grid["C"], kernel="precomputed", cv=3).fit(K, y)
    assert ours.C_ == 10.0
    assert ours.score(K, y) > 0.9

    def half(model, X, y):
        return model.score(X[::2], y[::2])

    assert SVCCV(grid["C"], kernel="precomputed", cv=3, scoring=half).fit(K, y).C_ == 10.0
    objects = SVCCV(grid["C"], kernel=ObjectKernel(gaussian), cv=3).fit(as_objects(X), y)
    assert objects.C_ == 10.0
    assert cross_val_score(SVC(kernel="precomputed"), K, y, cv=3).mean() > 0.85


def test_memory_maps_are_read_in_blocks(tmp_path, rng, monkeypatch):
    X, y = rows(rng, 700)
    K = gaussian(X, X).astype(np.float32)
    np.save(tmp_path / "K.npy", K)
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    monkeypatch.setattr("hssvm.kernels.precomputed.READ_BYTES", 2800 * 50)
    model = SVC(kernel="precomputed").fit(mapped, y)
    expected = SVC(kernel="precomputed").fit(K, y)
    assert_allclose(model.decision_function(mapped), expected.decision_function(K), atol=1e-3)
    assert model.kernel_.K is None
    kernel = Precomputed().bind(mapped)
    assert [len(block) for _, block in kernel._read(np.arange(120))] == [50, 50, 20]
    writable = np.load(tmp_path / "K.npy", mmap_mode="c")
    writable[3, 3] = 2.0  # on a page that must not be released
    SVC(kernel="precomputed").fit(writable, y)
    assert writable[3, 3] == 2.0
    bad = np.load(tmp_path / "K.npy", mmap_mode="r+")
    bad[:, 5] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        SVC(kernel="precomputed").fit(bad, y)


def test_rows_that_do_not_fit_are_computed_again(rng):
    X = rng.standard_normal((1500, 2))
    few, lazy = CachedKernelMatrix(Linear(), X, capacity=600), LazyKernelMatrix(Linear(), X)
    for _ in range(3):
        a, b = rng.permutation(1500)[:900], rng.permutation(1500)[:700]
        W = rng.standard_normal((b.size, 2))
        assert_allclose(few.product(a, b, W), lazy.product(a, b, W), atol=1e-10)
        assert_allclose(few.block(a, b), lazy.block(a, b), atol=1e-12)
    assert sum(block.shape[0] for block in few._blocks) == 600


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda K: K[:-1], ValueError, "must be a square matrix"),
        (lambda K: K + np.triu(K, 1), ValueError, "not symmetric"),
        (lambda K: K - 0.5, ValueError, "not positive semi-definite: the block of .* eigenvalue -"),
        (lambda K: np.where(K == 1, np.nan, K), ValueError, "NaN or infinity"),
        (scipy.sparse.csr_array, TypeError, "sparse precomputed"),
        (lambda K: K[0], ValueError, "two dimensions"),
        (lambda K: K[:0, :0], ValueError, "at least one row"),
        (lambda K: K + 0j, TypeError, "complex"),
    ],
)
def test_matrices_that_are_refused(change, error, message, rng):
    X, y = rows(rng, 60)
    K = change(gaussian(X, X))
    with pytest.raises(error, match=message):
        SVC(kernel="precomputed").fit(K, y[: K.shape[0]])


def test_wrong_new_points_are_refused(rng):
    X, y = rows(rng, 60)
    model = SVC(kernel="precomputed").fit(gaussian(X, X), y)
    with pytest.raises(ValueError, match="should be equal to 60"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="cannot contain the kernel"):
        model.save("model.hssvm")
    objects = SVC(kernel=ObjectKernel(gaussian)).fit(as_objects(X), y)
    with pytest.raises(TypeError, match="list of objects"):
        objects.predict("word")
    with pytest.raises(ValueError, match="no objects"):
        objects.predict([])
    with pytest.raises(TypeError, match="make a list of it"):
        objects.predict(pd.DataFrame(X))
    nan = ObjectKernel(lambda A, B: np.full((len(A), len(B)), np.nan))
    with pytest.raises(ValueError, match="not finite real numbers"):
        SVC(kernel=nan).fit(as_objects(X), y)
    with pytest.raises(ValueError, match="scales features"):
        SVC(kernel="precomputed", scaling="standard").fit(gaussian(X, X), y)
    with pytest.raises(ValueError, match="one value per pair"):
        SVC(kernel=ObjectKernel(lambda A, B: np.ones(3))).fit(as_objects(X), y)
    with pytest.raises(TypeError, match="cannot be combined"):
        ObjectKernel(gaussian) + Linear()


def test_objects_in_parallel(rng):
    X, y = rows(rng, 300)
    kernel = ObjectKernel(gaussian, n_jobs=2)
    expected = SVC(kernel=ObjectKernel(gaussian)).fit(as_objects(X), y)
    with parallel_config(backend="threading"):
        model = SVC(kernel=kernel).fit(as_objects(X), y)
        values = model.decision_function(as_objects(X))
    assert_allclose(values, expected.decision_function(as_objects(X)), atol=1e-10)


def test_failed_calls_leave_nothing_behind(rng):
    X, y = rows(rng, 60)
    K = gaussian(X, X)
    model = SVC(kernel="precomputed")
    with pytest.raises(ValueError, match="inconsistent"):
        model.estimate_cost(K, y[:-1])
    model.set_params(kernel="rbf").fit(pd.DataFrame(X, columns=list("abc")), y)
    model.set_params(kernel="precomputed").fit(K, y)
    assert not hasattr(model, "feature_names_in_")
    before = pickle.dumps(model)
    missing = np.where(y, np.nan, 0.0)
    for data, options, message in (
        ((K, y), {"n_rows": 1}, "n_rows"),
        ((K[:2, :2], y[:2]), {}, "fewer rows"),
        ((K, y), {"sample_weight": np.ones(3)}, "sample_weight"),
        ((K, np.where(y, "a", "b")), {}, "other classes"),
        ((K, missing), {}, "y "),
    ):
        with pytest.raises(ValueError, match=message):
            model.certify(*data, **options)
        assert pickle.dumps(model) == before
    model.certify(K, y)
    assert pickle.dumps(model) == before


def test_strings_and_clones():
    def common_letters(A, B):
        return [[len(set(a) & set(b)) for b in B] for a in A]

    words = np.array(["sun", "sunny", "run", "tree", "three", "trees"])
    model = clone(SVC(kernel=ObjectKernel(common_letters))).fit(words, [0, 0, 0, 1, 1, 1])
    assert_array_equal(model.predict(["funny", "reset"]), [0, 1])


@pytest.mark.parametrize("kind", [SVC, SVR, OneClassSVM])
def test_estimates_are_of_the_points_of_a_fit(kind, rng):
    X, y = rows(rng, 300)
    objects, known = as_objects(X), set(as_objects(X))

    def kernel(A, B):
        assert known.issuperset(A)
        assert known.issuperset(B)
        return gaussian(A, B)

    targets = () if kind is OneClassSVM else (y.astype(float),)
    for argument, points in (("precomputed", gaussian(X, X)), (ObjectKernel(kernel), objects)):
        model = kind(kernel=argument, random_state=0)
        estimate = model.estimate_cost(points, *targets)
        assert (estimate.n_rows, estimate.n_sample) == (300, 300)
        report = model.fit(points, *targets).fit_report_
        assert estimate.seconds.keys() == report.seconds.keys()
        assert estimate.memory > 0


@pytest.mark.parametrize("kind", ["precomputed", "objects"])
def test_estimates_from_samples_of_points(kind, rng, monkeypatch):
    monkeypatch.setattr("hssvm.training.cost.TRIAL_ROWS", 100)
    X, y = rows(rng, 300)
    kernel, points = "precomputed", gaussian(X, X)
    if kind == "objects":
        kernel, points = ObjectKernel(gaussian), as_objects(X)
    n_support = []
    fit = SVC.fit

    def counted(model, *data):
        n_support.append(fit(model, *data).support_.size)
        return model

    monkeypatch.setattr(SVC, "fit", counted)
    for model, data in ((SVC(kernel=kernel), points), (SVC(gamma=0.5), X)):
        assert model.estimate_cost(data, y).n_sample == 100
    assert n_support[:2] == pytest.approx(n_support[2:], abs=4)
