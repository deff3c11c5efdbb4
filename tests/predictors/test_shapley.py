"""Shapley values of predictors, by their definition."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import shapley_values as by_enumeration

from hssvm import _core
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import (
    Categorical,
    ChiSquared,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
)
from hssvm.predictors import (
    ExpansionPredictor,
    LeafExpansions,
    LeafwisePredictor,
    PairwisePredictor,
)
from hssvm.predictors import nodes as nodes_module
from hssvm.predictors import shapley as module
from hssvm.predictors.shapley import Background, shapley_values

KERNELS = {
    "gaussian": Gaussian(0.4),
    "narrow": Gaussian(30.0),
    "laplacian": Laplacian(0.7),
    "categorical": Categorical(0.5),
    "chi-squared": ChiSquared(0.8),
    "linear": Linear(),
    "intersection": HistogramIntersection(),
    "groups": Gaussian(0.5)[:3] * Laplacian(0.3)[2:],
    "some columns": Gaussian(0.5)[[3, 0]],
    "repeated column": Gaussian(0.5)[[1, 1, 2]],
    "sum": 0.5 * Gaussian(0.2) + Laplacian(1.0)[1:] + 2.0 * Linear()[:2],
    "sum of products": (Gaussian(0.2)[:2] + 1.0) * (Laplacian(0.5)[2:] + Gaussian(0.1)),
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))


def rows(rng, n, p):
    """Nonnegative rows, of which many entries are equal, or 0."""
    X = np.round(2 * rng.random((n, p)), 1)
    return X * (rng.random((n, p)) < 0.7)


def expansion(rng, kernel, n=40, p=5, k=2):
    return ExpansionPredictor(kernel, rows(rng, n, p), rng.standard_normal((n, k)))


def background(rng, n, p):
    weight = rng.random(n) + 0.1
    return Background(rows(rng, n, p), weight / weight.sum())


def values_by_enumeration(function, X, others):
    return np.stack([by_enumeration(function, x, *others).T for x in X])


def check(predictor, X, others, atol=1e-12):
    values, base = shapley_values(predictor, X, others)
    assert_allclose(values, values_by_enumeration(predictor, X, others), rtol=0, atol=atol)
    assert_allclose(base[0], others.weight @ predictor(others.X), rtol=0, atol=atol)
    assert_allclose(values.sum(axis=2) + base, predictor(X), rtol=0, atol=atol)
    return values


@kernels
def test_values_are_those_of_all_sets_of_features(kernel, rng):
    predictor = expansion(rng, kernel)
    check(predictor, rows(rng, 6, 5), background(rng, 4, 5))


@settings(max_examples=30)
@given(
    p=st.integers(1, 10),
    n=st.integers(1, 30),
    n_background=st.integers(1, 3),
    gamma=st.floats(1e-6, 1e4),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    absolute=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_values_of_random_problems(p, n, n_background, gamma, scale, absolute, seed):
    rng = np.random.default_rng(seed)
    kernel = Laplacian(gamma) if absolute else Gaussian(gamma)
    S, X, Z = (scale * rng.standard_normal((m, p)) for m in (n, 2, n_background))
    X[0] = np.where(rng.random(p) < 0.5, X[0], Z[0])
    predictor = ExpansionPredictor(kernel, S, rng.standard_normal((n, 1)))
    weight = np.full(n_background, 1 / n_background)
    # the kernel values of `predictor` are those of squared distances, which cancel
    check(predictor, X, Background(Z, weight), atol=1e-10)


def test_equal_features_add_nothing_and_a_background_row_itself_has_no_values(rng):
    predictor, others = expansion(rng, Gaussian(0.4)), background(rng, 1, 5)
    x = others.X.copy()
    values, base = shapley_values(predictor, x, others)
    assert_array_equal(values, 0)
    assert_allclose(base, predictor(x))
    x[0, 2] += 1
    values, base = shapley_values(predictor, x, others)
    assert_array_equal(values[0, :, [0, 1, 3, 4]], 0)
    assert_allclose(values[0, :, 2], (predictor(x) - base)[0])


@pytest.mark.parametrize("gamma", [0.003, 0.03, 0.1, 20.0])
def test_few_nodes_are_as_accurate_as_the_bound_promises(gamma, rng, monkeypatch):
    """With 60 features, 30 nodes are exact."""
    S, X, Z = (rng.standard_normal((m, 60)) for m in (100, 4, 3))
    W, weight = rng.standard_normal((100, 1)), np.full(3, 1 / 3)
    t, w = np.polynomial.legendre.leggauss(30)
    expected = np.zeros((4, 60))
    for z in Z:
        for i, x in enumerate(X):
            a, b = np.exp(-gamma * (x - S) ** 2), np.exp(-gamma * (z - S) ** 2)
            for node, share in zip((t + 1) / 2, w / 2, strict=True):
                mixed = node * a + (1 - node) * b
                with np.errstate(all="ignore"):
                    terms = (a - b) / mixed * (W * mixed.prod(1, keepdims=True))
                expected[i] += share / 3 * np.nan_to_num(terms).sum(0)
    predictor = ExpansionPredictor(Gaussian(gamma), S, W)
    for tolerance in (1e-13, 1e-6):
        monkeypatch.setattr(nodes_module, "TOLERANCE", tolerance)
        values, _ = shapley_values(predictor, X, Background(Z, weight))
        error = np.abs(values[:, 0] - expected).max()
        assert error <= tolerance * np.abs(W).sum()
    if gamma < 20:  # else all values are negligible
        assert error > 1e-14  # so there were fewer nodes


def test_rules_of_many_features_end_with_one_that_is_always_accurate_enough():
    for p in (1, 2, 9, 60, 3000):
        radii = np.array(
            [
                min(most, nodes_module._best_radius(share * p))
                for share, most in nodes_module.ELLIPSES
            ]
        )
        sizes = nodes_module._sizes(p, radii)
        assert sizes == sorted(set(sizes))
        exact = (p + 1) // 2
        enough = nodes_module._nodes_needed(radii, p).min()
        assert sizes[-1] == exact if enough >= exact else enough <= sizes[-1] <= exact
    assert sizes[-1] < 300  # not 1500


def test_factors_that_underflow_do_no_harm(rng):
    S, x, z = np.zeros((9, 3)), np.array([[100.0, 0.5, 0.2]]), np.array([[100.0, 0.1, 300.0]])
    predictor = ExpansionPredictor(Gaussian(1.0), S, np.ones((9, 1)))
    values, base = shapley_values(predictor, x, Background(z, np.ones(1)))
    assert_array_equal(values, 0)
    assert_array_equal(base, 0)
    z[0, 0] = 0.0  # from a support vector to nowhere, or from nowhere
    values, _ = shapley_values(predictor, np.array([[0.0, 0.5, 0.2]]), Background(z, np.ones(1)))
    check(predictor, np.array([[0.0, 0.5, 0.2]]), Background(z, np.ones(1)))
    assert values[0, 0, 2] > 6


@kernels
def test_sparse_rows_have_the_same_values(kernel, rng, monkeypatch):
    if isinstance(kernel, Categorical):
        pytest.skip("needs dense rows")
    monkeypatch.setattr(module, "SPARSE_ROWS", 2)
    monkeypatch.setattr(module, "SPARSE_VALUES", 50)
    predictor, others = expansion(rng, kernel), background(rng, 2, 5)
    X = rows(rng, 5, 5)
    X[:, 3] = others.X[:, 3] = 0  # a column that only the support vectors have
    expected = shapley_values(predictor, X, others)
    sparse = ExpansionPredictor(kernel, scipy.sparse.csr_array(predictor.X), predictor.Z)
    for given_X in (X, scipy.sparse.csr_array(X)):
        found = shapley_values(sparse, given_X, others)
        assert_allclose(found.values, expected.values, rtol=0, atol=1e-13)
        assert_allclose(found.base, expected.base, rtol=0, atol=1e-13)


def test_pairs_of_classes(rng):
    S, counts = rows(rng, 30, 4), np.array([9, 0, 14, 7])  # no support vectors of class 1
    predictor = PairwisePredictor(Laplacian(0.5), S, rng.standard_normal((30, 3)), counts)
    values = check(predictor, rows(rng, 3, 4), background(rng, 3, 4))
    assert values.shape == (3, 6, 4)


def leaf_function(predictor, x):
    """The function that predicts x, at any points."""

    def function(points):
        total = 0
        for tree in predictor.trees:
            leaf = int(tree.tree.route(x[None])[0])
            own = slice(tree.ends[leaf], tree.ends[leaf + 1])
            here = ExpansionPredictor(
                predictor.kernel, predictor.X[tree.rows[own]], tree.weights[own]
            )(points)
            here = here if tree.constants is None else here + tree.constants[leaf]
            total = total + here
        return total / len(predictor.trees)

    return function


def forest(rng, X, clip=np.inf, cells=False):
    trees = []
    for seed in range(3):
        tree = ClusterTree.build(X, 30, random_state=seed)
        Z = rng.standard_normal((len(X), 2))
        if cells:
            trees.append(LeafExpansions.of_cells(tree, Z, rng.standard_normal((tree.n_leaves, 2))))
        else:
            H = compress(Gaussian(0.4), X, tree, max_rank=8)
            trees.append(LeafExpansions.of(H, Z, np.zeros(2)))
    return LeafwisePredictor.of(Gaussian(0.4), X, trees, clip)


@pytest.mark.parametrize("cells", [False, True], ids=["compressed", "cells"])
@pytest.mark.parametrize("csr", [False, True], ids=["dense", "sparse"])
def test_forests_are_explained_by_the_leaves_that_predict(cells, csr, rng):
    X = rng.standard_normal((200, 4))
    predictor, others = forest(rng, X, cells=cells), background(rng, 3, 4)
    T = rng.standard_normal((12, 4))
    expected = [(leaf_function(predictor, x), x) for x in T]
    if csr:
        predictor.X = scipy.sparse.csr_array(predictor.X)
    values, base = shapley_values(predictor, T, others)
    scale = max(np.abs(tree.weights).sum(axis=0).max() for tree in predictor.trees)
    for i, (function, x) in enumerate(expected):
        phi = by_enumeration(function, x, *others).T
        assert_allclose(values[i], phi, rtol=0, atol=1e-13 * scale)
        assert_allclose(base[i], others.weight @ function(others.X), atol=1e-12 * scale)
    assert_allclose(values.sum(axis=2) + base, predictor(T), atol=1e-12 * scale)


def test_values_of_clipped_trees_still_sum_to_the_prediction(rng):
    X, T = rng.standard_normal((200, 4)), rng.standard_normal((40, 4))
    predictor, others = forest(rng, X, clip=0.5, cells=True), background(rng, 3, 4)
    free = forest(rng, X, cells=True)
    free.trees = predictor.trees
    assert np.abs(free(T) - predictor(T)).max() > 0.1
    values, base = shapley_values(predictor, T, others)
    assert_allclose(values.sum(axis=2) + base, predictor(T), atol=1e-12)
    # a tree that does not clip is not touched
    one = LeafwisePredictor.of(predictor.kernel, predictor.X, predictor.trees[:1], clip=1e9)
    two = LeafwisePredictor.of(predictor.kernel, predictor.X, predictor.trees[:1])
    for a, b in zip(shapley_values(one, T, others), shapley_values(two, T, others), strict=True):
        assert_array_equal(a, b)


def test_results_do_not_depend_on_the_threads_or_the_other_rows(rng):
    predictor, others = expansion(rng, Gaussian(0.4), n=300), background(rng, 3, 5)
    X = rows(rng, 50, 5)
    _core.set_max_threads(1)
    alone = shapley_values(predictor, X, others).values
    _core.set_max_threads(0)
    assert_array_equal(shapley_values(predictor, X, others).values, alone)
    assert_allclose(shapley_values(predictor, X[7:8], others).values[0], alone[7], atol=1e-14)


def test_float32_models_are_evaluated_in_float64(rng):
    S, X, Z = (rows(rng, n, 4).astype(np.float32) for n in (30, 3, 2))
    W = rng.standard_normal((30, 1)).astype(np.float32)
    others = Background(Z, np.array([0.25, 0.75]))
    values, base = shapley_values(ExpansionPredictor(Gaussian(0.3), S, W), X, others)
    wide = ExpansionPredictor(Gaussian(0.3), S.astype(float), W.astype(float))
    expected = shapley_values(wide, X.astype(float), others._replace(X=Z.astype(float)))
    assert_array_equal(values, expected.values)
    assert_array_equal(base, expected.base)


def test_many_support_vectors_pass_in_blocks(rng):
    """Those of a block have 2**21 background factors."""
    S, W = rng.standard_normal((4000, 30)), rng.standard_normal((4000, 1))
    predictor = ExpansionPredictor(Gaussian(0.02), S, W)
    others = Background(rng.standard_normal((40, 30)), np.full(40, 1 / 40))
    X = rng.standard_normal((2, 30))
    assert 4000 * 40 * 30 > 2 * 2**21
    values, base = shapley_values(predictor, X, others)
    assert_allclose(values.sum(axis=2) + base, predictor(X), atol=1e-10)
    parts = [
        shapley_values(ExpansionPredictor(Gaussian(0.02), S[i::2], W[i::2]), X, others).values
        for i in range(2)
    ]
    assert_allclose(values, sum(parts), atol=1e-11)


def test_the_core_checks_shapes(rng):
    rules = nodes_module.rules_for(2)
    one = np.ones((1, 2))
    terms = np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2)
    weights = np.ones((1, 1)), one, one, np.ones(1)
    out = np.empty((1, 1, 2)), np.empty(1)
    _core.shapley_values(rules, *terms, one, *weights, *out)
    with pytest.raises(ValueError, match="shapes do not match"):
        _core.shapley_values(rules, *terms, np.ones((2, 2)), *weights, *out)
    with pytest.raises(ValueError, match="unknown kind"):
        kinds = np.array([0, 4], np.int32)
        _core.shapley_values(rules, terms[0], kinds, terms[2], one, *weights, *out)
