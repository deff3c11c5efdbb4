"""Models with fewer support vectors."""

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import hssvm
from hssvm import HSS, SVC, SVR, Cells, OneClassSVM
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.kernels import Gaussian
from hssvm.predictors import ExpansionPredictor
from hssvm.predictors.reduced import Reduction

MODELS = {
    "two classes": SVC(),
    "float32": SVC(),
    "sparse": SVC(),
    "probabilities": SVC(probability="sigmoid", random_state=0),
    "one-vs-one": SVC(multi_class="ovo"),
    "one-vs-rest": SVC(multi_class="ovr"),
    "regression": SVR(),
    "novelty": OneClassSVM(nu=0.3),
}


@pytest.fixture(params=MODELS)
def problem(request, rng):
    kind = request.param
    dtype = np.float32 if kind == "float32" else np.float64
    X, y = noisy_classes(rng, 1500, 3 if "one-vs" in kind else 2, dtype)
    if kind == "regression":
        y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(1500)
    X = scipy.sparse.csr_array(X) if kind == "sparse" else X
    return MODELS[kind], X[:700], y[:700], X[700:], y[700:]


def test_the_loss_is_bounded(problem, tmp_path):
    model, X, y, T, t = problem
    model.fit(X, y)
    n_before = len(model.dual_coef_.T)
    labels = None if isinstance(model, OneClassSVM) else t
    small = model.reduce(T, labels, max_loss=0.01)
    n_after = small.support_vectors_.shape[0]
    assert n_after < 0.8 * n_before
    assert small.fit_report_.n_support == n_after == small.dual_coef_.shape[1]
    assert f"reduced    from {n_before:,} support vectors" in small.summary()
    assert model.support_vectors_.shape[0] == n_before
    if labels is None:
        assert np.mean(small.predict(T) != model.predict(T)) <= 0.01
    else:
        assert small.score(T, t) >= model.score(T, t) - 0.01
    if hasattr(model, "classes_"):
        assert small.n_support_.sum() == n_after
    small.save(tmp_path / "small.hssvm")
    again = hssvm.load(tmp_path / "small.hssvm")
    assert_array_equal(again.predict(T), small.predict(T))
    assert again.summary() == small.summary()
    arguments = (X,) if labels is None else (X, y)
    with pytest.raises(ValueError, match="certify the model that was reduced"):
        small.certify(*arguments)


@given(st.integers(0, 2**32 - 1), st.integers(1, 700), st.sampled_from([0.05, 0.5, 5.0]))
def test_the_projection_is_closer_with_more_rows(seed, n, gamma):
    """In the norm of the kernel; the norm of a projection never exceeds that of the function."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((n, 3)), rng.standard_normal((n, 2))
    kernel = Gaussian(gamma)
    K = kernel.block(X)
    reduction, errors = Reduction(kernel, X, Z), []
    for fraction in (0.1, 0.5, 1.0):
        rows, W = reduction.expansion(max(1, round(fraction * reduction.n_rows)))
        assert np.unique(rows).size == rows.size
        rest = Z.copy()
        rest[rows] -= W
        errors.append(np.einsum("ij,ij->j", rest, K @ rest))
    scale = np.einsum("ij,ij->j", Z, K @ Z)
    assert np.all(errors[0] <= scale * (1 + 1e-9))
    assert np.all(errors[1] <= errors[0] + 0.01 * scale)  # CG is stopped early
    assert np.all(errors[2] <= 0.01 * scale)


def test_rows_that_are_repeated_count_once(rng):
    X = np.repeat(rng.standard_normal((40, 2)), 5, axis=0)
    Z = rng.standard_normal((200, 1))
    reduction = Reduction(Gaussian(1.0), X, Z)
    assert reduction.n_rows <= 40
    rows, W = reduction.expansion(200)
    values = ExpansionPredictor(Gaussian(1.0), X[rows], W)(X)
    assert_allclose(values, ExpansionPredictor(Gaussian(1.0), X, Z)(X), atol=0.01)


@pytest.mark.parametrize("approximation", [HSS(n_trees=2, leaf_size=64), Cells(500)])
def test_approximations_are_refused_with_advice(approximation, rng):
    X, y = noisy_classes(rng, 2100)
    model = SVC(approximation=approximation, random_state=0).fit(X, y)
    advice = r"the exact kernel.*; fit with refine=True and approximation=None$"
    with pytest.raises(ValueError, match=f"reduce needs .*{advice}"):
        model.reduce(X, y)
    model.set_params(refine=True, approximation=None).fit(X, y)
    assert model.reduce(X, y).fit_report_.reduced_from > 0


def test_what_cannot_be_reduced(rng):
    X, y = noisy_classes(rng, 2100)
    automatic = SVC(refine=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"the exact kernel.*; fit with refine=True$"):
        automatic.reduce(X, y)
    model = SVC().fit(X[:300], y[:300])
    for wrong in (-1, np.nan, "a", None, [0.1]):
        with pytest.raises(InvalidParameterError, match="max_loss must be a number of at least 0"):
            model.reduce(X, y, max_loss=wrong)
    K = X[:300] @ X[:300].T
    with pytest.raises(ValueError, match="reduce needs rows of numbers"):
        SVC(kernel="precomputed").fit(K, y[:300]).reduce(K, y[:300])
