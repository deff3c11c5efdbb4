import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn import svm
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity

from hssvm import SVC, SVCCV, load
from hssvm.hss import compress
from hssvm.kernels import ChiSquared, Cosine, HistogramIntersection, MinMax, Tanimoto


def _ratio(s, X, Y):
    sizes = s(X, X).diagonal()[:, None] + s(Y, Y).diagonal() - s(X, Y)
    return np.divide(s(X, Y), sizes, out=np.ones(sizes.shape), where=sizes > 0)


def _minima(X, Y):
    return np.minimum(X[:, None], Y[None]).sum(axis=2)


REFERENCES = {
    Tanimoto(): lambda X, Y: _ratio(lambda a, b: a @ b.T, X, Y),
    MinMax(): lambda X, Y: _ratio(_minima, X, Y),
    HistogramIntersection(): _minima,
    ChiSquared(0.2): lambda X, Y: chi2_kernel(X, Y, gamma=0.2),
    Cosine(): cosine_similarity,
}
each_kernel = pytest.mark.parametrize("kernel", REFERENCES, ids=lambda k: type(k).__name__)
COUNT_KERNELS = [MinMax(), HistogramIntersection(), ChiSquared()]


def counts(rng, n, p):
    """Counts, with duplicates and a row of zeros."""
    X = rng.poisson(0.7, (n, p)).astype(np.float64)
    X[-1], X[-2] = X[0], 0
    return X


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 3, 40])
def test_blocks_are_the_definition(kernel, dtype, p, rng):
    X, Y = counts(rng, 40, p).astype(dtype), counts(rng, 70, p).astype(dtype)
    expected = REFERENCES[kernel](X.astype(np.float64), Y.astype(np.float64))
    atol = (1e-5 if dtype == np.float32 else 1e-12) * max(1, expected.max())
    assert_allclose(kernel.block(X, Y), expected, atol=atol, rtol=0)
    sparse = kernel.block(scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y))
    assert sparse.dtype == dtype
    assert_allclose(sparse, expected, atol=atol, rtol=0)
    diagonal = REFERENCES[kernel](X.astype(np.float64), X.astype(np.float64)).diagonal()
    assert_allclose(kernel.diag(X), diagonal, atol=atol, rtol=1e-6)
    assert_allclose(kernel.diag(scipy.sparse.csr_array(X)), diagonal, atol=atol, rtol=1e-6)


@each_kernel
def test_duplicates_are_exact(kernel, rng):
    X = counts(rng, 30, 12).astype(np.float32) / 7
    for rows in (X, scipy.sparse.csr_array(X)):
        K = kernel.block(rows)
        assert_allclose(K[-1], K[0], rtol=1e-6)
        if isinstance(kernel, ChiSquared):
            assert_array_equal(K.diagonal(), 1)


def test_tanimoto_and_minmax_of_bits_are_the_jaccard_index(rng):
    X = rng.random((50, 64)) < 0.2
    expected = 1 - cdist(X, X, "jaccard")
    for kernel in (Tanimoto(), MinMax()):
        assert_allclose(kernel.block(X.astype(np.float32)), expected, atol=1e-6)


@each_kernel
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_matrices_are_positive_semi_definite(kernel, seed):
    rng = np.random.default_rng(seed)
    X = counts(rng, 60, int(rng.integers(1, 20))) * rng.uniform(0.1, 10)
    K = kernel.block(X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-15)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)


@each_kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_compressed_matrices_are_positive_semi_definite_and_accurate(kernel, sparse, rng):
    X = counts(rng, 600, 30)
    rows = scipy.sparse.csr_array(X) if sparse else X
    H = compress(kernel, rows, rtol=1e-8, max_rank=600).to_dense()
    K = REFERENCES[kernel](X, X)
    assert np.linalg.eigvalsh(H)[0] > -1e-10 * np.trace(K)
    assert_allclose(H, K, atol=1e-5 * K.max())


@each_kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_models_are_those_of_scikit_learn(kernel, sparse, rng):
    X = counts(rng, 400, 15)
    y = X[:, :3].sum(axis=1) > X[:, 3:6].sum(axis=1)
    rows = scipy.sparse.csr_array(X) if sparse else X
    theirs = svm.SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(REFERENCES[kernel](X, X), y)
    model = SVC(2.0, kernel=kernel, tol=1e-8).fit(rows, y)
    expected = theirs.decision_function(REFERENCES[kernel](X, X))
    assert_allclose(model.decision_function(rows), expected, atol=2e-5)
    one_by_one = [model.decision_function(rows[[i]])[0] for i in range(20)]
    assert_allclose(one_by_one, expected[:20], atol=2e-5)


@pytest.mark.parametrize("kernel", COUNT_KERNELS, ids=lambda k: type(k).__name__)
def test_negative_features_are_refused(kernel, rng):
    X, y = counts(rng, 50, 3), np.arange(50) % 2
    with pytest.raises(ValueError, match="features of at least 0"):
        SVC(kernel=kernel).fit(X - 1, y)
    with pytest.raises(ValueError, match="features of at least 0"):
        SVC(kernel=kernel).fit(scipy.sparse.csr_array(-X), y)
    with pytest.raises(ValueError, match="features of at least 0"):
        SVC(kernel=kernel).fit(X, y).predict(X - 1)


@pytest.mark.filterwarnings("ignore:The best")
def test_searches_do_not_scale_fingerprints(rng, tmp_path):
    X = (rng.random((600, 32)) < np.linspace(0.01, 0.5, 32)).astype(np.float64)
    X[:, 0] *= 1000
    y = X[:, -4:].sum(axis=1) > 1
    model = SVCCV([0.1, 1], kernel="tanimoto", cv=3).fit(X, y)
    assert model.feature_factor_ is None
    assert model.kernel_ == Tanimoto()
    model.save(tmp_path / "model.hssvm")
    loaded = load(tmp_path / "model.hssvm")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name", ["cosine", "tanimoto", "minmax", "intersection"])
def test_kernels_by_name(name, rng):
    X, y = counts(rng, 80, 6), np.arange(80) % 2
    model = SVC(kernel=name).fit(X, y)
    kernels = {"cosine": Cosine, "tanimoto": Tanimoto, "minmax": MinMax}
    assert type(model.kernel_) is kernels.get(name, HistogramIntersection)
