"""Saved pipelines of the encoder of a table and a model."""

import tempfile
from pathlib import Path

import pandas as pd
from helpers.encoder_mutants import encoder_changed, schema_changed, steps_changed
from helpers.outcomes import pipeline_outcome
from helpers.text_mutants import overwrite
from sklearn.pipeline import make_pipeline

import hssvm
from hssvm import SVC
from hssvm.tables import TableEncoder

CHANGES = encoder_changed, steps_changed, schema_changed

FRAME = pd.DataFrame(
    {
        "size": [1.5, None, 2.0, 0.5] * 15,
        "city": ["Oslo", "Rome", "Bern"] * 20,
        "street": [f"street {i % 11}" for i in range(60)],
        "day": pd.date_range("2020-01-01", periods=60, freq="36h"),
    }
)


def seeds():
    """One file, with a column of each kind."""
    model = make_pipeline(TableEncoder(), SVC()).fit(FRAME, FRAME["city"] == "Rome")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        hssvm.save(model, path)
        return [path.read_bytes()]


def changed(content, rng, mutate):
    """One of the changes that the tests make."""
    return CHANGES[rng.integers(len(CHANGES))](content, rng)


def read(content, folder):
    """Load a pipeline, and predict the rows of the frame."""
    path = folder / "model"
    path.touch()
    overwrite(path, content)
    return pipeline_outcome(path, FRAME)
