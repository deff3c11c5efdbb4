import errno
import pickle
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hssvm.hss import HSSANN, ClusterTree, NestedNystroem, compress, factor
from hssvm.hss.scratch import Scratch
from hssvm.kernels import Gaussian


@pytest.fixture
def everything_in_files(monkeypatch):
    monkeypatch.setattr("hssvm.hss.scratch.SMALL", 0)


@pytest.mark.parametrize("compressor", [NestedNystroem(max_rank=20), HSSANN(max_rank=30)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("everything_in_files")
def test_the_same_numbers_as_in_memory(compressor, dtype, rng):
    X = rng.standard_normal((1500, 3)).astype(dtype)
    tree = ClusterTree.build(X, 50)
    b = rng.standard_normal((1500, 2)).astype(dtype)
    products = []
    for scratch in (None, Scratch()):
        matrix = compress(Gaussian(0.5), X, tree, compressor, scratch=scratch)
        solver = factor(matrix, 50.0)
        products.append((matrix @ b, solver.solve(b), solver @ b))
        copy = pickle.loads(pickle.dumps(solver))
        assert_array_equal(copy.solve(b), products[-1][1])
    for found, expected in zip(*products, strict=True):
        assert_array_equal(found, expected)


@settings(max_examples=30)
@given(
    size=st.integers(0, 2**18),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
def test_arrays_keep_what_is_written(size, dtype, seed):
    values = np.random.default_rng(seed).standard_normal(size).astype(dtype)
    first, second = Scratch().move(values), Scratch().empty(size, dtype)
    second[:] = values[::-1]
    assert_array_equal(first, values)
    assert_array_equal(second, values[::-1])
    assert first.dtype == second.dtype == dtype
    assert first.flags.aligned


@pytest.mark.usefixtures("everything_in_files")
def test_no_files_are_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = Scratch().empty(10**6, np.float64)
    array[:] = 1.0
    assert array.sum() == 10**6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("everything_in_files")
def test_a_full_disk_is_one_error_before_anything_is_written(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(MemoryError, match=r"8e-06 GB of disk space in .*; set .* TMPDIR"):
        Scratch().empty(1000, np.float64)
