"""Sparse rows with up to 2**31 - 1 columns: time and memory depend on the nonzeros alone."""

import sys

import numpy as np
import pytest
import scipy.sparse
from helpers.processes import run_python
from numpy.testing import assert_array_equal

from hssvm import kernels
from hssvm.kernels.wide import MAX_TABLE, occurring_columns

WIDEST = 2**31 - 1

limited = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux limits the memory of a process"
)

KERNELS = [
    kernels.Gaussian(0.3), kernels.Laplacian(0.3), kernels.Exponential(0.3), kernels.Matern52(0.3),
    kernels.Linear(), kernels.Polynomial(0.5, 1.0, 2), kernels.Cosine(), kernels.Tanimoto(),
    kernels.MinMax(), kernels.HistogramIntersection(), kernels.ChiSquared(0.3),
    kernels.Gaussian(0.3) + kernels.Linear(),
]  # fmt: skip


def narrow_and_wide(rng, n, csr=scipy.sparse.csr_array):
    """Two sets of rows with 50 columns, and the same with these columns among 2**31 - 1."""
    columns = np.sort(rng.choice(WIDEST, 50, replace=False)).astype(np.int32)
    columns[-1] = WIDEST - 1
    for _ in range(2):
        X = csr(rng.random((n, 50)) * (rng.random((n, 50)) < 0.2))
        yield X, csr((X.data, columns[X.indices], X.indptr), shape=(n, WIDEST))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("csr", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_columns_that_do_not_occur_do_not_matter(kernel, csr, rng):
    (X, wide_X), (Y, wide_Y) = narrow_and_wide(rng, 60, csr)
    assert_array_equal(kernel.block(wide_X, wide_Y), kernel.block(X, Y))
    assert_array_equal(kernel.block(wide_X), kernel.block(X))
    W = rng.standard_normal((60, 2))
    assert_array_equal(kernel.product(wide_X, wide_Y, W), kernel.product(X, Y, W))


def test_rows_that_are_not_wide_are_left_alone(rng):
    dense = rng.random((3, 4))
    narrow = scipy.sparse.csr_array((3, MAX_TABLE))
    assert occurring_columns(dense, dense)[0] is dense
    assert occurring_columns(narrow)[0] is narrow


def test_rows_without_any_nonzero():
    empty = scipy.sparse.csr_array((3, WIDEST))
    assert_array_equal(kernels.Gaussian(1.0).block(empty), np.ones((3, 3)))


SETUP = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))  # a table of all columns: 8 GB
import numpy as np
import scipy.sparse
import hssvm

rng = np.random.default_rng({seed})
n, p = {n}, 2**31 - 1
columns = np.sort(rng.choice(p, 200, replace=False)).astype(np.int32)
columns[-1] = p - 1
D = rng.standard_normal((n, 200)) * (rng.random((n, 200)) < 0.05)
narrow = scipy.sparse.csr_array(D)
X = scipy.sparse.csr_array((narrow.data, columns[narrow.indices], narrow.indptr), shape=(n, p))
y = D.sum(axis=1) > 0
"""


@limited
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
def test_a_model_of_wide_rows(name, rng, tmp_path):
    code = (
        SETUP.format(n=300, seed=rng.integers(2**31))
        + f"""
model = hssvm.{name}(gamma=0.1, random_state=0).fit(X, y)
model.save({str(tmp_path / "model")!r})
loaded = hssvm.load({str(tmp_path / "model")!r})
same = hssvm.{name}(gamma=0.1, random_state=0).fit(narrow, y)
def values(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)

expected = values(same, narrow)
np.testing.assert_allclose(values(loaded, X), expected, atol=0.02 * np.abs(expected).max())
default = hssvm.{name}(random_state=0).fit(X, y)  # with the gamma of the variance
default.predict(X)
"""
    )
    run_python(code, OMP_NUM_THREADS="2")


@limited
@pytest.mark.parametrize("compressor", ["NestedNystroem", "HSSANN"])
def test_a_compressed_model_of_wide_rows(compressor, rng):
    code = (
        SETUP.format(n=2100, seed=rng.integers(2**31))
        + f"""
compressor = hssvm.hss.{compressor}(max_rank=32)
approximation = hssvm.HSS(n_trees=1, leaf_size=256, compressor=compressor)
model = hssvm.SVC(gamma=0.02, approximation=approximation, memory_limit="1GB", random_state=0)
model.fit(X, y)
assert not model.fit_report_.exact_kernel
assert model.score(X, y) > 0.7
"""
    )
    run_python(code, OMP_NUM_THREADS="2")


@limited
def test_what_needs_a_number_for_every_column_says_so(rng, tmp_path):
    code = (
        SETUP.format(n=300, seed=rng.integers(2**31))
        + f"""
def message(call, *args):
    try:
        call(*args)
    except ValueError as error:
        return str(error)

for scaling in ("standard", "minmax"):
    assert "hash the features" in message(hssvm.SVC(scaling=scaling).fit, X, y)
model = hssvm.SVC().fit(X, y)
assert "hash the features" in message(model.save_numpy, {str(tmp_path / "exported.py")!r})
assert "hash the features" in message(model.explain, X[:1])
assert "hash the features" in message(model.gradient, X[:1])
"""
    )
    run_python(code)
