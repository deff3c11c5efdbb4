"""A file that is not as it should be is a ValueError, or a model that predicts something."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from helpers.mutants import CHANGES, document_changed, unzipped, zipped
from helpers.outcomes import model_outcome
from helpers.text_mutants import overwrite

from hssvm import HSS, SVC, SVCCV, SVR, Cells, QuantileSVR

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

MUTANTS = 250
"""Of each model and kind of change: some 9,000 in all, others in every run."""


def named(X):
    return pd.DataFrame(X, columns=list("abc"))


MODELS = {
    "leafwise": (SVC(approximation=HSS(leaf_size=20, max_rank=4)), np.float32, np.asarray),
    "expansion": (
        SVC(kernel="poly", refine=True, approximation=HSS(leaf_size=20)),
        np.float64,
        named,
    ),
    "one leaf": (SVC(kernel="matern52", approximation=HSS()), np.float64, scipy.sparse.csr_matrix),
    "sparse": (
        SVCCV(Cs=[1.0, 2.0], cv=2, approximation=HSS(leaf_size=20, max_rank=4)),
        np.float32,
        scipy.sparse.csr_array,
    ),
    "cells": (SVC(approximation=Cells(size=20, n_trees=2)), np.float64, named),
    "cells of pairs": (
        SVC(multi_class="ovo", probability="sigmoid", approximation=Cells(size=20, n_trees=1)),
        np.float32,
        scipy.sparse.csr_array,
    ),
    "cells, regression": (
        SVR(scaling="standard", out_of_fold=True, approximation=Cells(size=40, n_trees=3)),
        np.float64,
        np.asarray,
    ),
    "quantiles of the target": (
        QuantileSVR(quantile=[0.2, 0.9], out_of_fold=True, approximation=Cells(size=40)),
        np.float32,
        named,
    ),
    "quantiles": (SVC(scaling="learned-quantiles"), np.float32, np.asarray),
}

THREE_CLASSES = "leafwise", "cells", "cells of pairs"


@pytest.fixture(scope="module", params=MODELS)
def saved(request, tmp_path_factory):
    """A path, and the bytes of a model file."""
    model, dtype, rows = MODELS[request.param]
    rng = np.random.default_rng(request.config.getoption("--seed"))
    X = rng.standard_normal((80, 3)).astype(dtype)
    y = np.digitize(X[:, 0], [-0.5, 0.5] if request.param in THREE_CLASSES else [0])
    path = tmp_path_factory.mktemp("saved") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hssvm.training.config.EXACT_ROWS", 0)
        model.set_params(tol=0.1, random_state=0).fit(rows(X), y).save(path)
    return path, path.read_bytes()


def outcome(path, content):
    overwrite(path, content)
    return model_outcome(path)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_mutants(change, saved, rng):
    path, content = saved
    outcomes = []
    for _ in range(MUTANTS):
        seed = int(rng.integers(2**63))
        try:
            outcomes.append(outcome(path, change(content, np.random.default_rng(seed))))
        except Exception as error:
            error.add_note(f"{change.__name__} with a generator of seed {seed}")
            raise
    assert outcomes.count("refused") > MUTANTS / 3
    if change is document_changed:
        assert "loaded" in outcomes


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"tuple": [', "]}")])
@pytest.mark.parametrize("depth", [500, 100_000])  # too deep for objects, and for JSON
def test_deep_nesting_is_refused(opening, closing, depth, saved):
    path, content = saved
    (_, text), *arrays = unzipped(content)
    document = json.loads(text)
    document["parameters"]["C"] = "here"
    nested = json.dumps(document).replace('"here"', opening * depth + closing * depth)
    assert outcome(path, zipped([("model.json", nested), *arrays])) == "refused"


def test_no_change_at_all_is_loaded(saved):
    assert outcome(*saved) == "loaded"
