"""Kernels as sums of products over the features."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from hssvm.kernels import (
    CallableKernel,
    Categorical,
    ChiSquared,
    Cosine,
    Exponential,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Tanimoto,
)
from hssvm.kernels.factors import AdditiveKernel, Distance, factor_kernels
from hssvm.kernels.mixtures import MIXTURE_ERROR


def distance(kind, x, y):
    match Distance(kind):
        case Distance.SQUARED:
            return (x - y) ** 2
        case Distance.ABSOLUTE:
            return abs(x - y)
        case Distance.MISMATCH:
            return float(x != y)
        case Distance.CHI_SQUARED:
            return (x - y) ** 2 / (x + y) if x + y else 0.0


def value(part, x, y):
    """k(x, y) by the definition in the module."""
    if isinstance(part, AdditiveKernel):
        terms = np.minimum(x, y) if part.minimum else x * y
        return part.scale * terms[part.columns].sum()
    sums = [
        gamma * distance(kind, x[j], y[j])
        for j, kind, gamma in zip(part.features, part.kinds, part.gammas, strict=True)
    ]
    return part.scale * np.exp(-np.sum(sums))


PRODUCTS = [
    Gaussian(0.5),
    Laplacian(0.5),
    Categorical(0.5),
    ChiSquared(0.5),
    Linear(),
    HistogramIntersection(),
    Gaussian(0.5)[1:] * Laplacian(0.2)[[0, 3]] * 3.0,
    Gaussian(0.5)[::-2],
    (Gaussian(0.5)[1:3] * Laplacian(0.1))[[3, 2, 1, 0]],
    0.5 * Gaussian(1.0) + Linear()[1:] * 2.0 + 1.0,
    (Gaussian(1.0) + 0.5) * (Laplacian(1.0)[:2] + Categorical(0.3)[2:] + 2.0),
]


@pytest.mark.parametrize("kernel", PRODUCTS, ids=repr)
def test_the_parts_sum_to_the_kernel(kernel, rng):
    X, Y = (np.round(2 * rng.random((n, 4)), 1) for n in (5, 6))
    parts = factor_kernels(kernel, 4)
    total = [[sum(value(part, x, y) for part in parts) for y in Y] for x in X]
    assert_allclose(kernel.block(X, Y), total, atol=1e-12)
    for part in parts:
        if not isinstance(part, AdditiveKernel):
            assert np.all(np.diff(part.features) >= 0)


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(1.0),
        Cosine(),
        Tanimoto(),
        CallableKernel(lambda X, Y: X @ Y.T),
        Gaussian(1.0) + Cosine(),
        Gaussian(1.0)[:1] * Linear()[1:],
        Polynomial(1.0)[:2],
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match=r"is not a product over the features.* gradient\(X\)"):
        factor_kernels(kernel, 3)


@pytest.mark.parametrize("make", [Exponential, Matern32, Matern52])
def test_mixtures_of_gaussians(make, rng):
    gamma = 10 ** rng.uniform(-3, 3)
    d = np.concatenate([[0.0], 10 ** rng.uniform(-14, 3, 1000)]) / gamma
    expected = make(gamma).block(d[:, None], np.zeros((1, 1)))[:, 0]
    parts = factor_kernels(make(gamma), 1)
    total = sum(part.scale * np.exp(-part.gammas * d**2) for part in parts)
    assert_allclose(total, expected, atol=MIXTURE_ERROR)
    assert len(parts) < 100 and all(part.scale > 0 for part in parts)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(0.3), ChiSquared(0.7)], ids=repr)
def test_distances_from_zero(kernel, rng):
    S = np.round(rng.random((6, 4)), 1) * (rng.random((6, 4)) < 0.5)
    (part,) = factor_kernels(kernel * Gaussian(0.1)[1:], 4)
    found = part.distances_from_zero(scipy.sparse.csr_array(S))
    expected = [
        [
            sum(
                gamma * distance(kind, 0.0, row[j])
                for i, kind, gamma in zip(part.features, part.kinds, part.gammas, strict=True)
                if i == j
            )
            for j in range(4)
        ]
        for row in S
    ]
    assert_allclose(found.toarray(), expected, atol=1e-15)
