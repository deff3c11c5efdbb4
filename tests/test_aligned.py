"""Objects that travel between processes: their arrays may arrive at any address."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hssvm import HSS, SVC, Cells
from hssvm.hss import compress, factor
from hssvm.kernels import Gaussian


def arrived(sent):
    """A copy whose arrays lie where no array of numbers should."""
    buffers = []
    message = pickle.dumps(sent, protocol=5, buffer_callback=buffers.append)
    moved = []
    for buffer in buffers:
        raw = bytearray(1 + buffer.raw().nbytes)
        raw[1:] = buffer.raw()
        moved.append(memoryview(raw)[1:])
    return pickle.loads(message, buffers=moved)


@pytest.mark.parametrize("approximation", [None, HSS(), Cells(size=500)])
@pytest.mark.parametrize("sparse", [False, True])
def test_models(approximation, sparse, rng):
    X = rng.standard_normal((3000, 3)) * (rng.random((3000, 3)) < 0.8)
    y = X[:, 0] * X[:, 1] > 0
    X = scipy.sparse.csr_array(X) if sparse else X
    model = SVC(approximation=approximation, random_state=0).fit(X, y)
    copy = arrived(model._predictor())
    assert_array_equal(copy(X[:50]), model._predictor()(X[:50]))
    trees = [] if approximation is None else copy.trees
    for part in (copy, *trees, *(tree.tree for tree in trees)):
        arrays = [value for value in vars(part).values() if isinstance(value, np.ndarray)]
        assert arrays and all(array.flags.aligned for array in arrays)


def test_matrices_and_factors(rng):
    X, b = rng.standard_normal((3000, 3)), rng.standard_normal(3000)
    H = compress(Gaussian(0.5), X)
    for sent in (H, factor(H, 1.0)):
        copy = arrived(sent)
        assert_array_equal(copy @ b, sent @ b)
        for level in copy.levels:
            assert all(array.flags.aligned for array in vars(level).values())
    assert_array_equal(copy.solve(b), sent.solve(b))
