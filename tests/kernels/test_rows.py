import time

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from reference import all_kernels, kernel_matrix

from hssvm.kernels import Gaussian
from hssvm.kernels.rows import KernelRows


@pytest.mark.parametrize("kernel", all_kernels(0.5))
@pytest.mark.parametrize("sparse", [False, True])
def test_pieces_of_the_kernel_matrix(kernel, sparse, rng):
    X = rng.standard_normal((60, 3))
    if sparse and type(kernel).__name__ == "CallableKernel":
        pytest.skip("the function takes dense rows")
    K = kernel_matrix(kernel, X)
    rows = KernelRows(kernel, scipy.sparse.csr_array(X) if sparse else X)
    A, B = rng.choice(60, 20, replace=False), rng.choice(60, 7, replace=False)
    W = rng.standard_normal((7, 2))
    assert_allclose(rows.block(A, B), K[np.ix_(A, B)], atol=1e-9)
    assert_allclose(rows.product(A, B, W), K[np.ix_(A, B)] @ W, atol=1e-9)
    nothing = np.empty(0, np.int64)
    assert_allclose(rows.product(A, nothing, W[:0]), np.zeros((20, 2)))
    assert rows.product(nothing, B, W).shape == (0, 2)


def test_forecast_of_a_pass_is_of_the_right_size(rng):
    X = rng.standard_normal((4000, 20))
    rows, everything = KernelRows(Gaussian(0.1), X), np.arange(4000)
    forecast = rows.seconds_per_pass()
    start = time.perf_counter()
    rows.product(everything, everything, np.ones((4000, 1)))
    seconds = time.perf_counter() - start
    assert 0.02 < forecast / seconds < 50  # any machine, however busy
