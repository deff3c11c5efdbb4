"""Models that were saved by this and earlier versions still load; see `helpers.stored`."""

import json

import numpy as np
import pytest
from helpers.stored import FOLDER, decision_values
from numpy.testing import assert_allclose

import hssvm
from hssvm.hss import HSSANN, NestedNystroem
from hssvm.persistence.model import VERSION
from hssvm.persistence.plain import from_plain
from hssvm.persistence.version_1 import from_version_1

FILES = sorted(FOLDER.glob("*.hssvm"))


def test_every_version_is_stored():
    kinds = {f"v{v}-{kind}" for v in range(1, VERSION + 1)
             for kind in ("leafwise", "expansion", "sparse", "regression", "novelty")}  # fmt: skip
    assert {file.stem for file in FILES} >= kinds


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_stored_models_predict_as_they_did(file):
    expected = json.loads(file.with_suffix(".json").read_text())
    model = hssvm.load(file)
    assert type(model).__name__ == expected["class"]
    assert model.get_params().items() >= expected["parameters"].items()
    values = decision_values(model, expected["X"])
    # other machines round in another order
    tolerance = 1000 * np.finfo(values.dtype).eps
    scale = np.abs(expected["values"]).max()
    assert_allclose(values, expected["values"], rtol=0, atol=tolerance * scale)
    if not isinstance(model, hssvm.SVR):
        assert model.predict(expected["X"]).tolist() == expected["predict"]
    assert "relative duality gap" in model.summary()


@pytest.mark.parametrize(
    ("name", "n_trees"), [("v1-leafwise", 1), ("v2-leafwise", 1), ("v3-leafwise", 3),
                          ("v3-regression", 2), ("v3-sparse", 1)],
)  # fmt: skip
def test_forests_and_single_trees_are_stored(name, n_trees):
    model = hssvm.load(FOLDER / f"{name}.hssvm")
    assert len(model._compressed.trees) == model.fit_report_.n_trees == n_trees


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"tol": None, "beta": "paper", "max_iter": 10}, {"solver": "paper", "max_iter": 10}),
        ({"beta": 3.0, "cache_size": 500, "column_memory": 1e9}, {}),
        ({"prediction": "leafwise"}, {"prediction": "compressed"}),
        ({"max_rank": 8}, {"max_rank": 8}),
        (
            {"rtol": 0.1, "max_rank": 8},
            {"compressor": NestedNystroem(rtol=0.1, max_rank=8), "max_rank": None},
        ),
        ({"surplus": 0.5}, {"compressor": NestedNystroem(oversampling=0.5), "max_rank": None}),
        (
            {"compression": {"object": "NeighbourInterpolation", "fields": {"n_neighbours": 7}}},
            {"compressor": HSSANN(n_neighbors=7), "max_rank": None},
        ),
    ],
)
def test_parameters_of_version_1_have_new_names(old, new):
    document = {
        "parameters": {"rtol": 1e-3, "surplus": 0.125, "compression": None, "tol": 0.1, **old},
        "fit_report": {"on_true_kernel": True, "status": ["CACHE_SIZE"]},
    }
    converted = from_version_1(document)
    parameters = {name: from_plain(value) for name, value in converted["parameters"].items()}
    expected = {"tol": 0.1, **new}
    if old.get("tol", 0) is None:
        del expected["tol"]
    assert parameters == expected
    assert converted["fit_report"] == {"exact_kernel": True, "status": ["MEMORY_LIMIT"]}
    assert hssvm.SVC(**parameters)
