import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse
from helpers.platforms import linux
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import AWKWARD, all_kernels, awkward_points, kernel_matrix, nested_nystroem
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from hssvm.hss import (
    HSSANN,
    ClusterTree,
    NestedNystroem,
    compress,
    estimate_error,
    estimate_product_error,
    estimate_quadratic_form_error,
    factor,
)
from hssvm.kernels import CallableKernel, Exponential, Gaussian, Linear
from hssvm.kernels.radial import RadialKernel

KERNELS = all_kernels()
names = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)


def relative_error(A, B):
    return np.linalg.norm(A - B) / np.linalg.norm(B)


@settings(max_examples=400)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 600),
    p=st.integers(1, 40),
    log_gamma=st.floats(-4, 2),
    kernel=st.integers(0, len(KERNELS) - 1),
    kind=st.sampled_from(AWKWARD),
    leaf_size=st.integers(4, 150),
    max_rank=st.integers(1, 60),
    oversampling=st.sampled_from([0.0, 0.125, 0.5, 2.0]),
    rtol=st.sampled_from([0.0, 1e-6, 1e-2]),
)
def test_positive_semi_definite_always(
    seed, n, p, log_gamma, kernel, kind, leaf_size, max_rank, oversampling, rtol
):
    rng = np.random.default_rng(seed)
    X = awkward_points(rng, n, p, kind)
    kernel = all_kernels(10.0**log_gamma)[kernel]
    if isinstance(kernel, CallableKernel):
        X = X * 10.0**log_gamma
    tree = ClusterTree.build(X, leaf_size, random_state=seed)
    H = compress(
        kernel, X, tree, rtol=rtol, max_rank=max_rank, oversampling=oversampling, random_state=seed
    )
    dense = H.to_dense()
    trace = kernel.diag(X).sum()
    assert_allclose(dense, dense.T, atol=1e-13 * trace)
    assert np.linalg.eigvalsh((dense + dense.T) / 2)[0] >= -1e-10 * trace


@names
@pytest.mark.parametrize("oversampling", [0.0, 0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_is_the_nested_nystroem_matrix(kernel, oversampling, dtype, rng):
    X = (0.3 * rng.standard_normal((231, 12))).astype(dtype)
    tree = ClusterTree.build(X, leaf_size=30, random_state=rng)
    H = compress(kernel, X, tree, max_rank=4, oversampling=oversampling, random_state=rng)
    expected = nested_nystroem(H)
    atol = (1e-3 if dtype == np.float32 else 1e-9) * np.abs(expected).max()
    assert_allclose(H.to_dense(), expected, atol=atol)
    # The rank is far below what the kernel needs, so the test is not of K itself.
    assert relative_error(expected, kernel.block(X.astype(float))) > 1e-7


@names
@pytest.mark.parametrize("kind", AWKWARD)
def test_full_rank_is_exact(kernel, kind, rng):
    X = awkward_points(rng, 103, 4, kind)
    tree = ClusterTree.build(X, leaf_size=10, random_state=rng)
    K = kernel_matrix(kernel, X)
    H = compress(kernel, X, tree, rtol=0.0, max_rank=103, random_state=rng)
    # Candidates explained to 1e-12 of the largest variance are left out; 1e-6 is its square root.
    assert_allclose(H.to_dense(), K, atol=2e-6 * np.abs(K).max())
    if kind == "plain" and isinstance(kernel, RadialKernel):
        assert_allclose(H.to_dense(), K, atol=1e-10)  # nothing was left out
    X = X.astype(np.float32)
    K = kernel_matrix(kernel, X)
    H = compress(kernel, X, tree, rtol=0.0, max_rank=103, random_state=rng)
    assert_allclose(H.to_dense(), K, atol=3e-5 * np.abs(K).max())


def test_one_leaf_is_the_kernel_matrix(rng):
    X = rng.standard_normal((100, 3))
    H = compress(Gaussian(1.0), X)
    assert H.tree.depth == 0
    assert_allclose(H.to_dense(), kernel_matrix(Gaussian(1.0), X), rtol=1e-12)
    assert_allclose(compress(Gaussian(1.0), X[:1]).to_dense(), [[1.0]])


@pytest.mark.parametrize("max_rank", [1, 8, 40])
def test_leaf_blocks_and_skeleton_blocks_are_exact(max_rank, rng):
    X = rng.standard_normal((500, 5))
    tree = ClusterTree.build(X, leaf_size=40, random_state=rng)
    H = compress(Gaussian(0.3), X, tree, max_rank=max_rank, oversampling=0.0, random_state=rng)
    dense, K = H.to_dense(), Gaussian(0.3).block(X)
    offsets, leaves = tree.offsets(tree.depth), H.levels[tree.depth]
    for leaf in range(tree.n_leaves):
        rows = tree.perm[offsets[leaf] : offsets[leaf + 1]]
        assert_allclose(dense[np.ix_(rows, rows)], K[np.ix_(rows, rows)], atol=1e-12)
        skeleton = leaves.skeleton[leaves.ranks[leaf] : leaves.ranks[leaf + 1]]  # no oversampling
        assert np.isin(skeleton, rows).all()
        assert np.unique(skeleton).size == skeleton.size
        sibling = leaves.skeleton[leaves.ranks[leaf ^ 1] : leaves.ranks[(leaf ^ 1) + 1]]
        block = np.ix_(skeleton, sibling)
        assert_allclose(dense[block], K[block], atol=1e-10)


@pytest.mark.parametrize("rtol", [1e-1, 1e-3, 1e-5])
def test_tolerance_is_kept(rtol, rng):
    X = rng.standard_normal((2000, 2))
    kernel = Gaussian(0.5)
    H = compress(kernel, X, ClusterTree.build(X, 64), rtol=rtol, max_rank=64, random_state=rng)
    K = kernel.block(X)
    # Two sides and six levels each add their part.
    assert relative_error(H.to_dense(), K) < 3 * rtol
    loose = compress(kernel, X, ClusterTree.build(X, 64), rtol=0.3, max_rank=64, random_state=rng)
    assert loose.nbytes <= H.nbytes


def test_ranks_keep_below_their_caps(rng):
    X = rng.standard_normal((4000, 20))
    tree = ClusterTree.build(X, leaf_size=100, random_state=rng)
    H = compress(Gaussian(0.05), X, tree, rtol=0.0, max_rank=10, random_state=rng)
    for level, ranks in enumerate(H.ranks):
        cap = int(10 * 2 ** ((tree.depth - level) / 3)) if level else 0
        assert ranks.max() == cap


def test_surplus_lowers_the_error_at_equal_rank(rng):
    X = rng.standard_normal((3000, 30))
    tree = ClusterTree.build(X, leaf_size=100, random_state=rng)
    K = Gaussian(0.01).block(X)
    H = [
        compress(Gaussian(0.01), X, tree, max_rank=30, oversampling=oversampling, random_state=1)
        for oversampling in (0.0, 0.5)
    ]
    assert H[0].ranks[1].max() == H[1].ranks[1].max()
    assert relative_error(H[1].to_dense(), K) < 0.9 * relative_error(H[0].to_dense(), K)


def test_far_clusters_have_rank_zero(rng):
    X = np.repeat(100.0 * np.arange(4), 50)[:, None] + rng.random((200, 1))
    H = compress(Gaussian(1.0), X, ClusterTree.build(X, 50))
    assert all(ranks.max() == 0 for ranks in H.ranks)
    assert_allclose(H.to_dense(), Gaussian(1.0).block(X), atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products(dtype, rng):
    X = rng.standard_normal((777, 6)).astype(dtype)
    H = compress(Gaussian(0.2), X, ClusterTree.build(X, 50), max_rank=20, random_state=rng)
    dense = H.to_dense()
    B = rng.standard_normal((777, 5)).astype(dtype)
    atol = 1e-4 if dtype == np.float32 else 1e-11
    assert_allclose(H @ B, dense @ B, atol=atol)
    assert_allclose(H @ B[:, 2], dense @ B[:, 2], atol=atol)
    assert_allclose(H @ np.asfortranarray(B), H @ B, atol=0)
    assert (H @ B[:, :0]).shape == (777, 0)
    assert H.shape == (777, 777)
    assert H.dtype == (H @ B).dtype == dtype
    with pytest.raises(ValueError, match=r"expected shape \(777,\) or \(777, k\)"):
        H @ B[:-1]


def test_sparse_equals_dense(rng):
    X = scipy.sparse.random_array((600, 50), density=0.1, format="csr", rng=rng)
    tree = ClusterTree.build(X, 60)
    H = compress(Gaussian(0.5), X, tree, max_rank=25, random_state=3)
    same = compress(Gaussian(0.5), X.toarray(), tree, max_rank=25, random_state=3)
    # Rounding may turn a choice between equals; the error is the same.
    K = Gaussian(0.5).block(X)
    assert_allclose(
        relative_error(H.to_dense(), K), relative_error(same.to_dense(), K), rtol=0.2, atol=1e-12
    )


def test_wide_sparse_data_stays_sparse(rng):
    import tracemalloc

    X = scipy.sparse.random_array(
        (3000, 47_000), density=0.001, format="csr", rng=rng, dtype=np.float32
    )
    tracemalloc.start()
    H = compress(Gaussian(0.05), X, max_rank=20, random_state=rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.1 * X.shape[0] * X.shape[1] * 4
    assert estimate_error(H) < 1


@linux  # where the peak is in kilobytes
@pytest.mark.slow
def test_text_sized_sparse_data():
    # In a process of its own, whose peak of memory is its own too.
    code = """
import resource
import numpy as np, scipy.sparse
from hssvm.hss import compress, factor
from hssvm.kernels import Gaussian
X = scipy.sparse.random_array((50_000, 47_000), density=0.001, rng=0, dtype=np.float32).tocsr()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
H = compress(Gaussian(0.05), X, max_rank=50)
x = factor(H, 1.0).solve(np.ones(50_000))
assert np.abs(H @ x + x - 1).max() < 1e-3
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = int(subprocess.check_output([sys.executable, "-c", code], text=True)) * 1024
    assert grown < 1.5e9  # dense: 9.4e9


def test_callable_equals_built_in(rng):
    X = rng.standard_normal((400, 3))
    tree = ClusterTree.build(X, 50)
    function = CallableKernel(lambda X, Y: Exponential(0.5).block(X, Y))
    # Below 1e-5 the far field is double: in float32 rounding may turn a choice between near equals.
    options = {"rtol": 1e-6, "max_rank": 20, "oversampling": 0.0, "random_state": 1}
    H = compress(function, X, tree, **options)
    same = compress(Exponential(0.5), X, tree, **options)
    assert_allclose(H.to_dense(), same.to_dense(), atol=1e-12)


STRATEGIES = {"nystroem": NestedNystroem(), "interpolation": HSSANN()}


@pytest.mark.parametrize("outer", STRATEGIES)
@pytest.mark.parametrize("inner", ["product", "solve", *STRATEGIES])
def test_a_callable_must_not_use_compressed_matrices(outer, inner, rng):
    X = rng.standard_normal((400, 3))
    tree = ClusterTree.build(X, 50)
    other = compress(Gaussian(0.1), X, tree)
    system = factor(other, shift=1.0)

    def nested(rows, columns):
        if inner == "product":
            other @ np.ones(400)
        elif inner == "solve":
            system.solve(np.ones(400))
        else:
            compress(Gaussian(0.1), X, tree, STRATEGIES[inner])
        return Gaussian(1.0).block(rows, columns)

    with pytest.raises(RuntimeError, match="must not compress, factor, solve or multiply"):
        compress(CallableKernel(nested), X, tree, STRATEGIES[outer])
    assert_allclose(other @ np.ones(400), other.to_dense().sum(axis=1))


def test_a_kernel_with_nan_is_reported(rng):
    X = rng.standard_normal((100, 3))
    kernel = CallableKernel(lambda X, Y: np.full((len(X), len(Y)), np.nan))
    with pytest.raises(ValueError, match="not finite real numbers"):
        compress(kernel, X, ClusterTree.build(X, 50))
    with pytest.raises(ValueError, match="not finite real numbers"):
        factor(compress(kernel, X), 1.0)  # of one leaf: its values are not needed before


def test_errors_in_a_callable_reach_the_user(rng):
    def broken(X, Y):
        raise ZeroDivisionError("from the user's kernel")

    X = rng.standard_normal((400, 3))
    with pytest.raises(ZeroDivisionError, match="from the user's kernel"):
        compress(CallableKernel(broken), X, ClusterTree.build(X, 50))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_can_be_interrupted(rng):
    def interrupt(signum, frame):
        raise KeyboardInterrupt

    X = rng.standard_normal((20_000, 10))
    tree = ClusterTree.build(X, 512)
    start = time.perf_counter()
    compress(Gaussian(0.1), X, tree, max_rank=200, random_state=0)
    whole = time.perf_counter() - start
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            start = time.perf_counter()
            compress(Gaussian(0.1), X, tree, max_rank=200, random_state=0)
        # The leaves alone are a tenth of the work.
        assert time.perf_counter() - start < 0.1 + whole / 15
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_seed_gives_one_matrix_on_any_number_of_threads(dtype, rng):
    X = rng.standard_normal((3000, 5)).astype(dtype)
    tree = ClusterTree.build(X, 64)
    matrices = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads):
            matrices.append(compress(Gaussian(0.1), X, tree, max_rank=30, random_state=5))
    for H in matrices[1:]:
        for level, first in zip(H.levels, matrices[0].levels, strict=True):
            assert_array_equal(level.skeleton, first.skeleton)
            assert_array_equal(level.basis, first.basis)
            assert_array_equal(level.coupling, first.coupling)
    other = compress(Gaussian(0.1), X, tree, max_rank=30, random_state=6)
    assert not np.array_equal(other.levels[1].skeleton, matrices[0].levels[1].skeleton)


def test_pickles_and_describes_itself(rng):
    X = rng.standard_normal((1000, 3))
    H = compress(Gaussian(0.2), X, random_state=rng)
    copy = pickle.loads(pickle.dumps(H))
    assert_array_equal(copy.to_dense(), H.to_dense())
    assert "HSSMatrix(n=1000, Gaussian(gamma=0.2), float64" in repr(H)
    text = H.summary()
    assert "1,000 x 1,000" in text
    assert str(min(H.ranks[1])) in text.splitlines()[-1]
    assert "dense" in text


def test_error_estimates(rng):
    X = rng.standard_normal((1500, 4))
    kernel = Gaussian(0.3)
    H = compress(kernel, X, ClusterTree.build(X, 64), max_rank=15, random_state=rng)
    K, dense = kernel.block(X), H.to_dense()
    # All rows: only the 16 random columns are left to chance.
    assert_allclose(
        estimate_error(H, n_rows=1500, random_state=rng), relative_error(dense, K), rtol=0.3
    )
    B = rng.standard_normal((1500, 3))
    expected = np.linalg.norm((K - dense) @ B, axis=0) / np.linalg.norm(K @ B, axis=0)
    assert_allclose(estimate_product_error(H, B, n_rows=1500), expected, rtol=1e-8)
    assert_allclose(estimate_product_error(H, B, random_state=rng), expected, rtol=0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_rank": 0}, "max_rank must be at least 1"),
        ({"oversampling": -0.1}, "oversampling must be at least 0"),
        ({"rtol": -1.0}, r"rtol must be in \[0, 1\)"),
        ({"tree": ClusterTree.build(np.ones((3, 1)))}, "the tree has 3 points, but X has 10 rows"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        compress(Gaussian(1.0), np.ones((10, 1)), **arguments)


@pytest.mark.parametrize(
    ("name", "scale", "h", "bound"),
    [("ijcnn1", None, 0.5, 0.015), ("cod-rna", "standard", 1.0, 0.06), ("a9a", None, 3.0, 0.02)],
)
def test_accuracy_on_real_data(name, scale, h, bound, data):
    X, *_ = data(name, scale=scale)
    X = X.astype(np.float64)
    H = compress(Gaussian(1 / (2 * h * h)), X, max_rank=100)
    assert estimate_error(H, n_rows=1000) <= bound


def test_form_error_is_unbiased(rng):
    X = rng.standard_normal((500, 3))
    H = compress(Gaussian(1.0), X, ClusterTree.build(X, 50), max_rank=5)
    Z = rng.standard_normal((500, 2)) * (rng.random((500, 1)) < 0.3)
    F = H @ Z
    exact = np.einsum("ij,ij->j", Z, Gaussian(1.0).block(X) @ Z - F)
    estimates = [
        estimate_quadratic_form_error(H, Z, F, n_rows=200, random_state=rng) for _ in range(100)
    ]
    spread = np.std(estimates, axis=0) / 10
    assert np.all(np.abs(np.mean(estimates, axis=0) - exact) <= 6 * spread)
    assert np.all(estimate_quadratic_form_error(H, 0 * Z, 0 * F) == 0)


@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e-10, 1.0, 1e10, 1e20, 1e60])
@pytest.mark.parametrize(
    "kernel",
    [lambda scale: Gaussian(0.1 / scale**2), lambda scale: Linear()],
    ids=["rbf", "linear"],
)
def test_rows_beyond_the_range_of_float32(kernel, scale, rng):
    X = rng.standard_normal((600, 2)) * scale
    H = compress(kernel(scale), X, ClusterTree.build(X, 50), rtol=1e-3, max_rank=40)
    K = kernel(scale).block(X)
    assert relative_error(H.to_dense() / K.max(), K / K.max()) < 1e-2


def test_a_callable_beyond_the_range_of_float32(rng):
    X = rng.standard_normal((600, 2)) * 1e60
    kernel = CallableKernel(lambda X, Y: np.exp(-1e-121 * cdist(X, Y, "sqeuclidean")))
    H = compress(kernel, X, ClusterTree.build(X, 50), rtol=1e-3, max_rank=40)
    assert relative_error(H.to_dense(), kernel.block(X)) < 1e-2
