"""Models that were saved by this and earlier versions still load; see `helpers.stored`."""

import json

import numpy as np
import pytest
from helpers.stored import FOLDER, decision_values
from numpy.testing import assert_allclose

import hssvm
from hssvm.persistence.model import VERSION

FILES = sorted(FOLDER.glob("*.hssvm"))


def test_every_version_is_stored():
    kinds = ("leafwise", "expansion", "sparse", "regression", "cells", "novelty")
    names = {f"v{v}-{kind}" for v in range(1, VERSION + 1) for kind in kinds}
    assert {file.stem for file in FILES} >= names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_stored_models_predict_as_they_did(file):
    expected = json.loads(file.with_suffix(".json").read_text())
    model = hssvm.load(file)
    assert type(model).__name__ == expected["class"]
    assert model.get_params().items() >= expected["parameters"].items()
    assert repr(model.approximation) == expected["approximation"]
    values = decision_values(model, expected["X"])
    # other machines round in another order
    tolerance = 1000 * np.finfo(values.dtype).eps
    scale = np.abs(expected["values"]).max()
    assert_allclose(values, expected["values"], rtol=0, atol=tolerance * scale)
    if not isinstance(model, hssvm.SVR):
        assert model.predict(expected["X"]).tolist() == expected["predict"]
    assert "relative duality gap" in model.summary()


@pytest.mark.parametrize(
    ("name", "n_trees"),
    [("v1-leafwise", 3), ("v1-regression", 2), ("v1-cells", 2), ("v1-sparse", 1)],
)
def test_forests_and_single_trees_are_stored(name, n_trees):
    model = hssvm.load(FOLDER / f"{name}.hssvm")
    assert len(model._compressed.trees) == model.fit_report_.n_trees == n_trees
