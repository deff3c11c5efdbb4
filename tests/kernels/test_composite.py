import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import OneHotEncoder

from hssvm import HSS, SVC, SVCCV, load
from hssvm.hss import compress
from hssvm.kernels import (
    CallableKernel,
    Categorical,
    ColumnsKernel,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Linear,
    MinMax,
    Polynomial,
    Precomputed,
    ProductKernel,
    SumKernel,
)

KERNELS = {
    "sum": (Gaussian(0.5) + Linear(), lambda X, Y: _g(X, Y) + X @ Y.T),
    "product": (Gaussian(0.5) * Linear(), lambda X, Y: _g(X, Y) * (X @ Y.T)),
    "scaled": (2 * Gaussian(0.5) + 3.5, lambda X, Y: 2 * _g(X, Y) + 3.5),
    "columns": (
        Gaussian(0.5)[:2] * Linear()[2:],
        lambda X, Y: _g(X[:, :2], Y[:, :2]) * (X[:, 2:] @ Y[:, 2:].T),
    ),
    "nested": (
        (Gaussian(0.5)[[0, 3]] + Linear()[1:3]) * (1 + Gaussian(0.5)),
        lambda X, Y: (_g(X[:, [0, 3]], Y[:, [0, 3]]) + X[:, 1:3] @ Y[:, 1:3].T) * (1 + _g(X, Y)),
    ),
    "with a function": (
        Gaussian(0.5) * CallableKernel(lambda X, Y: 1 + np.asarray((X @ Y.T) ** 2)),
        lambda X, Y: _g(X, Y) * (1 + (X @ Y.T) ** 2),
    ),
}


def _g(X, Y):
    return rbf_kernel(X, Y, gamma=0.5)


each_kernel = pytest.mark.parametrize(("kernel", "reference"), KERNELS.values(), ids=list(KERNELS))


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_diagonals_and_products(kernel, reference, dtype, rng):
    X, Y = rng.standard_normal((30, 4)).astype(dtype), rng.standard_normal((50, 4)).astype(dtype)
    expected = reference(X.astype(np.float64), Y.astype(np.float64))
    atol = (1e-5 if dtype == np.float32 else 1e-12) * np.abs(expected).max()
    K = kernel.block(X, Y)
    assert K.dtype == dtype
    assert_allclose(K, expected, atol=atol)
    assert_allclose(kernel.diag(X), kernel.block(X).diagonal(), atol=atol)
    W = rng.standard_normal((50, 2)).astype(dtype)
    assert_allclose(kernel.product(X, Y, W), expected @ W, atol=50 * atol)


@each_kernel
def test_sparse_rows(kernel, reference, rng):
    X = scipy.sparse.random_array((60, 4), density=0.5, format="csr", rng=rng)
    if isinstance(kernel.kernels[-1], CallableKernel):
        pytest.skip("the function takes dense rows")
    assert_allclose(kernel.block(X), reference(X.toarray(), X.toarray()), atol=1e-12)
    assert_allclose(kernel.diag(X), kernel.block(X).diagonal(), atol=1e-12)


@each_kernel
def test_compressed_matrices_are_accurate_and_positive_semi_definite(kernel, reference, rng):
    X = rng.standard_normal((500, 4))
    H = compress(kernel, X, rtol=1e-8, max_rank=500).to_dense()
    K = reference(X, X)
    assert_allclose(H, K, atol=1e-5 * np.abs(K).max())
    assert np.linalg.eigvalsh(H)[0] > -1e-10 * np.trace(K)


@pytest.mark.parametrize(
    ("name", "refine"), [*((name, True) for name in KERNELS), ("nested", False)]
)
def test_models_are_those_of_scikit_learn(name, refine, rng):
    kernel, reference = KERNELS[name]
    X = rng.standard_normal((500 if refine else 2400, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0
    tol = 1e-6 if refine else 1e-3
    theirs = svm.SVC(kernel="precomputed", tol=tol).fit(reference(X, X), y)
    model = SVC(kernel=kernel, refine=refine, approximation=HSS(), tol=tol, random_state=0)
    model.fit(X, y)
    assert model.fit_report_.exact_kernel == refine
    new = rng.standard_normal((200, 4))
    expected = theirs.decision_function(reference(new, X))
    if refine:
        assert_allclose(model.decision_function(new), expected, atol=1e-3)
    else:
        assert np.mean((model.decision_function(new) > 0) == (expected > 0)) > 0.8


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_combinations_are_positive_semi_definite(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (40, 3)).astype(np.float64)
    parts = [Gaussian(0.3), Linear()[1:], MinMax(), Categorical(0.4)[[0, 2]], Cosine()]
    kernel = parts[rng.integers(5)]
    for _ in range(3):
        other = parts[rng.integers(5)]
        kernel = kernel + other if rng.random() < 0.5 else kernel * (2.0 * other)
    K = kernel.block(X)
    assert_allclose(K, K.T, rtol=1e-10)
    assert np.linalg.eigvalsh(K)[0] > -1e-10 * np.trace(K)


@pytest.mark.parametrize("scale", [1e-6, 3e6])
def test_products_that_overflow_single_precision(scale, rng):
    X = scale * rng.standard_normal((300, 3))
    kernel = Linear() * Linear() * Linear() * Linear()
    H = compress(kernel, X, rtol=1e-4, max_rank=300).to_dense()
    K = (X @ X.T) ** 4
    assert np.linalg.norm(H - K) < 1e-3 * np.linalg.norm(K)


@pytest.mark.filterwarnings("ignore:The best")
def test_searches_leave_counts_as_they_are(rng):
    X = np.column_stack([1000 * rng.standard_normal((300, 2)), rng.poisson(1.0, (300, 4))])
    y = X[:, 2] > X[:, 3]
    kernel = Gaussian(1e-6)[:2] + MinMax()[2:]
    model = SVCCV([1.0, 10.0], kernel=kernel, cv=3).fit(X, y)
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match="at least 0"):
        SVCCV([1.0, 10.0], kernel=kernel, cv=3, scaling="standard").fit(X, y)


def test_categories_are_those_of_one_hot_rows(rng):
    X = rng.integers(0, 5, (300, 4)).astype(np.float64)
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(X)
    expected = rbf_kernel(one_hot, gamma=0.35)
    assert_allclose(Categorical(0.7).block(X), expected, atol=1e-12)
    assert_allclose(Categorical(0.7).block(X.astype(np.float32)), expected, atol=1e-6)
    y = (X[:, 0] + X[:, 1]) % 2
    model = SVC(kernel=Categorical(0.7), tol=1e-8).fit(X, y)
    theirs = SVC(gamma=0.35, tol=1e-8).fit(one_hot, y)
    assert_allclose(model.decision_function(X), theirs.decision_function(one_hot), atol=1e-5)
    assert_allclose(
        model.decision_function(X[:1]), theirs.decision_function(one_hot[:1]), atol=1e-5
    )
    with pytest.raises(ValueError, match="dense rows"):
        SVC(kernel=Categorical()).fit(scipy.sparse.csr_array(X), y)


def test_notation():
    assert repr(2 * (Linear() + Cosine()[1:]) * Gaussian(1.0)[[0, 2]]) == (
        "(Linear() + Cosine()[1:]) * 2.0 * Gaussian(gamma=1.0)[[0, 2]]"
    )
    assert repr(Linear()[::2]) == "Linear()[::2]"
    kernel = Gaussian(1.0) + Linear() + Cosine()
    assert kernel == SumKernel((Gaussian(1.0), Linear(), Cosine()))
    assert 2 * Linear() == ProductKernel((Linear(), Constant(2.0)))
    assert Linear()[1:5:2] == ColumnsKernel(Linear(), (1, 5, 2), is_slice=True)
    assert Linear()[np.array([2, 0])] == ColumnsKernel(Linear(), (2, 0))
    assert Linear()[np.array([True, False, True])] == Linear()[[0, 2]]
    assert repr((Linear() * Cosine())[:2]) == "(Linear() * Cosine())[:2]"
    assert Linear() * np.float32(2) == np.int64(2) * Linear()
    with pytest.raises(TypeError):
        list(Linear())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda X: -1 * Linear(), ValueError, "multiplied by a number >= 0"),
        (lambda X: Linear() + "rbf", TypeError, "neither a number nor a kernel"),
        (lambda X: Linear()[0], TypeError, "a slice, a list of indices or a mask"),
        (lambda X: Linear()[[0.9]], TypeError, "a slice, a list of indices or a mask"),
        (lambda X: Linear()[[True, False]], TypeError, "NumPy array"),
        (lambda X: Precomputed()[:2], TypeError, "cannot be combined"),
        (lambda X: Linear()[4:].block(X), ValueError, "none of the columns"),
        (lambda X: Linear()[[0, 7]].block(X), ValueError, "but X has 3 columns"),
        (lambda X: (Linear() + MinMax()[1:]).check_rows(X), ValueError, "at least 0"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make(-np.ones((2, 3)))


def test_saved_models(tmp_path, rng):
    X = rng.random((200, 4))
    kernel = 2 * Gaussian(0.5)[:2] * Exponential(1.0)[[3]] + Polynomial(1.0, degree=2)[1:]
    model = SVC(kernel=kernel).fit(X, X.sum(axis=1) > 2)
    model.save(tmp_path / "model.hssvm")
    loaded = load(tmp_path / "model.hssvm")
    assert loaded.kernel_ == kernel
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    own = SVC(kernel=Linear() + CallableKernel(lambda X, Y: X @ Y.T)).fit(X, X[:, 0] > 0.5)
    with pytest.raises(ValueError, match="cannot contain the kernel"):
        own.save(tmp_path / "own.hssvm")
