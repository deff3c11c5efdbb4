"""Warnings about data and parameters that do not go together, and none where they do."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from hssvm import SVC, SVCCV, SVR, OneClassSVM
from hssvm.exceptions import DataWarning
from hssvm.training.data import checks
from hssvm.training.data.scaling import features_differ


def rings(rng, n=800, sizes=(1.0, 1.0, 1.0, 1.0)):
    X = rng.standard_normal((n, 4))
    return X * sizes, np.hypot(X[:, 0], X[:, 1]) < 1.2


UNEVEN = (1.0, 1.0, 1.0, 1e3)


@pytest.mark.parametrize(
    "estimator",
    [SVC(), SVR(), OneClassSVM(nu=0.1), SVCCV(Cs=[1.0], gammas=["scale"], cv=3, scaling=None)],
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("ignore:No candidate scores higher")
def test_uneven_features(estimator, sparse, rng):
    X, y = rings(rng, sizes=UNEVEN)
    rows = scipy.sparse.csr_array(X) if sparse else X
    estimator = clone(estimator).set_params(random_state=0)
    with pytest.warns(DataWarning, match='fit with scaling="standard"'):
        estimator.fit(rows, y)
    assert checks.UNEVEN_FEATURES in estimator.fit_report_.advice
    assert checks.UNEVEN_FEATURES in estimator.summary()
    estimator.set_params(scaling="standard").fit(rows, y)
    assert not any("scaling" in advice for advice in estimator.fit_report_.advice)


def test_the_remedy_helps(rng):
    X, y = rings(rng, 1500, UNEVEN)
    with pytest.warns(DataWarning):
        before = SVC().fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    assert SVC(scaling="standard").fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > before + 0.1


def one_hot(rng, n):
    codes = np.minimum(rng.geometric(0.4, (n, 6)), 9)
    return OneHotEncoder().fit_transform(codes)


def images(rng, n):
    """Pixels between 0 and 255: most in use, some rarely, some never."""
    used = rng.random((n, 50)) < np.r_[np.full(40, 0.5), np.full(6, 0.01), np.zeros(4)]
    return used * rng.integers(0, 256, (n, 50))


def mixed(rng, n):
    return np.hstack([rng.standard_normal((n, 3)), one_hot(rng, n).toarray()])


def heavy_tails(rng, n):
    return rng.standard_t(2, (n, 6))


EVEN = {
    "normal": lambda rng, n: rng.standard_normal((n, 5)),
    "one-hot": one_hot,
    "images": images,
    "mixed": mixed,
    "standardized mixed": lambda rng, n: StandardScaler().fit_transform(mixed(rng, n)),
    "standardized tails": lambda rng, n: StandardScaler().fit_transform(heavy_tails(rng, n) ** 3),
    "minmax tails": lambda rng, n: MinMaxScaler().fit_transform(heavy_tails(rng, n) ** 3),
    "constant": lambda rng, n: np.ones((n, 3)),
    "principal components": lambda rng, n: PCA().fit_transform(
        rng.standard_normal((n, 6)) * 10.0 ** -np.arange(6)
    ),
    "singular vectors": lambda rng, n: TruncatedSVD(5).fit_transform(
        1 + rng.standard_normal((n, 6)) * 10.0 ** -np.arange(6)
    ),
}


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_even_features(name, dtype, rng):
    assert not features_differ(EVEN[name](rng, 1000).astype(dtype))


@pytest.mark.parametrize("power", [1.5, 2, 3, 6])
def test_features_that_differ(power, rng):
    X = rng.standard_normal((1000, 4)) * [1, 1, 10**power, 1]
    assert features_differ(X)
    assert features_differ(scipy.sparse.csr_matrix(X))
    assert not features_differ(X[:, :2])


def test_a_search_standardizes_if_that_scores_better(rng):
    X = rng.standard_normal((1200, 5)) * [1, 4, 4, 4, 4]
    y = np.abs(X[:, 0]) > 0.7
    given = {"scaling": [None, "standard"], "kernel": "rbf", "max_members": 1, "random_state": 0}
    better = SVCCV(Cs=[10.0], **given).fit(X, y)
    assert better.feature_factor_ is not None
    worse = SVCCV(Cs=[10.0], **given).fit(X / [0.25, 4, 4, 4, 4], y)
    assert worse.feature_factor_ is None
    loose = SVCCV(Cs=[10.0], gammas=["scale"], random_state=0).fit(X, y)
    assert loose.feature_factor_ is None  # nothing is searched


def test_scaling_auto_is_standard_where_features_differ(rng):
    X, y = rings(rng)
    assert SVCCV(Cs=[1.0], gammas=["scale"]).fit(X, y).feature_factor_ is None
    uneven = SVCCV(Cs=[1.0], gammas=["scale"]).fit(X * UNEVEN, y)
    expected = SVCCV(Cs=[1.0], gammas=["scale"], scaling="standard").fit(X * UNEVEN, y)
    assert np.array_equal(uneven.feature_factor_, expected.feature_factor_)
    assert np.array_equal(uneven.feature_shift_, expected.feature_shift_)


@pytest.mark.parametrize("estimator", [SVC(), SVR(), OneClassSVM()])
def test_a_kernel_like_the_identity(estimator, rng):
    X, y = rings(rng)
    estimator = clone(estimator).set_params(gamma=1e6)
    with pytest.warns(DataWarning) as caught:
        estimator.fit(X, y)
    assert [str(w.message) for w in caught] == [checks.NARROW_KERNEL]
    assert checks.NARROW_KERNEL in estimator.fit_report_.advice


def test_duplicates_are_not_neighbors_enough(rng):
    X, y = rings(rng)
    X[:3], y[:3] = X[3:6], y[3:6]  # few enough, whichever rows are checked
    with pytest.warns(DataWarning, match="nearly the identity"):
        SVC(gamma=1e6).fit(X, y)


def test_all_rows_are_support_vectors(rng):
    X, y = rings(rng)
    with pytest.warns(DataWarning, match="lower gamma"):
        SVC(C=1e3, gamma=20.0).fit(rng.standard_normal((800, 6)), rng.random(800) < 0.5)
    half = y[: 2 * min(y.sum(), (~y).sum())]
    balanced = np.argsort(y)[[*range(half.size // 2), *range(-(half.size // 2), 0)]]
    with pytest.warns(DataWarning, match="raise C"):
        SVC(C=1e-4).fit(X[balanced], y[balanced])


@pytest.mark.parametrize(("factor", "text"), [(1e3, "raise C"), (1e-2, "lower epsilon")])
def test_units_of_y(factor, text, rng):
    X = rng.uniform(-3, 3, (800, 2))
    y = factor * np.sin(X[:, 0])
    model = SVR()
    with pytest.warns(DataWarning, match=text) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert str(caught[0].message) in model.fit_report_.advice
    remedy = TransformedTargetRegressor(SVR(), transformer=StandardScaler()).fit(X, y)
    assert remedy.score(X, y) > 0.9 > model.score(X, y)


def test_noise_is_not_a_matter_of_units(rng):
    X = rng.standard_normal((800, 3))
    SVR().fit(X, rng.standard_normal(800))
    SVR(epsilon=0.0).fit(X, rng.standard_normal(800))
    SVR().fit(X, np.ones(800))
    SVR().fit(X, X[:, 0] > 1.5)


def test_few_rows_are_not_checked(rng):
    X, y = rings(rng, 200, UNEVEN)
    SVC(gamma=1e6).fit(X, y)
    SVR().fit(X, 1e6 * X[:, 0])


def test_a_kernel_function_has_scales_of_its_own(rng):
    X, y = rings(rng, sizes=UNEVEN)
    SVC(kernel=lambda A, B: np.exp(-(((A / UNEVEN)[:, None] - (B / UNEVEN)) ** 2).sum(2))).fit(X, y)


def test_the_edge_of_a_grid(rng):
    X = rng.uniform(-3, 3, (800, 2))
    y = np.sin(2 * X[:, 0]) > 0
    with pytest.warns(DataWarning, match="The best gamma is at the edge of gammas.*larger"):
        model = SVCCV(Cs=[10.0], gammas=[1e-3, 1e-2, 1e-1]).fit(X, y)
    assert any("edge of gammas" in advice for advice in model.fit_report_.advice)
    with pytest.warns(DataWarning, match="The best C is at the edge of Cs.*larger"):
        SVCCV(Cs=[1e-3, 1e-2, 1e-1], gammas=[1.0]).fit(X, y)
    SVCCV(Cs=[10.0], gammas=[1e-2, 1e-1]).fit(X, y)  # two values are a choice, not a range


def test_the_edge_is_one_beyond_chance():
    scores = np.array([[0.9, 0.8, 0.9], [0.8, 0.8, 0.8], [0.91, 0.81, 0.89]])
    assert checks.check_edge("C", scores, 2, 1000) is not None
    assert checks.check_edge("C", scores[[1, 0, 2]], 2, 1000) is None
    assert checks.check_edge("C", scores, 2, 100) is None
    assert checks.check_edge("C", scores[[0, 2, 1]], 1, 1000) is None
    assert checks.check_edge("C", scores[[2, 1, 0]], 0, 1000).count("smaller") == 2


def test_cost_estimates_are_silent(rng):
    X, y = rings(rng, sizes=UNEVEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(random_state=0).estimate_cost(X, y)
