import numpy as np
import pandas as pd
import pytest

from benchmarks.frames import __main__ as frames
from benchmarks.frames import data, show, tools


@pytest.mark.parametrize("name", data.FRAMES)
def test_frames_and_their_targets(name):
    about = data.FRAMES[name]
    X, y = data.read(name)
    assert len(X) == len(y) > 800 and y.notna().all()
    assert not {about.target, "rownames", *about.left_out} & set(X)
    if about.task == data.CLASSIFICATION:
        assert y.nunique() == 2
    else:
        assert pd.api.types.is_numeric_dtype(y)


def test_splits():
    X, y, X_test, y_test = data.load_frame("attrition", 0, 500)
    assert (len(X), len(y), len(X_test), len(y_test)) == (500, 500, 294, 294)
    assert not set(X.index) & set(X_test.index)
    assert abs((y == "Yes").mean() - (y_test == "Yes").mean()) < 0.01
    assert not X.equals(data.load_frame("attrition", 1, 500)[0])


def test_a_run(run_command):
    chosen = [tools.OURS, tools.COMMANDS, tools.GRADIENT_BOOSTING]
    results, tables = run_command(
        frames, "--frames", "car_prices", "--tools", *chosen, "--splits", 0, "--max-rows", 60
    )
    runs = [results.runs[f"car_prices: {tool}, 0"] for tool in chosen]
    assert all(run["rows"] == 60 and run["columns"] == 17 for run in runs)
    ours, commands, boosting = (run["test error"] for run in runs)
    assert np.isclose(ours, commands, rtol=1e-3) and ours < boosting
    assert "| hssvm, command line |" in tables["summary"]
    assert "| car_prices | 60 x 17 | 0 |" in tables["errors"]


def test_errors_are_means_over_the_splits():
    class Fake:
        runs = {
            f"ames: {tool}, {split}": {"test error": error + split}
            for tool, error in ((tools.OURS, 1.0), (tools.CATBOOST, 2.0))
            for split in (0, 1)
        } | {"ames: skrub, HistGradientBoosting, 0": {"test error": 1.0}}

    found = show.errors(Fake)
    assert found.tables == ["ames"]
    assert found.of(tools.OURS) == [1.5] and found.of(tools.CATBOOST) == [2.5]
    assert np.isnan(found.of(tools.GRADIENT_BOOSTING)).all()
