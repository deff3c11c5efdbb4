"""Gaussian processes: scikit-learn's likelihood and deviations, and what models have."""

import pickle

import numpy as np
import pytest
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
    assert model.log_marginal_likelihood() == pytest.approx(expected, abs=2)
    found = length(model.kernel_.gamma)
    assert found == pytest.approx(other.kernel_.k1.k2.length_scale, rel=0.02)
    new = rng.uniform(-3, 3, (30, 3))
    mean, std = model.predict(new, return_std=True)
    other_mean, other_std = other.predict(new, return_std=True)
    assert_allclose(mean, other_mean + y.mean(), atol=0.02)
    assert_allclose(std / other_std, np.median(std / other_std), rtol=0.02)
    assert np.median(std / other_std) == pytest.approx(1, abs=0.1)  # by errors, not likelihood


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
    errors = z / np.diag(np.linalg.inv(C))
    assert_allclose(model.signal_, np.mean(errors * z), rtol=1e-6)
    k = Gaussian(0.5).block(new, X[used])
    variance = 1 - np.einsum("ij,ij->i", k, np.linalg.solve(C, k.T).T) + 0.05
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
    model = GaussianProcessRegressor(random_state=0, **parameters).fit(X[:3000], y[:3000])
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


def test_constant_targets(rng):
    model = GaussianProcessRegressor().fit(rng.standard_normal((30, 2)), np.full(30, 7.0))
    mean, std = model.predict([[0.0, 0.0]], return_std=True)
    assert (mean[0], std[0]) == (7, 0)


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
