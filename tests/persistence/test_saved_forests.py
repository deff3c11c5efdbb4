"""Files of forests, and what is refused of them."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from helpers.mutants import arrays_changed, document_changed
from helpers.stops import stopped_in_tree
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import hssvm
from hssvm import HSS, SVC, SVR, Cells, OneClassSVM
from hssvm.persistence.archive import Archive, write

N = 80
APPROXIMATIONS = {
    "compressed": HSS(n_trees=3, leaf_size=20, max_rank=4),
    "cells": Cells(size=20, n_trees=3),
}


@pytest.fixture(autouse=True)
def small_data_has_leaves(monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((N, 3))
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.fixture(params=APPROXIMATIONS)
def parameters(request):
    approximation = APPROXIMATIONS[request.param]
    return {"approximation": approximation, "tol": 0.1, "random_state": 0}


@pytest.fixture
def stopped(rows, parameters, tmp_path):
    """The path of a model with two of three trees."""
    model = SVC(warm_start=True, **parameters)
    expected = pytest.warns(ConvergenceWarning, match="before all trees were trained")
    cells = isinstance(model.approximation, Cells)
    with stopped_in_tree(2, in_solver=False, cells=cells), expected:
        model.fit(*rows)
    assert model.fit_report_.n_trees == 2
    model.save(tmp_path / "model")
    return tmp_path / "model"


def unpacked(path):
    with path.open("rb") as file:
        archive = Archive(file)
        return archive.document(), archive.arrays()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM])
def test_forests_come_back(make, dtype, sparse, parameters, rng, rows, tmp_path):
    if make is OneClassSVM and isinstance(parameters["approximation"], Cells):
        pytest.skip("novelty detection has no cells")
    X, y = rows
    X = X.astype(dtype)
    X = scipy.sparse.csr_array(X) if sparse else X
    model = make(**parameters).fit(X, y)
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    new = rng.standard_normal((50, 3)).astype(dtype)
    assert_array_equal(loaded._decision_values(new), model._decision_values(new))
    assert_array_equal(loaded._compressed.decisions(new), model._compressed.decisions(new))
    assert loaded.summary() == model.summary()
    assert loaded._compressed.ids is None
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_forest_that_is_complete_stores_no_coefficients(parameters, rows, tmp_path):
    SVC(**parameters).fit(*rows).save(tmp_path / "model")
    document, arrays = unpacked(tmp_path / "model")
    assert document["forest"] is None
    assert not {"support", "dual_coef", "ids"} & set(arrays)


def put(array, at, value):
    array = array.copy()
    array[at] = value
    return array


DAMAGE = {
    "rows": {
        "negative": lambda a: put(a, 3, -1),
        "beyond": lambda a: put(a, -1, N),
        "too few": lambda a: a[:-1],
        "too many": lambda a: np.concatenate([a, a[:1]]),
        "two-dimensional": lambda a: a[None],
        "floats": lambda a: a.astype(np.float64),
    },
    "ends": {
        "negative": lambda a: put(a, (0, 1), -1),
        "beyond": lambda a: put(a, (1, -1), a[1, -1] + 1),
        "huge": lambda a: put(a, (0, -1), 2**62),
        "not from 0": lambda a: put(a, (1, 0), 1),
        "decreasing": lambda a: put(a, (0, 1), a[0, -1] + 1),
        "of one tree": lambda a: a[:1],
        "of three trees": lambda a: a[[0, 1, 1]],
        "of no tree": lambda a: a[:0],
        "of more leaves": lambda a: np.column_stack([a, a[:, -1]]),
        "one-dimensional": lambda a: a[0],
        "int32": lambda a: a.astype(np.int32),
    },
    "intercepts": {
        "nan": lambda a: put(a, (1, 0), np.nan),
        "infinite": lambda a: put(a, (0, 1), np.inf),
        "of one tree": lambda a: a[:1],
        "of two classes": lambda a: a[:, :2],
        "one-dimensional": lambda a: a[0],
        "float32": lambda a: a.astype(np.float32),
    },
    "ids": {
        "negative": lambda a: put(a, 0, -1),
        "beyond": lambda a: put(a, -1, N),
        "huge": lambda a: put(a, -1, 2**62),
        "twice": lambda a: put(a, 0, a[1]),
        "too few": lambda a: a[:-1],
        "int32": lambda a: a.astype(np.int32),
    },
    "directions": {
        "of one tree": lambda a: a[:1],
        "of fewer cuts": lambda a: a[:, 1:],
        "of two features": lambda a: np.ascontiguousarray(a[:, :, :2]),
        "float32": lambda a: a.astype(np.float32),
    },
    "thresholds": {
        "of one tree": lambda a: a[:1],
        "of fewer cuts": lambda a: a[:, 1:],
        "one-dimensional": lambda a: a[0],
    },
    "W": {
        "nan": lambda a: put(a, (0, 0), np.nan),
        "too few": lambda a: a[:-1],
        "of two classes": lambda a: np.ascontiguousarray(a[:, :2]),
    },
    "dual_coef": {
        "infinite": lambda a: put(a, (0, 0), np.inf),
        "of two classes": lambda a: a[:2],
    },
    "support": {
        "beyond": lambda a: put(a, -1, N),
        "negative": lambda a: put(a, 0, -1),
    },
    "constants": {
        "nan": lambda a: put(a, (1, 0, 0), np.nan),
        "infinite": lambda a: put(a, (0, -1, 2), -np.inf),
        "of one tree": lambda a: a[:1],
        "of fewer leaves": lambda a: np.ascontiguousarray(a[:, 1:]),
        "of two classes": lambda a: np.ascontiguousarray(a[:, :, :2]),
        "two-dimensional": lambda a: a[0],
        "float32": lambda a: a.astype(np.float32),
    },
    "clip": {
        "nan": lambda a: put(a, 0, np.nan),
        "zero": lambda a: put(a, 0, 0.0),
        "negative": lambda a: put(a, 0, -3.0),
        "two": lambda a: np.repeat(a, 2),
        "none": lambda a: a[:0],
        "two-dimensional": lambda a: a[None],
        "float32": lambda a: a.astype(np.float32),
    },
}


def for_each_kind(names, cases):
    """Parametrize a test with the kind of the forest; only cells have constants and limits."""
    every = [
        (kind, *case)
        for kind in APPROXIMATIONS
        for case in cases
        if kind == "cells" or case[0] not in ("constants", "clip")
    ]
    return pytest.mark.parametrize(("parameters", *names), every, indirect=["parameters"])


@for_each_kind(
    ("name", "damage"), [(name, each) for name, kinds in DAMAGE.items() for each in kinds]
)
def test_arrays_out_of_range_are_refused(name, damage, stopped):
    document, arrays = unpacked(stopped)
    arrays[name] = DAMAGE[name][damage](arrays[name])
    write(stopped, document, arrays)
    with pytest.raises(ValueError, match="model is corrupted, or not a model"):
        hssvm.load(stopped)


NEEDED = "rows", "ends", "intercepts", "directions", "thresholds", "constants", "clip"


@for_each_kind(("name",), [(name,) for name in NEEDED])
def test_arrays_that_are_missing_are_refused(name, stopped):
    document, arrays = unpacked(stopped)
    del arrays[name]
    write(stopped, document, arrays)
    with pytest.raises(ValueError, match="model is corrupted, or not a model"):
        hssvm.load(stopped)


@pytest.mark.parametrize(
    "forest",
    [
        {"fingerprint": -1, "seed": 0}, {"fingerprint": 1, "seed": 2**70},
        {"fingerprint": 1.5, "seed": 0}, {"fingerprint": "1", "seed": 0},
        {"fingerprint": True, "seed": 0}, {"seed": 0}, [1, 2], "forest", 7,
    ],
)  # fmt: skip
def test_what_identifies_a_forest_is_checked(forest, stopped):
    document, arrays = unpacked(stopped)
    write(stopped, {**document, "forest": forest}, arrays)
    with pytest.raises(ValueError, match="model is corrupted, or not a model"):
        hssvm.load(stopped)


@pytest.mark.parametrize("n_trees", [0, 1, 3])
def test_a_report_of_another_number_of_trees_is_refused(n_trees, stopped):
    document, arrays = unpacked(stopped)
    document["fit_report"]["n_trees"] = n_trees
    write(stopped, document, arrays)
    with pytest.raises(ValueError, match="model is corrupted, or not a model"):
        hssvm.load(stopped)


@pytest.mark.parametrize("ranks", [[], [0, 4, 4, 4, 4, 4]])
def test_a_forest_grows_whatever_its_report_says_of_ranks(ranks, rows, stopped):
    document, arrays = unpacked(stopped)
    expected = hssvm.load(stopped).fit(*rows).decision_function(rows[0])
    document["fit_report"]["ranks"] = ranks
    write(stopped, document, arrays)
    model = hssvm.load(stopped).fit(*rows)
    assert_array_equal(model.decision_function(rows[0]), expected)


def test_a_forest_without_its_identity_is_trained_again(rows, stopped):
    document, arrays = unpacked(stopped)
    expected = hssvm.load(stopped).fit(*rows).decision_function(rows[0])
    write(stopped, {**document, "forest": None}, arrays)
    loaded = hssvm.load(stopped).fit(*rows)
    assert loaded.fit_report_.n_trees == 3
    error = np.abs(loaded.decision_function(rows[0]) - expected)
    assert error.max() < 0.5 * np.abs(expected).max()


@pytest.mark.parametrize("change", [arrays_changed, document_changed])
def test_mutants_grow_or_are_refused(change, parameters, rows, rng, stopped):
    content, n_grown = stopped.read_bytes(), 0
    parameters = SVC(warm_start=True, **parameters).get_params()
    for _ in range(100):
        seed = int(rng.integers(2**63))
        stopped.write_bytes(change(content, np.random.default_rng(seed)))
        try:
            model = hssvm.load(stopped)
        except ValueError:
            continue
        if not isinstance(model, SVC):
            continue
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                model.set_params(**parameters).fit(*rows)
                predicted = model.predict(rows[0])  # values of a mutant may overflow
            assert set(predicted) <= {0, 1, 2}
        except Exception as error:
            error.add_note(f"{change.__name__} with a generator of seed {seed}")
            raise
        n_grown += 1
    assert n_grown > 0
