"""Exported models against the models themselves, for all kinds of them."""

import runpy
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hssvm import (
    HSS,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    Cells,
    CensoredSVR,
    GaussianProcessRegressor,
    KernelRidge,
    OneClassSVM,
    QuantileSVR,
    QuantileSVRCV,
    kernels,
)


@pytest.fixture(autouse=True)
def small_data_has_leaves(monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    best = "hssvm.model_selection.selection.choose_members"
    monkeypatch.setattr(best, lambda ranked, scores, score, count: ranked[:count])


def leaves(n_trees):
    approximation = HSS(n_trees, leaf_size=64, max_rank=32)
    return {"approximation": approximation, "random_state": 0}


def cells(n_trees):
    return {"approximation": Cells(size=100, n_trees=n_trees), "random_state": 0}


def mean_of(kind, **parameters):
    kernels, scalings = ["rbf", "exponential", "laplacian"], ["standard", "minmax"]
    given = {"Cs": [1.0], "gammas": [0.3], "cv": 3, "random_state": 0, "max_members": 3}
    return kind(kernel=kernels, scaling=scalings, **given | parameters)


REGRESSIONS = (
    SVR,
    SVRCV,
    QuantileSVR,
    QuantileSVRCV,
    CensoredSVR,
    KernelRidge,
    GaussianProcessRegressor,
)
NAMES = np.array(["ant", "bee", "cat"])

MODELS = {
    "exact": SVC(random_state=0),
    "scaled": SVC(scaling="standard"),
    "quantiles": SVC(scaling="quantiles"),
    "learned quantiles": SVR(scaling="learned-quantiles", random_state=0),
    "quantiles, cells": SVC(scaling="quantiles", **cells(2)),
    "one tree": SVC(**leaves(1)),
    "forest": SVC(**leaves(3)),
    "one-vs-one": SVC(multi_class="ovo"),
    "one-vs-rest": SVC(multi_class="ovr"),
    "one-vs-one, compressed": SVC(multi_class="ovo", **leaves(2)),
    "sigmoid": SVC(probability="sigmoid", random_state=0),
    "isotonic": SVC(probability="isotonic", random_state=0),
    "isotonic, three classes": SVC(probability="isotonic", random_state=0),
    "sigmoid, three classes": SVC(probability="sigmoid", **leaves(2)),
    "searched": SVCCV(Cs=[1.0], gammas=[0.2], cv=3, random_state=0),
    "mean": mean_of(SVCCV, probability="sigmoid"),
    "mean, three classes": mean_of(SVCCV, probability="isotonic"),
    "mean, one-vs-rest": mean_of(SVCCV, multi_class="ovr"),
    "mean of forests": mean_of(SVCCV, **leaves(2)),
    "mean of regressions": mean_of(SVRCV),
    "regression": SVR(),
    "regression, forest": SVR(**leaves(2)),
    "several targets": SVR(C=10),
    "several targets, cells": SVR(**cells(2)),
    "quantile": QuantileSVR(quantile=0.2),
    "quantiles of y": QuantileSVR(quantile=[0.9, 0.1, 0.5], C=1e3, gamma=5.0),
    "quantiles of y, cells": QuantileSVR(quantile=[0.8], **cells(2)),
    "quantiles of y, mean": mean_of(QuantileSVRCV, quantile=[0.9, 0.2]),
    "censored": CensoredSVR(),
    "ridge": KernelRidge(),
    "process": GaussianProcessRegressor(),
    "novelty": OneClassSVM(nu=0.2),
    "novelty, forest": OneClassSVM(nu=0.2, **leaves(2)),
    "linear": SVC(kernel="linear"),
    "polynomial": SVC(kernel="poly", coef0=1.0, degree=2),
    "polynomial, forest": SVC(kernel="poly", coef0=1.0, degree=2, **leaves(2)),
    "exponential": SVC(kernel=kernels.Exponential(0.3)),
    "laplacian": SVC(kernel=kernels.Laplacian(0.3)),
    "laplacian, sparse": SVC(kernel=kernels.Laplacian(0.3)),
    "laplacian, forest": SVC(kernel=kernels.Laplacian(0.3), **leaves(2)),
    "matern32": SVC(kernel=kernels.Matern32(0.3)),
    "matern52, forest": SVC(kernel=kernels.Matern52(0.3), **leaves(2)),
    "sparse": SVC(),
    "sparse, forest": SVC(**leaves(2)),
    "one tree of cells": SVC(**cells(1)),
    "cells": SVC(**cells(3)),
    "scaled, cells": SVC(scaling="minmax", **cells(2)),
    "one-vs-one, cells": SVC(multi_class="ovo", **cells(2)),
    "one-vs-rest, cells": SVC(multi_class="ovr", **cells(2)),
    "isotonic, cells": SVC(probability="isotonic", **cells(2)),
    "sigmoid, three classes, cells": SVC(probability="sigmoid", **cells(2)),
    "searched, cells": SVCCV(Cs=[1.0], gammas=[0.2], cv=3, **cells(2)),
    "regression, cells": SVR(**cells(2)),
    "linear, cells": SVC(kernel="linear", **cells(2)),
    "polynomial, cells": SVC(kernel="poly", coef0=1.0, degree=2, **cells(2)),
    "exponential, cells": SVC(kernel="exponential", **cells(2)),
    "laplacian, cells": SVC(kernel="laplacian", **cells(2)),
    "matern32, cells": SVC(kernel="matern32", **cells(2)),
    "matern52, cells": SVC(kernel="matern52", **cells(2)),
    "sparse, cells": SVC(**cells(2)),
}


def fitted(kind, rng, dtype=np.float64):
    n_classes = 3 if "three" in kind or "one-vs" in kind else 2
    X, y = noisy_classes(rng, 400, n_classes, dtype)
    labels = NAMES[y]
    if isinstance(MODELS[kind], REGRESSIONS):
        labels = np.sin(X[:, 0]) + X[:, 1]
    if "several" in kind:
        labels = np.column_stack([labels, 2 - X[:, 0]])
    rows = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0)) if "sparse" in kind else X
    T = rng.standard_normal((200, X.shape[1])).astype(dtype)
    model = clone(MODELS[kind]).fit(rows, labels)
    approximation = model.approximation
    assert len(model._averaged) == (3 if "mean" in kind else 1)
    for member in model._averaged:
        assert (member._predictor().n_leaves > 1) == (approximation is not None)
        if approximation is not None:
            assert member.fit_report_.n_trees == approximation.n_trees
            assert (member.fit_report_.n_cells > 0) == isinstance(approximation, Cells)
    return model, T


def decisions(model, T):
    return model.predict(T) if isinstance(model, REGRESSIONS) else model.decision_function(T)


def proba(model, T):
    return model.predict_proba(T) if hasattr(model, "predict_proba") else None


def same_labels(found, model, T):
    """Except where rounding decides."""
    certain = np.ones(len(T), bool)
    values = decisions(model, T)
    if values.ndim == 1:
        certain = np.abs(values) > 1e-4
    assert_array_equal(found[certain], model.predict(T)[certain])


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numpy_file(kind, dtype, rng, tmp_path):
    model, T = fitted(kind, rng, dtype)
    model.save_numpy(tmp_path / "exported.py")
    exported = runpy.run_path(str(tmp_path / "exported.py"))
    atol = 1e-10 if dtype == np.float64 else 2e-3
    assert_allclose(exported["decision_function"](T), decisions(model, T), rtol=atol, atol=atol)
    if isinstance(model, REGRESSIONS):
        assert_array_equal(exported["predict"](T), exported["decision_function"](T))
    else:
        same_labels(exported["predict"](T), model, T)
    if proba(model, T) is not None and dtype == np.float64:  # isotonic curves jump
        assert_allclose(exported["predict_proba"](T), proba(model, T), atol=atol)


@pytest.mark.parametrize("kind", MODELS)
def test_onnx(kind, rng):
    model, T = fitted(kind, rng)
    found = run_onnx(model, T)
    if isinstance(model, REGRESSIONS):
        assert_allclose(found["variable"], decisions(model, T), atol=1e-8)
        return
    assert_allclose(found["scores"], decisions(model, T), atol=1e-8)
    same_labels(found["label"], model, T)
    assert ("probabilities" in found) == (proba(model, T) is not None)
    if "probabilities" in found:
        assert_allclose(found["probabilities"], proba(model, T), atol=1e-8)


def run_onnx(model, T):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    content = skl2onnx.to_onnx(model, T[:1]).SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": T}), strict=True))


@pytest.mark.parametrize("labels", [[3, 7], [1.0, 3.0], [False, True]])
def test_labels_that_are_numbers(labels, rng, tmp_path):
    X, y = noisy_classes(rng, 300)
    model = SVC().fit(X, np.array(labels)[y])
    model.save_numpy(tmp_path / "exported.py")
    exported = runpy.run_path(str(tmp_path / "exported.py"))
    assert_array_equal(exported["predict"](X), model.predict(X))
    assert_array_equal(run_onnx(model, X)["label"], model.predict(X))


def test_onnx_of_a_pipeline_in_float32(rng):
    X, y = noisy_classes(rng, 2100, dtype=np.float32)
    model = make_pipeline(StandardScaler(), SVC(**leaves(2))).fit(7 * X + 3, y)
    T = X + 5
    found = run_onnx(model, T)
    assert_allclose(found["scores"], model.decision_function(T), atol=1e-4)


def test_constants_and_limits_of_cells(rng, tmp_path):
    X, y = noisy_classes(rng, 800)
    X[:, 0] += 6 * y * (rng.random(800) < 0.6)  # some cells have one class
    model = SVC(kernel="linear", **cells(2)).fit(X, y)
    assert any(np.any(np.diff(tree.ends) == 0) for tree in model._compressed.trees)
    T = np.vstack([X, 30 * X])
    assert np.abs(model.decision_function(T)).max() == 3
    model.save_numpy(tmp_path / "exported.py")
    exported = runpy.run_path(str(tmp_path / "exported.py"))
    assert_allclose(exported["decision_function"](T), model.decision_function(T), atol=1e-6)
    assert_allclose(run_onnx(model, T)["scores"], model.decision_function(T), atol=1e-6)


@pytest.mark.parametrize("kind", ["forest", "cells"])
def test_an_exported_file_needs_only_numpy(kind, rng, tmp_path):
    model, T = fitted(kind, rng)
    model.save_numpy(tmp_path / "exported.py")
    np.save(tmp_path / "T.npy", T)
    code = (
        "import sys, numpy as np; from exported import predict\n"
        "print(*predict(np.load('T.npy')))\n"
        "print(*({'hssvm', 'scipy', 'sklearn'} & sys.modules.keys()))"
    )
    out = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
    labels, modules = out.split("\n")[:2]
    assert labels.split() == model.predict(T).tolist()
    assert modules == ""


NASTY_NAMES = [
    '"""+__import__("os").mkdir("run")+"""', "'''+__import__('os').mkdir('run')+'''", '"', '"""',
    "\\x", "\\N{", "\\", "\\u12", "{name}", "{0}", "two\nlines", "\n\nimport os; os.mkdir('run')\n",
    "%s", "Grüße", "データ", "class", "a b", "-", "\udcff",
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="file names cannot have these characters")
@pytest.mark.parametrize("name", NASTY_NAMES, ids=map(ascii, NASTY_NAMES))
def test_file_names_are_not_code(name, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = noisy_classes(rng, 100)
    model = SVC().fit(X, y)
    path = tmp_path / f"{name}.py"
    model.save_numpy(path)
    exported = runpy.run_path(str(path))
    assert_array_equal(exported["predict"](X), model.predict(X))
    assert list(tmp_path.iterdir()) == [path]


def test_labels_that_onnx_cannot_express(rng, tmp_path):
    X, y = noisy_classes(rng, 300)
    model = SVC().fit(X, np.array([2**63 - 1, 2**63 + 5], np.uint64)[y])
    with pytest.raises(ValueError, match=r"2\*\*63.* convert the labels to strings"):
        run_onnx(model, X)
    model.save_numpy(tmp_path / "exported.py")
    exported = runpy.run_path(str(tmp_path / "exported.py"))
    assert_array_equal(exported["predict"](X), model.predict(X))
    fits = SVC().fit(X, np.array([3, 2**63 - 1], np.uint64)[y])
    assert_array_equal(run_onnx(fits, X)["label"], fits.predict(X))


def test_number_labels_are_not_rounded_to_float32(rng):
    X, y = noisy_classes(rng, 300, dtype=np.float32)
    model = SVC().fit(X, np.array([2.0**24, 2.0**24 + 1])[y])
    same_labels(run_onnx(model, X)["label"], model, X)


def test_labels_that_arrays_would_change(rng, tmp_path):
    """NumPy drops trailing NULs of strings, so that these labels would become equal."""
    X, y = noisy_classes(rng, 300)
    model = SVC().fit(X, np.array(["a", "a\0"], dtype=object)[y])
    with pytest.raises(ValueError, match=r"NUL.* convert the labels"):
        model.save_numpy(tmp_path / "exported.py")
    with pytest.raises(ValueError, match=r"NUL.* convert the labels"):
        run_onnx(model, X)


def test_what_cannot_be_exported(rng, tmp_path):
    X, y = noisy_classes(rng, 300)
    model = SVC(kernel=kernels.Cosine()).fit(X, y)
    with pytest.raises(ValueError, match="fit with one of Gaussian, Laplacian"):
        model.save_numpy(tmp_path / "exported.py")
    assert not list(tmp_path.iterdir())
    exact = SVC().fit(X, y)
    exact.save_numpy(tmp_path / "exported.py")
    exported = runpy.run_path(str(tmp_path / "exported.py"))
    for wrong in (X[:, 1:], X[0], X * np.nan):
        with pytest.raises(ValueError, match="X "):
            exported["predict"](wrong)
    with pytest.raises(ValueError, match="fit it with probability='sigmoid'"):
        exported["predict_proba"](X)
