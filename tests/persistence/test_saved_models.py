import json
import pickle
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal, assert_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, CensoredSVR, KernelRidge, OneClassSVM, QuantileSVR
from hssvm.estimators.models.saving import SavableEstimator
from hssvm.hss import HSSANN
from hssvm.kernels import Gaussian
from hssvm.loading.model import CLASSES
from hssvm.persistence.model import VERSION

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FORMS = {
    "leafwise": {"approximation": HSS(leaf_size=40, max_rank=8)},
    "cells": {"approximation": Cells(size=100)},
    "one leaf": {"approximation": HSS(leaf_size=300, max_rank=8)},
    "refined": {"refine": True, "approximation": HSS(leaf_size=40, max_rank=8)},
}
KERNELS = ["rbf", "laplacian", "exponential", "matern32", "matern52", "poly", "linear"]
ROWS = {
    "dense": np.asarray,
    "csr_array": scipy.sparse.csr_array,
    "csr_matrix": scipy.sparse.csr_matrix,
}
SUPPORT = ("support_", "support_vectors_", "dual_coef_")


@pytest.fixture(autouse=True)
def small_data_has_leaves(monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)


def data(rng, n_classes=2, dtype=np.float64, n=240):
    X = rng.standard_normal((n, 4)).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(n), [0, 0.7])
    return X, np.minimum(y, n_classes - 1)


def fit(rng, form="leafwise", n_classes=2, dtype=np.float64, rows="dense", **parameters):
    X, y = data(rng, n_classes, dtype)
    labels = np.array(["no", "perhaps", "yes"])
    settings = {"gamma": 0.3, "coef0": 1.0, "tol": 0.1, "random_state": 0}
    model = SVC(**{**settings, **FORMS[form], **parameters})
    return model.fit(ROWS[rows](X), labels[y]), ROWS[rows](data(rng, dtype=dtype)[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scaling", [None, "standard"])
@pytest.mark.parametrize("make", [SVR, QuantileSVR, CensoredSVR, KernelRidge, OneClassSVM])
def test_regression_and_novelty_come_back(make, scaling, form, rng, tmp_path):
    if form == "cells" and make in (KernelRidge, OneClassSVM):
        pytest.skip("it has no cells")
    X, y = data(rng)
    model = make(gamma=0.3, tol=0.1, random_state=0, scaling=scaling, **FORMS[form])
    model.fit(X, y).save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert type(loaded) is make
    new = data(rng)[0]
    assert_array_equal(loaded.predict(new), model.predict(new))
    assert loaded.summary() == model.summary()


def test_files_of_wide_rows_are_small(rng, tmp_path):
    X, y = data(rng)
    columns = rng.choice(2**20, X.shape[1], replace=False)
    wide = scipy.sparse.csr_array((len(X), 2**20), dtype=X.dtype).tolil()
    wide[:, columns] = X
    model = SVC(gamma=0.3, tol=0.1, random_state=0, **FORMS["leafwise"])
    model.fit(wide.tocsr(), y).save(tmp_path / "model.hssvm")
    assert (tmp_path / "model.hssvm").stat().st_size < 5e6
    loaded = hssvm.load(tmp_path / "model.hssvm")
    new = wide.tocsr()[:200]
    assert_array_equal(loaded.decision_function(new), model.decision_function(new))


def rewritten(path, change):
    """Rewrite the document of a file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(members["model.json"])
    change(document)
    members["model.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def assert_equal_attributes(a, b, lacking=()):
    names = {name for name in vars(a) if name.endswith("_")}
    assert {name for name in vars(b) if name.endswith("_")} == names - set(lacking)
    for name in names - set(lacking) - {"fit_report_", "cv_results_"}:
        left, right = getattr(a, name), getattr(b, name)
        assert type(left) is type(right), name
        if scipy.sparse.issparse(left):
            left, right = left.toarray(), right.toarray()
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, name
        assert_equal(left, right)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_round_trip(kernel, form, dtype, rows, n_classes, rng, tmp_path):
    model, X = fit(rng, form, n_classes, dtype, rows, kernel=kernel)
    leafwise = form in ("leafwise", "cells")
    assert leafwise == (model._compressed is not None and model._compressed.trees[0].tree.depth > 0)
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert type(loaded) is SVC
    values = loaded.decision_function(X)
    assert values.dtype == dtype
    assert_array_equal(values, model.decision_function(X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.get_params() == model.get_params()
    assert loaded.summary() == model.summary()
    assert_equal_attributes(model, loaded, SUPPORT if leafwise else ())


def test_saved_again_it_is_the_same_file(rng, tmp_path):
    for form in FORMS:
        fit(rng, form)[0].save(tmp_path / "a")
        hssvm.load(tmp_path / "a").save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_compressed_model_has_no_support_vectors_and_says_so(rng, tmp_path):
    model, X = fit(rng, approximation=HSS(n_trees=1, leaf_size=40, max_rank=8))
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert not any(hasattr(loaded, name) for name in SUPPORT)
    with pytest.raises(ValueError, match="certify needs the support vectors, which the file of a"):
        loaded.certify(*data(rng))
    loaded.set_params(prediction="exact")
    with pytest.raises(ValueError, match="prediction='exact' needs the support vectors"):
        loaded.predict(X)
    X, y = data(rng)
    loaded.fit(X, y).certify(X, y)


@pytest.mark.parametrize("form", ["refined", "one leaf"])
def test_a_model_with_support_vectors_can_be_certified(form, rng, tmp_path):
    X, y = data(rng)
    model = SVC(tol=0.1, random_state=0, **FORMS[form]).fit(X, y)
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert_array_equal(loaded.certify(X, y).gap, model.certify(X, y).gap)


def test_exact_prediction_keeps_the_support_vectors(rng, tmp_path):
    model, X = fit(rng, prediction="exact")
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match="saved with prediction='exact'"):
        loaded.set_params(prediction="compressed").predict(X)


def test_interpolating_compression(rng, tmp_path):
    compressor = HSSANN(rtol=1e-4, max_rank=200, n_neighbors=60)
    model, X = fit(rng, approximation=HSS(leaf_size=40, compressor=compressor))
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert loaded.approximation == model.approximation
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_cross_validation(kernel, rng, tmp_path):
    X, y = data(rng, 3)
    gammas = ("scale", np.float32(0.5)) if kernel == "rbf" else "auto"
    model = SVCCV(
        Cs=np.array([0.1, 1.0]), gammas=gammas, kernel=kernel, cv=3, scoring="accuracy",
        random_state=0, **FORMS["leafwise"],
    ).fit(X, y)  # fmt: skip
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert type(loaded) is SVCCV
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_equal_attributes(model, loaded, SUPPORT)
    assert loaded.cv_results_.keys() == model.cv_results_.keys()
    for name, values in model.cv_results_.items():
        if name != "params":
            assert_array_equal(loaded.cv_results_[name], values)
    assert clone(loaded).fit(X, y).C_ == model.C_


def test_names_of_features(rng, tmp_path):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=["a", "b", "length", "ü"])
    model = SVC(tol=0.1, random_state=0, **FORMS["leafwise"]).fit(frame, y)
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a")
    assert_equal_attributes(model, loaded, SUPPORT)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "length", "ü"]])


LABELS = st.one_of(
    st.sets(st.text().filter(lambda s: s[-1:] != "\0"), min_size=2, max_size=2),
    st.sets(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2),
    st.sets(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
    st.just({False, True}),
)


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).standard_normal((60, 2))
    return SVC(random_state=0).fit(X, X[:, 0] > 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels=LABELS, as_objects=st.booleans())
def test_labels_of_any_plain_type(labels, as_objects, fitted, tmp_path):
    model = pickle.loads(pickle.dumps(fitted))
    model.classes_ = np.unique(np.array(sorted(labels)))
    expected = model.classes_
    if as_objects and expected.dtype.kind == "U":
        model.classes_ = expected.astype(object)
    model.save(tmp_path / "a")
    loaded = hssvm.load(tmp_path / "a").classes_
    assert loaded.dtype == expected.dtype
    assert_array_equal(loaded, expected)


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        np.array([(1, 2), "a"], dtype=object),
        np.array([1j, 2j]),
    ],
)
def test_other_labels_are_refused_before_anything_is_written(classes, fitted, tmp_path):
    model = pickle.loads(pickle.dumps(fitted))
    model.classes_ = classes
    with pytest.raises(ValueError, match=r"classes_ is .* joblib\.dump"):
        model.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_weights_of_classes_keep_their_keys(rng, tmp_path):
    X, y = data(rng)
    model = SVC(class_weight={0: 1.0, 1: np.float64(2.0)}, tol=0.1, random_state=0).fit(X, y)
    model.save(tmp_path / "a")
    assert hssvm.load(tmp_path / "a").class_weight == {0: 1.0, 1: 2.0}


class Mine(Gaussian):
    pass


class MySVC(SVC):
    pass


def plain_gaussian(X, Y):
    return Gaussian(0.5).block(X, Y)


@pytest.mark.parametrize("kernel", [plain_gaussian, Mine(0.5)])
def test_kernels_that_are_code_are_refused(kernel, rng, tmp_path):
    model, _ = fit(rng, kernel=kernel)
    with pytest.raises(ValueError, match=r"cannot contain the kernel .*; use joblib\.dump"):
        model.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_kernel_object_as_parameter(rng, tmp_path):
    model, _ = fit(rng, kernel=Gaussian(0.5))
    model.save(tmp_path / "a")
    assert hssvm.load(tmp_path / "a").kernel == Gaussian(0.5)


def test_parameters_that_are_not_plain_are_named(rng, tmp_path):
    model, X = fit(rng, random_state=np.random.RandomState(0))
    with pytest.raises(ValueError, match=r"random_state=.* set_params\(random_state"):
        model.save(tmp_path / "a")
    values = model.decision_function(X)
    model.set_params(random_state=None).save(tmp_path / "a")
    assert_array_equal(hssvm.load(tmp_path / "a").decision_function(X), values)
    folds = SVCCV(Cs=2, cv=KFold(3), random_state=0, tol=0.1).fit(*data(rng))
    with pytest.raises(ValueError, match="cv=KFold"):
        folds.save(tmp_path / "a")


def test_classes_of_others_are_refused(rng, tmp_path):
    with pytest.raises(ValueError, match="not your class MySVC"):
        MySVC(random_state=0, tol=0.1).fit(*data(rng)).save(tmp_path / "a")


def subclasses(cls):
    return {cls}.union(*map(subclasses, cls.__subclasses__()))


def test_every_estimator_that_can_be_saved_can_be_loaded():
    ours = {cls for cls in subclasses(SavableEstimator) if cls.__module__.startswith("hssvm.")}
    assert set(CLASSES.values()) == {cls for cls in ours if cls.__name__ in hssvm.__all__}


def test_nothing_that_could_not_be_loaded_is_written(fitted, tmp_path):
    model = pickle.loads(pickle.dumps(fitted))
    model.intercept_ = np.array([np.nan])
    with pytest.raises(
        ValueError, match=r"cannot be saved, because .* could not be loaded: intercept_"
    ):
        model.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_what_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        SVC().save(tmp_path / "a")


def test_joblib_and_pickle_keep_all(rng, tmp_path):
    for form in FORMS:
        model, X = fit(rng, form, 3)
        joblib.dump(model, tmp_path / "a")
        for copy in (joblib.load(tmp_path / "a"), pickle.loads(pickle.dumps(model))):
            assert_array_equal(copy.decision_function(X), model.decision_function(X))
            assert_equal_attributes(model, copy)
    model.save(tmp_path / "b")
    loaded = hssvm.load(tmp_path / "b")
    joblib.dump(loaded, tmp_path / "a")
    assert_array_equal(
        joblib.load(tmp_path / "a").decision_function(X), loaded.decision_function(X)
    )


def test_a_newer_version_asks_for_an_upgrade(fitted, tmp_path):
    fitted.save(tmp_path / "a")
    rewritten(tmp_path / "a", lambda d: d.update(version=VERSION + 1, hssvm="9.1", new=[]))
    with pytest.raises(ValueError, match=r"a was saved by hssvm 9\.1 in version .* upgrade hssvm"):
        hssvm.load(tmp_path / "a")


def test_parameters_that_are_new_have_their_default(fitted, tmp_path):
    fitted.save(tmp_path / "a")
    rewritten(tmp_path / "a", lambda document: document["parameters"].pop("max_time"))
    assert hssvm.load(tmp_path / "a").max_time == SVC().max_time


@pytest.mark.parametrize("section", ["attributes", "fit_report"])
def test_every_entry_of_a_section_is_required(section, fitted, tmp_path):
    fitted.save(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        names = list(json.loads(archive.read("model.json"))[section])
    for name in names:
        fitted.save(tmp_path / "a")
        rewritten(tmp_path / "a", lambda document, name=name: document[section].pop(name))
        with pytest.raises(ValueError, match="a is corrupted, or not a model"):
            hssvm.load(tmp_path / "a")


@pytest.mark.parametrize("content", [b"", b"PK", b"x" * 1000, pickle.dumps(list(range(99)))])
def test_other_files_are_named(content, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=r"a is corrupted, or not a model .* save the model again"):
        hssvm.load(tmp_path / "a")


@pytest.mark.parametrize("document", ["[" * 100_000, '{"format": NaN}', "\xff", "1" * 10_000])
def test_other_documents_are_named(document, tmp_path):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("model.json", document)
    with pytest.raises(ValueError, match="a is corrupted, or not a model"):
        hssvm.load(tmp_path / "a")


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        hssvm.load(tmp_path / "a")
