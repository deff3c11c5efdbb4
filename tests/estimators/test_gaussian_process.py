"""Gaussian processes: scikit-learn's likelihood and deviations, and what models have."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor as Reference
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import hssvm
from hssvm import HSS, GaussianProcessRegressor
from hssvm.kernels import Exponential, Gaussian, Laplacian, Matern32, Matern52
from hssvm.training.marginal_likelihood import Likelihood, maximize_likelihood

HALF_THE_NOISE = "a row of weight 2 has half the noise; two equal rows also tell how much that is"
REPEATED = {
    f"check_sample_weight_equivalence_on_{kind}_data": HALF_THE_NOISE
    for kind in ("dense", "sparse")
}
KNOWN = {"gamma": 0.5, "noise": 0.1, "scaling": None}


@pytest.mark.filterwarnings("ignore:Rows are repeated:hssvm.exceptions.DataWarning")
@parametrize_with_checks(
    [
        GaussianProcessRegressor(),
        GaussianProcessRegressor(**KNOWN),
        GaussianProcessRegressor(**KNOWN, refine=False),
    ],
    expected_failed_checks=lambda model: {} if model.noise else REPEATED,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def waves(rng, n, noise=0.2):
    X = rng.uniform(-2, 2, (n, 3))
    return X, np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] + noise * rng.standard_normal(n) + 3


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian, Exponential, Matern32, Matern52])
@pytest.mark.parametrize("n_factors", [0, 1, 3])
def test_derivatives_of_the_likelihood(kernel, n_factors, rng):
    X, y = waves(rng, 40)
    likelihood = Likelihood(X, y - 3, rng.uniform(0.5, 2, 40), kernel(0.4))

    def value(theta):
        return likelihood(np.exp(theta[:n_factors]), float(np.exp(theta[n_factors])), 1)

    theta = rng.uniform(-1, 0.5, n_factors + 1)
    numeric = approx_fprime(theta, lambda theta: value(theta)[0], 1e-6)
    assert_allclose(value(theta)[1], numeric, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("kernel", "reference", "length"),
    [
        ("rbf", RBF(), lambda gamma: (2 * gamma) ** -0.5),
        ("matern32", Matern(nu=1.5), lambda g: 1 / g),
    ],
)
def test_same_maximum_as_scikit_learn(kernel, reference, length, rng):
    X, y = waves(rng, 250)
    model = GaussianProcessRegressor(kernel, scaling=None, random_state=0).fit(X, y)
    other = Reference(ConstantKernel() * reference + WhiteKernel(0.1)).fit(X, y - y.mean())
    expected = other.log_marginal_likelihood_value_
    assert model.log_marginal_likelihood() == pytest.approx(expected, abs=0.05)
    found = length(model.kernel_.gamma)
    assert found == pytest.approx(other.kernel_.k1.k2.length_scale, rel=0.02)
    new = rng.uniform(-3, 3, (30, 3))
    mean, std = model.predict(new, return_std=True)
    other_mean, other_std = other.predict(new, return_std=True)
    assert_allclose(mean, other_mean + y.mean(), atol=0.02)
    assert_allclose(std, other_std, rtol=0.03)


def test_given_parameters_by_definition(rng):
    X, y = waves(rng, 200)
    weight = rng.uniform(0.2, 2, 200)
    weight[:20] = 0
    given = {"gamma": 0.5, "noise": 0.05, "scaling": None, "out_of_fold": True}
    model = GaussianProcessRegressor(**given).fit(X, y, weight)
    assert (model.kernel_, model.noise_) == (Gaussian(0.5), 0.05)
    used, new = weight > 0, rng.uniform(-2, 2, (20, 3))
    C = Gaussian(0.5).block(X[used]) + np.diag(0.05 / weight[used])
    centered = (y - np.average(y, weights=weight))[used]
    z = np.linalg.solve(C, centered)
    assert_allclose(model.signal_, np.mean(centered * z), rtol=1e-6)
    assert abs(model.certify(X, y, weight).gap[0]) < 1e-9
    k = Gaussian(0.5).block(new, X[used])
    variance = 1 - np.einsum("ij,ij->i", k, np.linalg.solve(C, k.T).T)
    variance += 0.05 / weight[used].mean()
    mean, std = model.predict(new, return_std=True)
    assert_allclose(mean, k @ z + np.average(y, weights=weight), atol=1e-6)
    assert_allclose(std, np.sqrt(model.signal_ * variance), rtol=1e-6)
    S = model.signal_ * C
    likelihood = (
        -(np.linalg.slogdet(2 * np.pi * S)[1] + centered @ np.linalg.solve(S, centered)) / 2
    )
    assert model.log_marginal_likelihood() == pytest.approx(likelihood, rel=1e-6)


def test_irrelevant_features_get_small_scales(rng):
    X, y = waves(rng, 400)
    model = GaussianProcessRegressor(random_state=0).fit(X, y)
    importances = model.feature_importances_
    assert importances[2] < 0.1 * importances[0]
    assert GaussianProcessRegressor(scaling="standard").fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("parameters", [{}, {"refine": False, "approximation": HSS(2)}], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compressed_deviations_cover(parameters, dtype, rng):
    X, y = waves(rng, 4000)
    X = X.astype(dtype)
    model = GaussianProcessRegressor(random_state=0, tol=0.1, **parameters)
    model.fit(X[:3000], y[:3000])
    mean, std = model.predict(X[3000:], return_std=True)
    assert_allclose(np.std(y[3000:] - mean), 0.2, rtol=0.1)
    inside = np.abs(y[3000:] - mean) < 1.645 * std
    assert 0.86 < inside.mean() < 0.94
    assert_allclose(std.mean(), 0.2, rtol=0.1)


def test_files_keep_the_deviations(rng, tmp_path):
    X, y = waves(rng, 2500)
    weight = rng.uniform(0.5, 2, 2500)
    for given in (None, weight):
        model = GaussianProcessRegressor(random_state=0).fit(X, y, given)
        expected = model.predict(X[:50], return_std=True)
        model.save(tmp_path / "process.hssvm")
        copies = hssvm.load(tmp_path / "process.hssvm"), pickle.loads(pickle.dumps(model))
        for copy in copies:
            assert_array_equal(copy.predict(X[:50], return_std=True), expected)
            assert copy.log_marginal_likelihood() == model.log_marginal_likelihood()


def test_files_of_approximations_say_what_they_lack(rng, tmp_path):
    X, y = waves(rng, 2500)
    model = GaussianProcessRegressor(refine=False, random_state=0).fit(X, y)
    model.save(tmp_path / "process.hssvm")
    loaded = hssvm.load(tmp_path / "process.hssvm")
    assert_allclose(loaded.predict(X[:5]), model.predict(X[:5]))
    with pytest.raises(ValueError, match=r"return_std needs the support vectors.*joblib"):
        loaded.predict(X[:5], return_std=True)


@pytest.mark.parametrize("value", [7.0, 1e6 + 0.1])
def test_constant_targets(value, rng):
    model = GaussianProcessRegressor().fit(rng.standard_normal((30, 2)), np.full(30, value))
    mean, std = model.predict([[0.0, 0.0]], return_std=True)
    assert_allclose(mean, value)
    assert std[0] < 1e-8
    assert model.noise_ == 0.1


@pytest.mark.parametrize("noise", [0.05, 0.001])
def test_deviations_are_exact_for_some_thousand_rows(noise, rng):
    """Ten features, so that a compressed kernel would be far from the exact one."""
    X = rng.standard_normal((2500, 10))
    y = np.sin(X @ rng.standard_normal(10)) + 0.1 * rng.standard_normal(2500)
    given = {"gamma": 0.1, "noise": noise, "scaling": None}
    model = GaussianProcessRegressor(**given).fit(X[:2400], y[:2400])
    C = Gaussian(0.1).block(X[:2400]) + noise * np.eye(2400)
    k = Gaussian(0.1).block(X[2400:], X[:2400])
    variance = 1 - np.einsum("ij,ij->i", k, np.linalg.solve(C, k.T).T) + noise
    _, std = model.predict(X[2400:], return_std=True)
    assert_allclose(std, np.sqrt(model.signal_ * variance), rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-6, 1e5])
def test_the_unit_of_weights_does_not_count(factor, rng):
    X, y = waves(rng, 300)
    weight = rng.uniform(0.5, 2, 300)
    models = [
        GaussianProcessRegressor(random_state=0).fit(X, y, unit * weight) for unit in (1, factor)
    ]
    predicted = [model.predict(X[:20], return_std=True) for model in models]
    assert_allclose(*predicted, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hardly_any_noise(dtype, rng):
    X = rng.uniform(-2, 2, (3000, 3)).astype(dtype)
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    model = GaussianProcessRegressor(random_state=0, tol=1.0).fit(X, y)
    assert model.score(X, y) > 0.999


def test_repeated_rows_and_a_single_one(rng):
    X, y = waves(rng, 200)
    with pytest.warns(match="merge such rows, or pass noise"):
        GaussianProcessRegressor(random_state=0).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    mean, _ = GaussianProcessRegressor().fit(X[:1], y[:1]).predict(X[:1], return_std=True)
    assert_allclose(mean, y[:1])
    with pytest.raises(ValueError, match="raise noise"):
        GaussianProcessRegressor(noise=1e-300).fit(X[[0, 0, 1]], y[:3])


def test_wide_sparse_rows_need_too_much_memory():
    X = scipy.sparse.random_array((300, 200_000), density=1e-4, format="csr")
    with pytest.raises(MemoryError, match="TruncatedSVD"):
        GaussianProcessRegressor(memory_limit="1GB").fit(X, np.arange(300.0))


def test_only_kernels_of_distances():
    with pytest.raises(ValueError, match="KernelRidge accepts other kernels"):
        GaussianProcessRegressor(kernel="linear").fit([[0.0], [1.0]], [0.0, 1.0])


def test_search_stops_early(rng):
    X, y = waves(rng, 300)

    class Once:
        def stop(self):
            return True

    free = maximize_likelihood(X, y - y.mean(), np.ones(300), Gaussian)
    stopped = maximize_likelihood(X, y - y.mean(), np.ones(300), Gaussian, monitor=Once())
    assert not np.allclose(free.scales, stopped.scales)


def test_estimate_cost(rng):
    X, y = waves(rng, 3000)
    assert GaussianProcessRegressor().estimate_cost(X, y).n_rows == 3000
