import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM, svc_path
from hssvm.exceptions import DataWarning
from hssvm.training.data.scaling import Scaling

SCALERS = {
    ("standard", False): StandardScaler(),
    ("standard", True): StandardScaler(with_mean=False),
    ("minmax", False): MinMaxScaler(),
    ("minmax", True): MaxAbsScaler(),
}


def uneven(rng, n, dtype, sparse):
    """Features of very different sizes, one of them constant."""
    X = rng.standard_normal((n, 4))
    y = X[:, 0] + X[:, 1] > 0
    X = (X * [1e-3, 1e3, 1, 0] + [0, 50, 0, 7]).astype(dtype)
    return (scipy.sparse.csr_array(X) if sparse else X), y


@pytest.mark.parametrize(
    "estimator", [SVC(), SVR(), OneClassSVM(nu=0.2), SVCCV(Cs=[1.0], gammas=["scale"], cv=3)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kind", "sparse"), SCALERS)
def test_scaling_is_that_of_a_pipeline(estimator, kind, sparse, dtype, rng):
    X, y = uneven(rng, 300, dtype, sparse)
    estimator.set_params(scaling=kind, random_state=0).fit(X, y)
    plain = type(estimator)(**{**estimator.get_params(), "scaling": None})
    expected = make_pipeline(SCALERS[kind, sparse], plain).fit(X, y)
    error = 1e-2 if dtype == np.float32 else 1e-6
    if isinstance(estimator, SVR):
        assert_allclose(estimator.predict(X), expected.predict(X), atol=error)
    else:
        values = expected.decision_function(X)
        size = np.abs(values).max()
        assert_allclose(estimator.decision_function(X), values, atol=error * size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_with_two_values_have_a_range_of_one(dtype, sparse, rng):
    n = int(rng.integers(10, 3000))
    low, extent = rng.normal(0, 100, 6).astype(dtype), rng.lognormal(0, 2, 6).astype(dtype)
    low = 0 * low if sparse else low
    X = (low + extent * (rng.random((n, 6)) < 0.02)).astype(dtype)
    X[0], X[1] = low, low + extent
    X[2, :3] = low[:3] + extent[:3] / 2  # a third value
    factor = Scaling.of(scipy.sparse.csr_array(X) if sparse else X, "standard").factor
    assert_allclose(factor[3:], 1 / (X[1] - low)[3:].astype(np.float64), rtol=1e-6)
    assert_allclose(factor[:3], 1 / X.astype(np.float64).std(axis=0)[:3], rtol=1e-6)


def test_scaled_rows_are_certified(rng):
    X, y = uneven(rng, 500, np.float64, False)
    model = SVC(C=10, scaling="standard").fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.certify(X, y).gap[0] < 1e-5
    with pytest.warns(DataWarning, match="very different scales"):
        assert SVC(C=10).fit(X, y).score(X, y) < model.score(X, y)


def test_a_path_scales_too(rng):
    X, y = uneven(rng, 2500, np.float64, False)
    for approximation in (HSS(), Cells()):
        parameters = {"scaling": "minmax", "gamma": 1.0, "approximation": approximation}
        path = svc_path(X, y, [1.0], random_state=0, **parameters)
        model = SVC(random_state=0, **parameters).fit(X, y)
        assert_allclose(path.decision_function(X)[:, 0], model.decision_function(X), atol=1e-9)


def test_scaling_is_checked(rng):
    X, y = uneven(rng, 50, np.float64, False)
    with pytest.raises(ValueError, match="scaling must be"):
        SVC(scaling="log").fit(X, y)


@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "matern32", "matern52"])
@pytest.mark.parametrize("sparse", [False, True])
def test_default_widths_are_median_distances(kernel, sparse, rng):
    X, y = rng.standard_normal((400, 6)), rng.random(400) < 0.5
    X[rng.random(X.shape) < 0.5] = 0
    weight = rng.integers(0, 3, 400)
    metric = "cityblock" if kernel == "laplacian" else "euclidean"
    kept = np.repeat(X, weight, axis=0)
    median = np.median(pdist(kept, metric)[pdist(kept, metric) > 0])
    rows = scipy.sparse.csr_array(X) if sparse else X
    model = SVC(kernel=kernel).fit(rows, y, sample_weight=weight)
    assert model.kernel_.gamma == pytest.approx(1 / median, rel=0.05)
    repeated = SVC(kernel=kernel).fit(kept, np.repeat(y, weight))
    assert model.kernel_.gamma == pytest.approx(repeated.kernel_.gamma)
    search = SVCCV(kernel=kernel, Cs=[1.0], gammas=["scale"], scaling=None, cv=2).fit(
        kept, kept[:, 0] > 0
    )
    assert search.gamma_ == pytest.approx(repeated.kernel_.gamma)


def test_equal_rows_have_some_width():
    X, y = np.ones((10, 2)), np.arange(10) % 2
    assert SVC(kernel="exponential").fit(X, y).kernel_.gamma == 1
