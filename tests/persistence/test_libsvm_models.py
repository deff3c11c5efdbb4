"""Model files of LIBSVM, against LIBSVM itself and against scikit-learn."""

import pickle
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from helpers import libsvm
from helpers.mutants import bytes_changed
from helpers.outcomes import model_outcome
from helpers.text_mutants import lines_changed, overwrite, words_changed
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM
from hssvm.kernels import Gaussian, Linear, Polynomial
from hssvm.persistence.libsvm import LibsvmModel, write_libsvm
from hssvm.persistence.libsvm.read import read_libsvm
from hssvm.predictors.votes import count_votes

KERNELS = {"linear": 0, "poly": 1, "rbf": 2}
"""Option -t of svm-train by kernel."""

EXACT = {"rtol": 1e-9, "atol": 1e-9}
"""Only the order of summation differs."""


@pytest.fixture
def X(rng):
    X = rng.standard_normal((120, 4))
    X[rng.random(X.shape) < 0.3] = 0
    return X


def labels_of(X, n_classes, rng):
    """Labels that are neither consecutive nor in the order of the classes, some of them wrong."""
    position = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(len(X))
    codes = np.digitize(position, np.quantile(position, np.arange(1, n_classes) / n_classes))
    return (3 * rng.permutation(n_classes) - 4)[codes]


def pair_values(model, X):
    """Decision values by pairs of labels, positive for the first of a pair."""
    values, classes = model._decision_values(X), model.classes_.tolist()
    if len(classes) == 2:
        classes = classes[::-1]
    return dict(zip(combinations(classes, 2), values.T, strict=True))


def libsvm_pair_values(path, X):
    """The same from LIBSVM."""
    header = dict(
        line.split(maxsplit=1) for line in path.read_text().split("\nSV\n")[0].split("\n")
    )
    labels = list(map(int, header["label"].split()))
    pairs = list(combinations(labels, 2))
    _, values = libsvm.Model(path).values(X, len(pairs))
    return dict(zip(pairs, values.T, strict=True))


def assert_same_pairs(ours, theirs, **tolerance):
    assert len(ours) == len(theirs)
    for (a, b), values in ours.items():
        expected = theirs[a, b] if (a, b) in theirs else -theirs[b, a]
        assert_allclose(values, expected, **tolerance)


def assert_same_values(model, X, predicted, values):
    """Those of a regression or a one-class model; LIBSVM's are the last two arguments."""
    ours = model.predict(X) if isinstance(model, SVR) else model.decision_function(X)
    assert_allclose(ours, values, **EXACT)
    clear = np.abs(values) > EXACT["atol"]  # with a linear kernel, all values may be almost 0
    assert_allclose(model.predict(X)[clear], predicted[clear], **EXACT)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rows", [np.asarray, scipy.sparse.csr_array])
def test_libsvm_computes_our_decision_values(rows, kernel, n_classes, X, rng, tmp_path):
    y, T, path = labels_of(X, n_classes, rng), rng.standard_normal((30, 4)), tmp_path / "model"
    model = SVC(C=2, kernel=kernel, gamma=0.3, coef0=1).fit(rows(X), y)
    model.save_libsvm(path)
    assert_same_pairs(pair_values(model, T), libsvm_pair_values(path, T), **EXACT)
    labels, _ = libsvm.Model(path).values(T, n_classes * (n_classes - 1) // 2)
    assert_array_equal(labels, model.predict(T))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("estimator", [SVR(C=2), OneClassSVM(nu=0.3)])
def test_libsvm_computes_our_regressions_and_novelties(estimator, kernel, X, rng, tmp_path):
    T, path = rng.standard_normal((30, 4)), tmp_path / "model"
    model = clone(estimator).set_params(kernel=kernel, gamma=0.3, coef0=1).fit(X, X[:, 0])
    model.save_libsvm(path)
    predicted, values = libsvm.Model(path).values(T, 1)
    assert_same_values(model, T, predicted, values[:, 0])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_svm_predict_agrees(n_classes, X, rng, tmp_path):
    y, T, path = labels_of(X, n_classes, rng), rng.standard_normal((30, 4)), tmp_path / "model"
    model = SVC(C=2).fit(X, y)
    model.save_libsvm(path)
    assert_array_equal(list(map(int, libsvm.predict(tmp_path, path, T))), model.predict(T))
    if n_classes == 2:  # svm-predict writes decision values only of regressions, with six digits
        lines = path.read_text().replace("c_svc", "epsilon_svr").splitlines()
        kept = [line for line in lines if not line.startswith(("label", "nr_sv"))]
        path.write_text("\n".join(kept) + "\n")
        values = np.array(libsvm.predict(tmp_path, path, T), float)
        assert_allclose(values, model.decision_function(T), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("svm_type", ["c_svc", "nu_svc"])
def test_classifiers_of_svm_train(svm_type, kernel, n_classes, X, rng, tmp_path):
    y, T = labels_of(X, n_classes, rng), rng.standard_normal((30, 4))
    options = ["-s", 0, "-c", 2] if svm_type == "c_svc" else ["-s", 1, "-n", 0.2]
    path = libsvm.train(tmp_path, X, y, *options, "-t", KERNELS[kernel], "-g", 0.3, "-r", 1)
    model = hssvm.load_libsvm(path, n_features=4)
    assert isinstance(model, SVC)
    assert_array_equal(model.classes_, np.unique(y))
    ours, theirs = pair_values(model, T), libsvm_pair_values(path, T)
    assert_same_pairs(ours, theirs, **EXACT)
    votes = np.sort(count_votes(model._decision_values(T), n_classes), axis=1)
    untied = votes[:, -1] > votes[:, -2]  # else LIBSVM has the first label of its file
    labels, _ = libsvm.Model(path).values(T, len(theirs))
    assert_array_equal(labels[untied], model.predict(T)[untied])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("svm_type", ["one_class", "epsilon_svr", "nu_svr"])
def test_other_models_of_svm_train(svm_type, kernel, X, rng, tmp_path):
    T = rng.standard_normal((30, 4))
    number = {"one_class": 2, "epsilon_svr": 3, "nu_svr": 4}[svm_type]
    options = ["-s", number, "-n", 0.3, "-t", KERNELS[kernel], "-g", 0.3, "-r", 1]
    path = libsvm.train(tmp_path, X, X[:, 0], *options)
    model = hssvm.load_libsvm(path, n_features=4)
    predicted, values = libsvm.Model(path).values(T, 1)
    assert isinstance(model, OneClassSVM if svm_type == "one_class" else SVR)
    assert_same_values(model, T, predicted, values[:, 0])


def text_of(model, svm_type, gamma):
    """The file of a model of scikit-learn, whose classes are sorted."""
    sign = 1
    lines = [f"svm_type {svm_type}", "kernel_type rbf", f"gamma {gamma}"]
    n_classes = len(getattr(model, "classes_", [0, 0]))
    if svm_type in ("c_svc", "nu_svc"):
        sign = -1 if n_classes == 2 else 1  # the first class is positive in LIBSVM
        lines.append(f"label {' '.join(map(str, model.classes_))}")
        lines.append(f"nr_sv {' '.join(map(str, model.n_support_))}")
    lines += [f"nr_class {n_classes}", f"total_sv {len(model.support_vectors_)}"]
    lines += [f"rho {' '.join(repr(-sign * float(b)) for b in model.intercept_)}", "SV"]
    for row, coef in zip(model.support_vectors_, sign * model.dual_coef_.T, strict=True):
        features = (f"{i}:{float(value)!r}" for i, value in enumerate(row, 1) if value)
        lines.append(" ".join([*map(repr, map(float, coef)), *features]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("svm_type", ["c_svc", "nu_svc"])
def test_classifiers_of_scikit_learn(svm_type, n_classes, X, rng, tmp_path):
    T, path = rng.standard_normal((30, 4)), tmp_path / "model"
    theirs = sklearn.svm.SVC() if svm_type == "c_svc" else sklearn.svm.NuSVC(nu=0.2)
    theirs.set_params(gamma=0.3).fit(X, labels_of(X, n_classes, rng))
    path.write_text(text_of(theirs, svm_type, 0.3))
    ours = hssvm.load_libsvm(path, n_features=4)
    assert_allclose(ours.decision_function(T), theirs.decision_function(T), **EXACT)
    assert_array_equal(ours.predict(T), theirs.predict(T))
    assert_array_equal(ours.n_support_, theirs.n_support_)
    if n_classes > 2:  # of two classes, the rows of the second come first
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, **EXACT)


@pytest.mark.parametrize(
    ("svm_type", "theirs"),
    [
        ("epsilon_svr", sklearn.svm.SVR(gamma=0.3)),
        ("nu_svr", sklearn.svm.NuSVR(gamma=0.3)),
        ("one_class", sklearn.svm.OneClassSVM(gamma=0.3, nu=0.2)),
    ],
)
def test_other_models_of_scikit_learn(svm_type, theirs, X, rng, tmp_path):
    T, path = rng.standard_normal((30, 4)), tmp_path / "model"
    path.write_text(text_of(theirs.fit(X, X[:, 0]), svm_type, 0.3))
    values = theirs.predict(T) if svm_type != "one_class" else theirs.decision_function(T)
    assert_same_values(hssvm.load_libsvm(path, n_features=4), T, theirs.predict(T), values)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(min_value=1e-300, max_value=1e300)


@st.composite
def contents(draw):
    """The content of a file, with any numbers."""
    n_classes = draw(st.sampled_from([0, 2, 3, 4]))
    n_columns, n_pairs = max(n_classes - 1, 1), max(n_classes * (n_classes - 1) // 2, 1)
    n, p = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    kernel = draw(
        st.one_of(
            st.just(Linear()),
            st.builds(Gaussian, POSITIVE),
            st.builds(Polynomial, POSITIVE, st.floats(0, 1e300), st.integers(1, 1000)),
        )
    )
    int32 = st.integers(-(2**31), 2**31 - 1)
    labels = draw(st.lists(int32, min_size=n_classes, max_size=n_classes, unique=True))
    counts = np.bincount(draw(arrays(np.int64, n, elements=st.integers(0, max(n_classes - 1, 0)))),
                         minlength=n_classes)[:n_classes]  # fmt: skip
    return LibsvmModel(
        "c_svc" if n_classes else draw(st.sampled_from(["epsilon_svr", "nu_svr", "one_class"])),
        kernel,
        draw(arrays(np.float64, (n, p), elements=FINITE)),
        draw(arrays(np.float64, (n, n_columns), elements=FINITE)),
        draw(arrays(np.float64, n_pairs, elements=FINITE)),
        np.array(labels, np.int64),
        counts.astype(np.int64),
        draw(arrays(np.float64, (2, n_pairs), elements=FINITE)) if n_classes else None,
    )


@given(content=contents())
def test_files_keep_all_digits(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "model"
    write_libsvm(content, path)
    read = read_libsvm(path, content.X.shape[1])
    assert (read.svm_type, read.kernel) == (content.svm_type, content.kernel)
    X = read.X.toarray() if scipy.sparse.issparse(read.X) else read.X
    assert_array_equal(X, content.X)
    for name in ("coef", "rho", "labels", "counts"):
        assert_array_equal(getattr(read, name), getattr(content, name))
    if content.sigmoids is not None:
        assert_array_equal(read.sigmoids, content.sigmoids)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_from_and_to_libsvm_and_back(n_classes, X, rng, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    model = SVC(C=2).fit(X, labels_of(X, n_classes, rng))
    model.save_libsvm(first)
    loaded = hssvm.load_libsvm(first)
    loaded.save_libsvm(second)
    assert first.read_bytes() == second.read_bytes()
    assert_array_equal(loaded.n_support_, model.n_support_)
    assert_array_equal(loaded.classes_, model.classes_)
    assert_allclose(loaded.decision_function(X), model.decision_function(X), **EXACT)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_vs_one_on_the_compressed_kernel(dtype, X, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    y, path = labels_of(X, 4, rng), tmp_path / "model"
    model = SVC(
        multi_class="ovo", approximation=HSS(leaf_size=20, n_trees=1), tol=1e-2, random_state=0
    )
    model.fit(X.astype(dtype), y)
    with pytest.raises(ValueError, match=r"LIBSVM needs .* the exact kernel.*refine=True"):
        model.save_libsvm(path)
    model.set_params(prediction="exact").save_libsvm(path)
    precision = EXACT if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-4}
    assert_same_pairs(pair_values(model, X), pair_values(hssvm.load_libsvm(path), X), **precision)


@pytest.mark.parametrize("approximation", [HSS(n_trees=2, leaf_size=20), Cells(size=20)])
def test_approximations_are_refused(approximation, X, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    model = SVC(approximation=approximation, tol=1e-2, random_state=0).fit(X, labels_of(X, 2, rng))
    with pytest.raises(ValueError, match=r"with an approximation; fit with refine=True"):
        model.save_libsvm(tmp_path / "model")
    model.save(tmp_path / "saved")
    with pytest.raises(ValueError, match=r"with an approximation; fit with refine=True"):
        hssvm.load(tmp_path / "saved").save_libsvm(tmp_path / "model")


@pytest.mark.parametrize(
    ("model", "n_classes", "message"),
    [
        (SVC(kernel="matern32"), 2, "does not have the kernel Matern32.*kernel='rbf'"),
        (SVC(kernel=lambda A, B: A @ B.T), 2, "does not have the kernel"),
        (SVC(multi_class="ovr"), 3, "one-vs-rest; fit with multi_class='ovo'"),
        (SVC(scaling="standard"), 2, "pass range_path"),
        (SVC(scaling="minmax"), 3, "pass range_path"),
        (SVC(scaling="quantiles"), 2, "quantiles of the features; fit with scaling='standard'"),
    ],
)
def test_what_libsvm_cannot_express_is_refused(model, n_classes, message, X, rng, tmp_path):
    model.fit(X, labels_of(X, n_classes, rng))
    with pytest.raises(ValueError, match=message):
        model.save_libsvm(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("labels", [["in", "out"], [0, 2**31], [0.5, 1.5], [-1e20, 1e20]])
def test_labels_that_libsvm_does_not_have(labels, X, tmp_path):
    model = SVC().fit(X, X[:, 0] > 0)
    model.classes_ = np.array(labels)
    with pytest.raises(ValueError, match="replace them by integers"):
        model.save_libsvm(tmp_path / "model")


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32, np.float64])
def test_labels_that_libsvm_has(dtype, X, tmp_path):
    SVC().fit(X, (X[:, 0] > 0).astype(dtype)).save_libsvm(tmp_path / "model")
    assert "\nlabel 1 0\n" in (tmp_path / "model").read_text()


def test_unsorted_rows_and_numpy_parameters(X, tmp_path):
    sorted_rows = scipy.sparse.csr_array(X)
    order = np.lexsort([-sorted_rows.indices, sorted_rows.nonzero()[0]])
    parts = sorted_rows.data[order], sorted_rows.indices[order], sorted_rows.indptr
    model = SVR(kernel="poly", gamma=np.float32(0.5), coef0=np.float64(1), degree=np.int64(2))
    model.fit(scipy.sparse.csr_array(parts, X.shape), X[:, 0])
    model.save_libsvm(tmp_path / "model")
    loaded = hssvm.load_libsvm(tmp_path / "model", n_features=4)
    assert loaded.kernel_ == Polynomial(0.5, 1.0, 2)
    assert_allclose(loaded.predict(X), model.predict(X), **EXACT)


def test_a_search_is_saved_like_its_model(X, rng, tmp_path):
    y, path = labels_of(X, 2, rng), tmp_path / "model"
    search = SVCCV(Cs=[1.0, 10.0], gammas=[0.3], cv=2, scaling=None, random_state=0).fit(X, y)
    search.save_libsvm(path)
    loaded = hssvm.load_libsvm(path)
    assert type(loaded) is SVC
    assert_allclose(loaded.decision_function(X), search.decision_function(X), **EXACT)


@pytest.mark.parametrize("method", ["sigmoid", "temperature"])
def test_probabilities_of_two_classes(method, X, rng, tmp_path):
    if method == "temperature":
        pytest.importorskip("sklearn", minversion="1.8")
    y, path = labels_of(X, 2, rng), tmp_path / "model"
    model = SVC(probability=method, random_state=0).fit(X, y)
    model.save_libsvm(path)
    loaded = hssvm.load_libsvm(path)
    assert_allclose(loaded.predict_proba(X), model.predict_proba(X), **EXACT)
    # LIBSVM 3.24 computes them by an iteration that stops at 0.0025
    _, theirs = libsvm.Model(path).probabilities(X)
    assert_allclose(theirs[:, ::-1], model.predict_proba(X), atol=5e-3)


@pytest.mark.parametrize("first", [-1, 1])
def test_probabilities_of_svm_train(first, X, tmp_path):
    y = np.where(X[:, 0] > 0, 7, 2)
    rows = np.argsort(first * y, kind="stable")  # the first label is positive
    path = libsvm.train(tmp_path, X[rows], y[rows], "-b", 1)
    assert f"\nlabel {'2 7' if first == 1 else '7 2'}\n" in path.read_text()
    ours = hssvm.load_libsvm(path, n_features=4).predict_proba(X)
    _, theirs = libsvm.Model(path).probabilities(X)
    assert_allclose(ours, theirs if first == 1 else theirs[:, ::-1], atol=5e-3)


def test_probabilities_that_are_left_out(X, rng, tmp_path):
    y, path = labels_of(X, 3, rng), tmp_path / "model"
    model = SVC(probability="sigmoid", random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="probabilities are left out"):
        model.save_libsvm(path)
    assert "probA" not in path.read_text()
    path = libsvm.train(tmp_path, X, y, "-b", 1)
    with pytest.warns(UserWarning, match="are left out"):
        loaded = hssvm.load_libsvm(path)
    assert not hasattr(loaded, "predict_proba")
    regression = libsvm.train(tmp_path, X, X[:, 0], "-b", 1, "-s", 3)
    assert "probA" in regression.read_text()
    hssvm.load_libsvm(regression)


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
@pytest.mark.parametrize("rows", [np.asarray, scipy.sparse.csr_array])
def test_scaling_in_a_range_file(rows, scaling, X, rng, tmp_path):
    X = X * [1, 10, 1e3, 0.1] + (5 if rows is np.asarray else 0)
    y, path, ranges = labels_of(X, 2, rng), tmp_path / "model", tmp_path / "range"
    model = SVC(C=2, scaling=scaling).fit(rows(X), y)
    model.save_libsvm(path, range_path=ranges)
    lines = ranges.read_text().splitlines()
    assert lines[:2] == ["x", "0 1"]
    index, low, high = np.array([line.split() for line in lines[2:]], float).T
    assert_array_equal(index, [1, 2, 3, 4])
    scaled = (X - low) / (high - low)
    loaded = hssvm.load_libsvm(path, n_features=4)
    assert_allclose(loaded.decision_function(scaled), model.decision_function(rows(X)), **EXACT)
    with pytest.raises(ValueError, match="leave out range_path"):
        loaded.save_libsvm(path, range_path=ranges)


def test_svm_scale_reads_the_range_file(X, rng, tmp_path):
    X = X * [1, 10, 1e3, 0.1] + 5
    model = SVC(scaling="standard").fit(X, labels_of(X, 2, rng))
    path, ranges, data = tmp_path / "model", tmp_path / "range", tmp_path / "data"
    model.save_libsvm(path, range_path=ranges)
    data.write_text("".join(f"0 {' '.join(f'{i}:{v!r}' for i, v in enumerate(row, 1))}\n"
                            for row in X.tolist()))  # fmt: skip
    (tmp_path / "scaled").write_text(libsvm.run("svm-scale", "-r", ranges, data))
    rows, _ = hssvm.io.load_data(tmp_path / "scaled", format="libsvm", n_features=4, dtype=float)
    values = hssvm.load_libsvm(path, n_features=4).decision_function(rows)
    assert_allclose(values, model.decision_function(X), atol=1e-3)  # svm-scale writes six digits


def test_a_loaded_model_is_like_any_other(X, rng, tmp_path):
    y = labels_of(X, 3, rng)
    SVC(C=2, gamma=0.3).fit(X, y).save_libsvm(tmp_path / "libsvm")
    model = hssvm.load_libsvm(tmp_path / "libsvm")
    assert (model.kernel, model.gamma, model.kernel_) == ("rbf", 0.3, Gaussian(0.3))
    assert "unknown" in model.summary() and "LIBSVM" in model.summary()
    assert np.isnan(model.fit_report_.gap).all()
    assert not hasattr(model, "support_")
    model.save(tmp_path / "saved")
    for other in (hssvm.load(tmp_path / "saved"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert other.summary() == model.summary()
    with pytest.raises(ValueError, match="models from LIBSVM files"):
        model.certify(X, y)
    again = clone(model).fit(X, y)
    model.set_params(warm_start=True).fit(X, y)
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-2)
    assert hasattr(model, "support_")


def test_a_libsvm_model_is_not_loaded_as_another(X, tmp_path):
    SVR().fit(X, X[:, 0]).save_libsvm(tmp_path / "model")
    with pytest.raises(ValueError, match=r"is a LIBSVM model; load it with hssvm\.load_libsvm"):
        hssvm.load(tmp_path / "model")


def test_a_model_without_support_vectors(X, tmp_path):
    model, path = SVR(epsilon=100).fit(X, X[:, 0]), tmp_path / "model"
    model.save_libsvm(path)
    with pytest.raises(ValueError, match="pass n_features"):
        hssvm.load_libsvm(path)
    loaded = hssvm.load_libsvm(path, n_features=4)
    assert_array_equal(loaded.predict(X), model.predict(X))


TWO = """svm_type c_svc
kernel_type polynomial
degree 2
gamma 0.5
coef0 1
nr_class 2
total_sv 3
rho 0.25
label 7 -1
probA -2.5
probB 0.1
nr_sv 1 2
SV
1 1:0.5 3:2
-0.75 2:-1
-0.25
"""

THREE = """svm_type nu_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 3
rho 0.25 1 -1
label 3 1 2
nr_sv 1 1 1
SV
1 -0.5 1:0.5 3:2
-0.75 1e-3 2:-1
-0.25 +2
"""


@pytest.fixture
def file(tmp_path):
    """A function that writes a text, and returns the path."""

    def write(text):
        (tmp_path / "model").write_text(text)
        return tmp_path / "model"

    return write


def test_the_number_of_features(file):
    assert hssvm.load_libsvm(file(TWO)).n_features_in_ == 3
    assert hssvm.load_libsvm(file(TWO), n_features=10**6).n_features_in_ == 10**6
    for wrong in (2, 0, -1, 2**31):
        with pytest.raises(ValueError, match=f"n_features must be at least 3.*got {wrong}"):
            hssvm.load_libsvm(file(TWO), n_features=wrong)


def test_entries_that_are_not_needed(file):
    lines = ["svm_type one_class", "kernel_type linear", "nr_class 2", "total_sv 1", "rho 0.5"]
    lines += [f"prob_density_marks {'0.1 ' * 10}", "SV", "1 2:3"]  # since LIBSVM 3.31
    model = hssvm.load_libsvm(file("\n".join(lines)))
    assert_array_equal(model.decision_function([[0, 1], [1, 0]]), [2.5, -0.5])


def test_windows_line_ends_and_blank_lines(file):
    model = hssvm.load_libsvm(file(TWO.replace("\n", "\r\n") + "\n\n"))
    assert_array_equal(model.classes_, [-1, 7])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("svm_type c_svc", "svm_type svc", "line 1: svm_type is 'svc'"),
        ("polynomial", "sigmoid", "line 2: kernel_type is 'sigmoid'; hssvm has linear"),
        ("polynomial", "precomputed", "line 2: kernel_type is 'precomputed'"),
        ("degree 2", "degree 2.5", "line 3: degree has '2.5'; write integers"),
        ("degree 2", "degree 0", "line 2: kernel_type is polynomial, but degree"),
        ("degree 2", "degree 2000", "degree of its kernel is above 1000"),
        ("gamma 0.5", "gamma -1", "line 2: kernel_type is polynomial, but gamma"),
        ("gamma 0.5", "gamma 0,5", "line 4: gamma has '0,5'; write numbers"),
        ("gamma 0.5", "gamma nan", "line 4: gamma has 'nan'"),
        ("gamma 0.5", "gamma 1_0", "line 4: gamma has '1_0'"),
        ("gamma 0.5\n", "", "line 12: the header ends without gamma"),
        ("coef0 1", "coef0 -1", "but coef0 must be at least 0"),
        ("nr_class 2", "nr_class 3", "line 9: label has 2 labels, but nr_class is 3"),
        ("nr_class 2", "nr_class 99999999999", "line 6: nr_class has '99999999999'"),
        ("nr_class 2\n", "", "line 12: the header ends without nr_class"),
        ("total_sv 3", "total_sv 4", "line 12: nr_sv has 3 vectors, total_sv is 4"),
        ("rho 0.25", "rho 0.25 1", "line 8: rho has 2 values instead of 1"),
        ("label 7 -1", "label 7 7", "line 9: label has the same label twice"),
        ("label 7 -1", "label a b", "line 9: label has 'a'; write integers"),
        ("label 7 -1", "label 7 3000000000", "line 9: label has '3000000000'"),
        ("probA -2.5\n", "probA\n", "line 10: probA has 0 values instead of 1"),
        ("probB 0.1\n", "", "line 12: the header ends without probB"),
        ("nr_sv 1 2", "nr_sv 4 -1", "line 12: nr_sv has negative numbers"),
        ("rho 0.25", "rho 0.25\nrho 0.25", "line 9: a second rho"),
        ("rho 0.25", "roh 0.25", "line 8: 'roh' is not an entry"),
        ("SV\n", "", "line 13: '1' is not an entry"),
        ("1 1:0.5 3:2", "1:0.5 3:2", "line 14: .* its coefficient, but '1:0.5' is not a finite"),
        ("1 1:0.5 3:2", "inf 1:0.5 3:2", "line 14: .* its coefficient, but 'inf' is not a finite"),
        ("2:-1", "2:x", "line 15: '2:x' is not index:value"),
        ("2:-1", "0:1", "line 15: index 0"),
        ("1:0.5 3:2", "3:0.5 1:2", "line 14: index 1 after 3"),
        ("-0.25\n", "", "line 15: the last support vector is number 2, but total_sv is 3"),
        ("-0.25\n", "-0.25\n1 2:3\n", "line 17: the last support vector is number 4"),
    ],
)
def test_malformed_files_name_the_line(old, new, message, file):
    path = file(TWO)
    hssvm.load_libsvm(path)
    assert TWO.count(old) == 1
    file(TWO.replace(old, new))
    with pytest.raises(ValueError, match=message) as caught:
        hssvm.load_libsvm(path)
    assert str(caught.value).startswith(str(path))


def test_other_malformed_files(file):
    with pytest.raises(ValueError, match=r"line 12: .* its 2 coefficients, but there are only 1"):
        hssvm.load_libsvm(file(THREE.replace("-0.25 +2", "-0.25")))
    one = "svm_type c_svc\nkernel_type linear\nnr_class 1\ntotal_sv 0\nrho\nlabel 1\nnr_sv 0\nSV\n"
    with pytest.raises(ValueError, match="line 3: nr_class is below 2"):
        hssvm.load_libsvm(file(one))
    with pytest.raises(ValueError, match="line 1: the file ends before SV"):
        hssvm.load_libsvm(file(""))
    with pytest.raises(FileNotFoundError):
        hssvm.load_libsvm(file("").with_name("other"))


@pytest.mark.parametrize("change", [bytes_changed, words_changed, lines_changed])
@pytest.mark.parametrize("text", [TWO, THREE], ids=["two", "three"])
def test_mutants(text, change, file, rng):
    path, n_loaded = file(text), 0
    for _ in range(1200):  # of those with other bytes, about one in 70 can be loaded
        overwrite(path, change(text.encode(), rng))
        n_loaded += model_outcome(path, hssvm.load_libsvm) == "loaded"
    assert 0 < n_loaded < 1200
