"""Everything that the core computes in parallel, bit for bit the same on any number of threads."""

import numpy as np
import pytest
import scipy.sparse
from helpers.predictors import leafwise
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from hssvm import HSS, SVC, SVR, Cells, OneClassSVM, _core, io
from hssvm._threads import openmp_threads
from hssvm.hss import HSSANN, ClusterTree, compress, factor
from hssvm.kernels import CallableKernel, Exponential, Gaussian
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.predictors import ExpansionPredictor
from hssvm.problems import OneClassProblem, SVCProblem, SVRProblem

N = 3000
SHIFT = 0.5


@pytest.fixture(params=["float32", "float64", "sparse"])
def rows(request, rng):
    """Rows, and three columns of numbers."""
    dtype = np.float64 if request.param == "sparse" else np.dtype(request.param)
    X = rng.standard_normal((N, 5)).astype(dtype)
    if request.param == "sparse":
        X = scipy.sparse.csr_array(X * (rng.random(X.shape) < 0.5))
    return X, rng.standard_normal((N, 3)).astype(dtype)


def kernel_blocks(X, B):
    half = np.arange(N // 2)
    pieces = LazyKernelMatrix(Exponential(0.3), X)
    yield Gaussian(0.3).block(X, X[:700])
    yield pieces.block(half, half[:300])
    yield pieces.product(half, np.arange(N), B)


def tree_and_matrix(X, B):
    tree = ClusterTree.build(X, 64, random_state=7)
    yield from (tree.perm, tree.directions, tree.thresholds, tree.route(X))
    for compressor in (None, HSSANN(rtol=1e-2, max_rank=30, n_neighbors=20)):
        H = compress(Gaussian(0.1), X, tree, compressor, random_state=5)
        for level in H.levels:
            yield from (level.skeleton, level.basis, level.coupling)


def products_and_solves(X, B):
    H = compress(Gaussian(0.1), X, ClusterTree.build(X, 64), max_rank=30, random_state=5)
    F = factor(H, np.linspace(SHIFT, 2 * SHIFT, N).astype(H.dtype))
    for right in (B, B[:, 0]):
        yield H @ right
        yield F.solve(right)
        yield F @ right


def predictions(X, B):
    H = compress(Gaussian(0.1), X, ClusterTree.build(X, 64), max_rank=30, random_state=5)
    yield leafwise(H, B)(X)
    yield ExpansionPredictor(Gaussian(0.1), X, B)(X)


def proxes(X, B):
    cost, beta = np.abs(B), np.full(N, SHIFT, B.dtype)
    nu = np.array([0.1, 0.3, 0.7])
    for problem in (
        SVCProblem(B),
        SVRProblem(B, cost, np.array([0.0, 0.1, 1.0])),
        OneClassProblem(cost, nu),
    ):
        Z, sums = problem.prox(2 * B, beta, nu)
        yield from (Z, sums.z, sums.abs_z, sums.slope)
        values = problem.evaluate(Z, B)
        yield from (values.primal, values.dual, values.intercept)


def fits(X, B):
    y = np.sin(X @ np.ones(5))
    classes = np.digitize(y, [-0.5, 0.5])
    for model, target in (
        (SVC(approximation=HSS()), y > 0),
        (SVC(refine=True, approximation=HSS(max_rank=8)), classes),
        (SVR(refine=True, approximation=HSS(max_rank=8)), y),
        (OneClassSVM(nu=0.1, refine=False), None),
        (SVC(approximation=HSS(n_trees=2, leaf_size=128, max_rank=16)), classes),
        (SVR(approximation=HSS(n_trees=2, leaf_size=128, max_rank=16)), y),
        (SVC(approximation=Cells(size=500)), classes),
        (SVR(approximation=Cells(size=500)), y),
    ):
        model.set_params(tol=1e-2, random_state=0).fit(X, target)
        yield from (model.support_, model.dual_coef_, model.intercept_, model.predict(X))
        yield from (model.fit_report_.spread, model.fit_report_.disagreement)


@pytest.mark.parametrize(
    "work",
    [
        kernel_blocks,
        tree_and_matrix,
        products_and_solves,
        predictions,
        proxes,
        pytest.param(fits, marks=pytest.mark.slow),
    ],
)
def test_the_number_of_threads_changes_nothing(work, rows):
    assert_same_on_any_number_of_threads(lambda: list(work(*rows)))


def test_a_kernel_written_in_python(rng):
    X = rng.standard_normal((500, 3))
    kernel = CallableKernel(lambda X, Y: Gaussian(0.3).block(X, Y))

    def work():
        return [compress(kernel, X, ClusterTree.build(X, 40), random_state=5).to_dense()]

    assert_same_on_any_number_of_threads(work)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_errors_of_threads_reach_the_caller(n_threads, rng):
    def broken(X, Y):
        raise ZeroDivisionError("from the user's kernel")

    X = rng.standard_normal((500, 3))
    tree = ClusterTree.build(X, 40)
    with openmp_threads(n_threads):
        with pytest.raises(ZeroDivisionError, match="from the user's kernel"):
            compress(CallableKernel(broken), X, tree)
        H = compress(Gaussian(0.3), X, tree, random_state=0)
        H.X[:] = np.nan
        with pytest.raises(RuntimeError, match=r"NaN or infinite|not positive definite"):
            factor(H, 1.0)


def test_files_are_read_alike(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("hssvm.io.libsvm._CHUNK", 1 << 16)
    X = scipy.sparse.random_array((N, 40), density=0.2, format="csr", rng=rng)
    dump_svmlight_file(X, rng.standard_normal(N), str(tmp_path / "rows"), zero_based=False)

    def read():
        found, y = io.load_data(tmp_path / "rows")
        return [found.indptr, found.indices, found.data, y]

    assert_same_on_any_number_of_threads(read)


def assert_same_on_any_number_of_threads(work):
    results = []
    for n_threads in (1, 2, 3):
        with openmp_threads(n_threads):
            assert _core.thread_count() == n_threads
            results.append(work())
    for others in results[1:]:
        for found, expected in zip(others, results[0], strict=True):
            assert_array_equal(found, expected)
