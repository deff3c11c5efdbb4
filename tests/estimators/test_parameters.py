"""Values that parameters accept, and what the errors for others say."""

import inspect
import pickle
import re
import traceback

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from sklearn.base import clone

import hssvm
from hssvm import (
    HSS,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    CensoredSVR,
    GaussianProcessRegressor,
    KernelRidge,
    OneClassSVM,
    QuantileSVR,
    QuantileSVRCV,
    svc_path,
)
from hssvm.estimators.inputs.parameters import RULES
from hssvm.kernels import Gaussian
from hssvm.model_selection.base import BaseSearch

ESTIMATORS = [
    SVC,
    SVR,
    QuantileSVR,
    CensoredSVR,
    KernelRidge,
    GaussianProcessRegressor,
    OneClassSVM,
    SVCCV,
    SVRCV,
    QuantileSVRCV,
]
FREE = {"kernel", "cv", "scoring"}
"""Parameters with checks of their own."""


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def parameters():
    for kind in ESTIMATORS:
        for name in kind._get_param_names():
            yield pytest.param(kind, name, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("kind", "name"), list(parameters()))
def test_every_parameter_refuses_what_it_does_not_accept(kind, name, rows):
    if name in FREE - {"kernel"}:
        pytest.skip("checked by scikit-learn")
    wrong = ["1", object(), [], {"a": "b"}, np.nan, -1, np.array([0.5, "x"], object), b"auto", 1j]
    if name == "error_score":
        wrong = [value for value in wrong if not isinstance(value, int | float)]
    for value in wrong:
        with pytest.raises(ValueError, match=rf"^{name} must be .*got ") as caught:
            kind(**{name: value}).fit(*rows)
        assert repr(value) in str(caught.value)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_defaults_follow_the_rules(kind):
    named = kind().get_params(deep=False)
    assert named.keys() - kind._rules.keys() == FREE & named.keys()
    kind()._check_parameters()


@pytest.mark.parametrize("dress", [np.float32, np.float64, np.longdouble, np.array])
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (SVC, "C", 2.0), (SVC, "gamma", 0.5), (SVC, "tol", 1e-2),
        (SVC, "max_time", 100.0), (SVC, "memory_limit", 2.0**40), (SVR, "epsilon", 0.25),
        (OneClassSVM, "nu", 0.25), (SVCCV, "memory_limit", 2.0**40),
    ],
)  # fmt: skip
def test_numbers_of_numpy_are_numbers(kind, name, value, dress, rows, monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    shared = {
        "approximation": HSS(leaf_size=20), "random_state": 0, "refine": kind is SVC, "tol": 1e-2,
    }  # fmt: skip
    plain, dressed = (
        kind(**{**shared, name: number}).fit(*rows).decision_function(rows[0])
        if kind is not SVR
        else kind(**{**shared, name: number}).fit(*rows).predict(rows[0])
        for number in (float(dress(value)), dress(value))
    )
    np.testing.assert_allclose(dressed, plain, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dress", [np.int32, np.uint8, np.array])
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (SVC, "C", 2), (SVC, "gamma", 1), (SVC, "degree", 2), (SVC, "coef0", 1),
        (SVC, "max_iter", 100), (SVC, "random_state", 7), (SVC, "verbose", 0), (SVCCV, "Cs", 3),
    ],
)  # fmt: skip
def test_integers_of_numpy_are_integers(kind, name, value, dress, rows, monkeypatch, tmp_path):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    shared = {"approximation": HSS(leaf_size=20), "random_state": 0, "kernel": "poly", "tol": 1e-2}
    plain, dressed = (kind(**{**shared, name: n}).fit(*rows) for n in (value, dress(value)))
    values = dressed.decision_function(rows[0])
    np.testing.assert_allclose(values, plain.decision_function(rows[0]), rtol=1e-6)
    dressed.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    np.testing.assert_array_equal(loaded.decision_function(rows[0]), values)


def test_bools_of_numpy_are_bools(rows, monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    values = []
    for true in (True, np.True_, np.array(True)):
        model = SVC(
            refine=true, warm_start=true, verbose=not true, approximation=HSS(leaf_size=20),
            random_state=0,
        )  # fmt: skip
        assert model.fit(*rows).fit_report_.exact_kernel
        assert model.fit(*rows).fit_report_.n_iter[0] == 0  # a warm start
        values.append(model.decision_function(rows[0]))
    np.testing.assert_array_equal(values[1:], [values[0]] * 2)


def test_kernels_are_named_or_given(rows):
    for kernel in ("sigmoid", "RBF", 3, None, ["rbf"], ["RBF"], Gaussian):
        for kind in ESTIMATORS:
            if kernel == ["rbf"] and issubclass(kind, BaseSearch):
                continue
            with pytest.raises(
                ValueError, match=r"^kernel must be one of 'rbf'.*(function|KernelRidge)"
            ):
                kind(kernel=kernel).fit(*rows)


def test_values_of_C_and_gamma(rows):
    for Cs in ([1.0, -1.0], ["1", "x"], "1,2", [], 0, 2.5, [[1.0]], [np.nan]):
        with pytest.raises(
            ValueError, match=r"^Cs must be 'auto', an integer of at least 1 or a non-empty seq"
        ):
            SVCCV(Cs=Cs).fit(*rows)
        with pytest.raises(
            ValueError, match=r"^Cs must be a non-empty sequence of positive numbers, got"
        ):
            svc_path(*rows, Cs)
    for gammas in ([], "scale", ["wide"], [0.0], 1.0, None):
        with pytest.raises(ValueError, match=r"^gammas must be 'auto' or a non-empty sequence"):
            SVCCV(gammas=gammas).fit(*rows)
    assert SVCCV(Cs=(1, 2), gammas=["scale", np.float32(1)]).fit(*rows).scores_.shape[:2] == (2, 2)
    assert svc_path(*rows, range(1, 4)).Cs.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"^gamma must be"):
        svc_path(*rows, [1.0], gamma="wide")


def test_errors_of_other_methods(rows):
    with pytest.raises(ValueError, match=r"^C must be a positive number, got '1'"):
        SVC(C="1").estimate_cost(*rows)
    model = SVC().fit(*rows)
    for n_rows in (3, "10", 5.5):
        with pytest.raises(ValueError, match=r"^n_rows must be None or an integer of at least 4"):
            model.certify(*rows, n_rows=n_rows)


def test_other_names_of_kernels(rows):
    for kernel, known in {"gaussian": "rbf", "RBF": "rbf", "Polynomial": "poly"}.items():
        with pytest.raises(ValueError, match=rf"got '{kernel}'; use kernel='{known}'$"):
            SVC(kernel=kernel).fit(*rows)
    with pytest.raises(ValueError, match="got 'sigmoid'; that kernel is not positive semi-def"):
        SVC(kernel="sigmoid").fit(*rows)
    with pytest.raises(ValueError, match=r"got 'wide'$"):
        SVC(kernel="wide").fit(*rows)


@pytest.mark.parametrize("kind", [SVC, SVCCV])
def test_probabilities_as_in_scikit_learn(kind, rows, tmp_path):
    X, y = rows
    given, bools = (
        [kind(probability=value, random_state=0).fit(X, y) for value in values]
        for values in (("sigmoid", None), (True, False))
    )
    np.testing.assert_array_equal(bools[0].predict_proba(X), given[0].predict_proba(X))
    assert not hasattr(bools[1], "predict_proba")
    assert bools[0].get_params()["probability"] is True
    bools[0].save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    np.testing.assert_array_equal(loaded.predict_proba(X), bools[0].predict_proba(X))
    assert "folds" in kind(probability=True).fit(X, y).fit_report_.seconds
    np.testing.assert_array_equal(
        clone(given[0]).set_params(probability=np.True_).fit(X, y).predict_proba(X),
        given[0].predict_proba(X),
    )


def test_the_last_line_of_a_traceback_says_how_to_get_probabilities(rows):
    model = SVC().fit(*rows)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="set probability='sigmoid' and fit") as caught:
            getattr(model, name)
        assert caught.value.__cause__ is None
        assert "probability='sigmoid'" in traceback.format_exception(caught.value)[-1]
        assert inspect.getdoc(getattr(SVC, name)) == inspect.getdoc(
            getattr(SVC(probability=True), name)
        )


UNSUPPORTED = [
    "n_jobs", "shrinking", "cache_size", "break_ties", "decision_function_shape", "beta"
]  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_parameters_are_explained_everywhere(name, rows):
    distributed = pytest.importorskip("hssvm.dask")
    on_dask = [getattr(distributed, kind) for kind in ("SVC", "SVR", "OneClassSVM", "SVCCV")]
    for kind in (*ESTIMATORS, *on_dask):
        known = kind._get_param_names()
        assert not kind._instead.keys() & known
        assert set(re.findall(r"(\w+)='", kind._instead[name])) <= set(known)
        with pytest.raises(TypeError, match=rf"^{kind.__name__} has no parameter '{name}': \w"):
            kind(**{name: 1})
    for path in (svc_path, distributed.svc_path):
        with pytest.raises(TypeError, match=rf"^svc_path has no parameter '{name}': \w"):
            path(*rows, [1.0], **{name: 1})


def test_parameters_of_scikit_learn_have_a_replacement():
    ours = {"SVC": SVC, "SVR": SVR, "OneClassSVM": OneClassSVM}
    for name, kind in ours.items():
        theirs = inspect.signature(getattr(sklearn.svm, name)).parameters
        lacking = theirs.keys() - inspect.signature(kind).parameters.keys()
        assert "shrinking" in lacking
        for parameter in lacking:
            told = re.escape(f"{name} has no parameter '{parameter}': {kind._instead[parameter]}")
            with pytest.raises(TypeError, match=told):
                kind(**{parameter: True})
    with pytest.raises(TypeError, match="SVCCV has no parameter 'break_ties': leave it out"):
        SVCCV(break_ties=True)
    with pytest.raises(TypeError, match="use SVC for probabilities"):
        svc_path([[0.0], [1.0]], [0, 1], [1.0], probability="sigmoid")
    with pytest.raises(TypeError, match="unexpected keyword argument 'wide'"):
        SVC(wide=True)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_signatures_are_as_written(kind):
    names = list(inspect.signature(kind).parameters)
    assert names[0] in ("C", "nu", "Cs", "alpha", "kernel")
    assert sorted(names) == kind._get_param_names()
    model = kind(verbose=2)
    assert repr(pickle.loads(pickle.dumps(model)).get_params()) == repr(model.get_params())  # NaN
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("sparse", [False, True])
def test_overflowing_features_are_to_be_scaled(dtype, kernel, sparse, rows):
    X, y = rows
    huge = (X * (1e25 if dtype == np.float32 else 1e200)).astype(dtype)
    huge = scipy.sparse.csr_array(huge) if sparse else huge
    for kind in (SVC, SVCCV):
        for scaling in (None, "standard"):
            with pytest.raises(ValueError, match=r"squares overflow float\d+; scale the features"):
                kind(kernel=kernel, scaling=scaling).fit(huge, y)
    with pytest.raises(ValueError, match="scale the features"):
        SVC(kernel=kernel, gamma=1.0).estimate_cost(huge, y)
    model = SVC(kernel=kernel, scaling="minmax", C=100.0)
    moderate = scipy.sparse.csr_array(X.astype(dtype)) if sparse else X.astype(dtype)
    found, expected = (model.fit(rows, y).decision_function(rows) for rows in (huge, moderate))
    error = 1e-2 if dtype == np.float32 else 1e-6
    np.testing.assert_allclose(found, expected, atol=error * np.abs(expected).max())


def test_rules_are_of_parameters():
    known = {name for kind in ESTIMATORS for name in kind._get_param_names()}
    assert RULES.keys() <= known
