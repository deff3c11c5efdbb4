"""Few rows per leaf are evaluated one at a time, with the same values."""

import pickle
from unittest import mock

import numpy as np
import pytest
import scipy.sparse
from helpers.predictors import leafwise
from numpy.testing import assert_allclose
from reference import all_kernels, kernel_matrix

from hssvm import HSS, SVC, Cells
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import CallableKernel, Gaussian
from hssvm.kernels.base import CoreKernel
from hssvm.predictors import ExpansionPredictor
from hssvm.predictors.base import ROWS_PER_LEAF

LIMIT = "hssvm.predictors.base.ROWS_PER_LEAF"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 3, 11])
@pytest.mark.parametrize("kernel", [k for k in all_kernels(0.5) if isinstance(k, CoreKernel)])
def test_exact_values(kernel, n_columns, dtype, rng):
    p = int(rng.integers(1, 40))
    X, T = (rng.standard_normal((n, p)).astype(dtype) / p**0.5 for n in (1100, ROWS_PER_LEAF))
    Z = rng.standard_normal((1100, n_columns)).astype(dtype)
    expected = kernel_matrix(kernel, T.astype(float), X.astype(float)) @ Z
    predictor = ExpansionPredictor(kernel, X, Z)
    with mock.patch.object(type(kernel), "grouped_product", side_effect=AssertionError):
        found = predictor(T)
    assert found.dtype == dtype
    error = 1e-4 if dtype == np.float32 else 1e-12
    assert_allclose(found, expected, atol=error * np.abs(expected).max() * 1100**0.5)


@pytest.mark.parametrize("n_rows", [1, 7, 200])
def test_leafwise_values(n_rows, rng):
    X, T = rng.standard_normal((2000, 4)), rng.standard_normal((n_rows, 4))
    H = compress(Gaussian(0.3), X, ClusterTree.build(X, 40), max_rank=10, random_state=rng)
    predictor = leafwise(H, rng.standard_normal((2000, 2)))
    found = predictor(T)
    with mock.patch(LIMIT, 0):
        assert_allclose(found, predictor(T), rtol=1e-9, atol=1e-9)


def test_what_the_core_does_not_accept_is_converted(rng):
    X, T, Z = rng.standard_normal((50, 3)), rng.standard_normal((2, 3)), np.ones((50, 1))
    expected = kernel_matrix(Gaussian(0.5), T, X) @ Z
    unaligned = np.frombuffer(b" " + T.tobytes(), np.uint8)[1:].view(float).reshape(T.shape)
    assert not unaligned.flags.aligned
    for other in (np.asfortranarray(T), unaligned, scipy.sparse.csr_array(T)):
        assert_allclose(ExpansionPredictor(Gaussian(0.5), X, Z)(other), expected)
    sparse = ExpansionPredictor(Gaussian(0.5), scipy.sparse.csr_array(X), Z)
    function = CallableKernel(lambda A, B: np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(-1)))
    for predictor in (sparse, ExpansionPredictor(function, X, Z)):
        assert_allclose(predictor(T), expected)


def test_predictors_can_be_pickled_after_use(rng):
    X = rng.standard_normal((50, 3))
    predictor = ExpansionPredictor(Gaussian(0.5), X, np.ones((50, 1)))
    values = predictor(X[:1])
    assert_allclose(pickle.loads(pickle.dumps(predictor))(X[:1]), values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "parameters", [{"refine": True}, {"approximation": HSS()}, {"approximation": Cells(size=500)}]
)
def test_one_row_at_a_time(parameters, dtype, rng):
    X = rng.standard_normal((3000, 5)).astype(dtype)
    y = np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.5])
    model = SVC(scaling="standard", random_state=0, **parameters).fit(X[:2500], y[:2500])
    with mock.patch(LIMIT, 0):
        expected = model.decision_function(X[2500:])
    error = 1e-4 if dtype == np.float32 else 1e-9
    for i in range(2500, 2520):
        assert_allclose(model.decision_function(X[i : i + 1])[0], expected[i - 2500], atol=error)


def test_one_row_is_checked(rng):
    X = rng.standard_normal((300, 3))
    model = SVC(random_state=0).fit(X, X[:, 0] > 0)
    for bad, message in (
        (np.array([[0.0, np.nan, 0.0]]), "NaN"),
        (np.array([[0.0, np.inf, 0.0]]), "infinity"),
        (np.zeros((1, 2)), "2 features"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros(3), "2D array"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(bad)
