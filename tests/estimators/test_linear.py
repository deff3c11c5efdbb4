import numpy as np
import pytest
import scipy.sparse
import sklearn.svm

from hssvm import SVC, SVR, OneClassSVM


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_coef_of_classes_is_that_of_scikit_learn(n_classes, sparse, rng):
    X = rng.standard_normal((200, 3))
    y = np.digitize(X[:, 0] + rng.standard_normal(200), np.arange(1, n_classes) - n_classes / 2)
    data = scipy.sparse.csr_array(X) if sparse else X
    model = SVC(0.1, kernel="linear", multi_class="ovo").fit(data, y)
    expected = sklearn.svm.SVC(C=0.1, kernel="linear", tol=1e-6).fit(X, y).coef_
    assert model.coef_.shape == expected.shape
    assert np.abs(model.coef_ - expected).max() < 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("Model", [SVR, OneClassSVM])
def test_coef_gives_the_decision_values(Model, rng):
    X = rng.standard_normal((200, 3)) + 1
    model = Model(kernel="linear").fit(X, X[:, 0])
    values = model.predict(X) if Model is SVR else model.decision_function(X)
    assert np.allclose(X @ model.coef_[0] + model.intercept_, values)


def test_coef_needs_a_linear_kernel(rng):
    X = rng.standard_normal((50, 3))
    model = SVC()
    assert not hasattr(model, "coef_")
    model.fit(X, X[:, 0] > 0)
    with pytest.raises(AttributeError, match="fit with kernel='linear'"):
        model.coef_  # noqa: B018


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("n_classes", [2, 4])
def test_features_that_are_not_scaled(n_classes, rng):
    """SMO would take hours."""
    y = rng.permutation(np.arange(150) % n_classes)
    X = (0.7 * y[:, None] + rng.standard_normal((150, 2))) * [2e4, 1e3]
    model = SVC(0.1, kernel="linear", multi_class="ovo", class_weight="balanced").fit(X, y)
    report = model.fit_report_
    assert set(report.status) == {"CONVERGED"}
    assert report.gap.max() <= 1e-5
    assert report.n_support < 150  # an interior point would have all rows
    rough = sklearn.svm.SVC(C=0.1, kernel="linear", class_weight="balanced", max_iter=10_000)
    assert model.score(X, y) >= rough.fit(X, y).score(X, y) - 0.05
