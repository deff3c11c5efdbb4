"""Learned scales beside their definition."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from reference import kernel_matrix

from hssvm.kernels import Exponential, Gaussian, Laplacian, Matern32, Matern52
from hssvm.solvers import Status
from hssvm.training import Monitor
from hssvm.training.data.widths import median_gamma
from hssvm.training.scales.learn import (
    FLOOR,
    HALF_ROWS,
    MAX_STEPS,
    learn_scales,
    max_sample_rows,
    sample_rows,
)
from hssvm.training.scales.ridge import MAX_COLUMNS, RIDGE, Block, combined, take_step
from hssvm.training.scales.selection import HeldOut
from hssvm.training.tasks import Targets, class_targets, value_targets

KERNELS = [Gaussian, Exponential, Laplacian, Matern32, Matern52]


def friedman(rng, n, p):
    """Friedman's function of the first five features, standardized."""
    X = rng.uniform(size=(n, p))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def by_definition(X, Y, weight, new, kernel):
    """Squared gradients by central differences, and predictions, with the kernel by its formula."""
    A = kernel_matrix(kernel, X) + np.diag(RIDGE / weight)
    W = np.linalg.solve(A, Y)
    squares, h = np.zeros(X.shape[1]), 1e-6
    for i, j in np.ndindex(X.shape):
        # Without row i itself: it adds 0, and some kernels have a kink there.
        others = np.delete(np.arange(X.shape[0]), i)
        ends = np.repeat(X[i : i + 1], 2, axis=0)
        ends[:, j] += [h, -h]
        high, low = kernel_matrix(kernel, ends, X[others]) @ W[others]
        squares[j] += weight[i] * (((high - low) / (2 * h)) ** 2).sum()
    return squares / weight.sum(), kernel_matrix(kernel, new, X) @ W


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_step_is_that_of_the_definition(kind, sparse, rng):
    X, new = rng.standard_normal((25, 3)), rng.standard_normal((4, 3))
    X[rng.random(X.shape) < 0.3] = 0
    Y, weight, kernel = rng.standard_normal((25, 2)), rng.uniform(0.5, 12, 25), kind(0.4)
    rows = scipy.sparse.csr_array(X) if sparse else X
    step = take_step(Block(rows, Y, weight), new, kernel, 0)
    squares, values = by_definition(X, Y, weight, new, kernel)
    assert_allclose(step.squares, squares, rtol=1e-5)
    assert_allclose(step.values, values, atol=1e-8)


@pytest.mark.parametrize("kind", KERNELS)
def test_a_weight_repeats_a_row(kind, rng):
    X, Y, new = rng.standard_normal((60, 4)), rng.standard_normal((60, 1)), np.zeros((1, 4))
    count = rng.integers(1, 5, 60)
    weighted = take_step(Block(X, Y, count.astype(float)), new, kind(0.3), 0)
    repeated = np.repeat(X, count, axis=0), np.repeat(Y, count, axis=0), np.ones(count.sum())
    expected = take_step(Block(*repeated), new, kind(0.3), 0)
    assert_allclose(weighted.squares, expected.squares, rtol=1e-2)
    assert_allclose(weighted.values, expected.values, atol=1e-3)
    assert median_gamma(kind, X, count) == pytest.approx(
        median_gamma(kind, repeated[0], repeated[2])
    )


def test_many_columns_have_the_same_expected_squares(rng):
    W = rng.standard_normal((5, 3 * MAX_COLUMNS))
    found = [(combined(W, seed) ** 2).sum(axis=1) for seed in range(400)]
    assert_allclose(np.mean(found, axis=0), (W**2).sum(axis=1), rtol=0.1)
    assert np.array_equal(combined(W[:, :2], 0), W[:, :2])


@pytest.mark.parametrize("p", [10, 30])
@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Matern32])
def test_relevant_features_are_found(kind, p, rng):
    X, y = friedman(rng, 1200, p)
    scales = learn_scales(X, value_targets(y), np.ones(1200), kind)
    assert scales.n_steps > 0
    assert scales.factors[:5].min() > 2 * scales.factors[5:].max()
    most = 0.9 if kind is Laplacian else 0.7  # it sees single features without scales, too
    assert scales.errors[scales.n_steps] < most * scales.errors[0]
    power = 1 if kind is Laplacian else 2
    assert_allclose(np.mean(scales.factors**power), 1)


def test_classes_have_the_same_relevant_features(rng):
    X = rng.standard_normal((1200, 12))
    codes = (X[:, 0] * X[:, 1] > 0) + (np.abs(X[:, 2]) > 0.7).astype(int)
    scales = learn_scales(X, class_targets(codes, 3), np.ones(1200), Gaussian)
    assert scales.factors[:3].min() > 3 * scales.factors[3:].max()


def test_two_classes_are_one_column():
    codes = np.array([0, 1, 1])
    assert_allclose(class_targets(codes, 2).Y, [[0], [1], [1]])
    assert_allclose(class_targets(codes, 3).Y, [[1, 0, 0], [0, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize("kind", KERNELS)
def test_noise_keeps_the_features_standardized(kind, rng):
    X, noise = rng.standard_normal((600, 8)), rng.standard_normal(600)
    kept = 0
    for targets in (value_targets(noise), class_targets((noise > 0).astype(int), 2)):
        scales = learn_scales(X, targets, np.ones(600), kind)
        kept += scales.n_steps
        assert scales.n_steps or (scales.factors == 1).all()
    assert kept == 0


def test_sparse_rows_learn_what_dense_ones_do(rng):
    X, y = friedman(rng, 400, 6)
    X[rng.random(X.shape) < 0.5] = 0
    dense, sparse = (
        learn_scales(rows, value_targets(y), np.ones(400), Gaussian)
        for rows in (X, scipy.sparse.csr_array(X))
    )
    assert dense.n_steps == sparse.n_steps
    assert_allclose(dense.factors, sparse.factors, rtol=1e-3)


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scales_do_not_depend_on_the_number_of_threads(n_workers, dtype, rng):
    X, y = friedman(rng, 300, 6)
    X, ones = X.astype(dtype), np.ones(300)
    first = learn_scales(X, value_targets(y), ones, Gaussian)
    second = learn_scales(X, value_targets(y), ones, Gaussian, n_workers=n_workers)
    assert np.array_equal(first.factors, second.factors)


def test_odd_rows(rng):
    X, y = friedman(rng, 200, 5)
    ones, targets = np.ones(200), value_targets(y)
    constant = np.column_stack([X, np.zeros(200)])
    scales = learn_scales(constant, targets, ones, Gaussian).factors
    assert scales[5] == pytest.approx(FLOOR * scales.max(), rel=0.5) or (scales == 1).all()
    assert_allclose(learn_scales(X[:, :1], targets, ones, Gaussian).factors, 1)
    for kind in KERNELS:
        equal = learn_scales(np.repeat(X[:20], 10, axis=0), targets, ones, kind)
        assert np.isfinite(equal.factors).all()
        assert_allclose(learn_scales(np.zeros((200, 3)), targets, ones, kind).factors, 1)
        assert_allclose(learn_scales(X, value_targets(ones), ones, kind).factors, 1)


def test_too_few_rows(rng):
    X, y = friedman(rng, 49, 5)
    scales = learn_scales(X, value_targets(y), np.ones(49), Gaussian)
    assert (scales.n_rows, scales.n_steps, scales.errors) == (49, 0, [])
    assert_allclose(scales.factors, 1)


def test_the_sample_has_rows_of_positive_weight_only(rng):
    weight = (rng.random(30_000) < 0.4).astype(float)
    n = max_sample_rows(30_000)
    rows = sample_rows(weight, 0, n)
    assert rows.size == np.unique(rows).size == n == 2 * HALF_ROWS
    assert weight[rows].all()
    assert np.array_equal(rows, sample_rows(weight, 0, n))
    assert not np.array_equal(rows, sample_rows(weight, 1, n))
    assert max_sample_rows(10**8) == max_sample_rows(100_000) > n


class StopAfter(Monitor):
    """Stops after some checks."""

    def __init__(self, n_checks):
        self.left = n_checks

    def stop(self):
        self.left -= 1
        return Status.STOPPED if self.left < 0 else None


def test_a_stop_keeps_the_steps_so_far(rng):
    X, y = friedman(rng, 600, 8)
    whole = learn_scales(X, value_targets(y), np.ones(600), Gaussian)
    assert 3 <= len(whole.errors) <= MAX_STEPS + 1
    part = learn_scales(X, value_targets(y), np.ones(600), Gaussian, monitor=StopAfter(1))
    assert part.errors == whole.errors[:2]
    assert part.n_steps == 1


@pytest.mark.parametrize("n_mistakes", [40, 90])
def test_scales_are_kept_only_beyond_chance(n_mistakes, rng):
    """100 mistakes of 2,000 before: 60 fewer are beyond chance; 10 fewer may be luck."""
    codes = np.tile([0, 1], 1000)
    held_out = HeldOut(class_targets(codes, 2), np.ones(2000))
    for wrong in (rng.permutation(2000)[:100], rng.permutation(2000)[:n_mistakes]):
        values = np.where(codes, 0.8, 0.2)
        values[wrong] = 1 - values[wrong]
        held_out.add(values[:, None])
    assert held_out.best(beyond_chance=True) == (1 if n_mistakes == 40 else 0)
    assert held_out.best(beyond_chance=False) == 1


def test_mistakes_outweigh_the_squared_error():
    codes = np.tile([0, 1], 1000)
    held_out = HeldOut(Targets(codes[:, None].astype(float), classes=True), np.ones(2000))
    held_out.add(np.where(codes, 0.6, 0.4)[:, None])  # no mistake, but far from 0 and 1
    values = codes.astype(float)
    values[:100] = 1 - values[:100]
    held_out.add(values[:, None])
    assert held_out.errors[1] < held_out.errors[0]
    assert held_out.best(beyond_chance=True) == 0
