"""Plots of Shapley values."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal

from hssvm import SVC, SVR
from hssvm.estimators.models.explanation import Explanation
from hssvm.plotting import ExplanationDisplay, ImportanceDisplay


@pytest.fixture(autouse=True)
def figures_closed():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def explanation(rng, m=30, p=12, k=None):
    shape = (m, p) if k is None else (m, p, k)
    names = [f"column {j}" for j in range(p)]
    outputs = None if k is None else [f"class {c}" for c in range(k)]
    base = rng.standard_normal(m if k is None else (m, k))
    return Explanation(
        rng.standard_normal(shape), base, rng.standard_normal((m, p)), names, outputs
    )


def texts(labels):
    return [label.get_text() for label in labels]


@pytest.mark.parametrize("k", [None, 3])
def test_importances_are_mean_absolute_values_with_quantiles(k, rng):
    given = explanation(rng, k=k)
    display = ImportanceDisplay.from_explanation(given, n_shown=5).plot()
    assert_allclose(display.importances, given.importances)
    largest = np.argsort(-given.importances)[:5]
    assert texts(display.ax_.get_yticklabels()) == [f"column {j}" for j in largest]
    sizes = np.abs(given.values)
    sizes = sizes if k is None else sizes.sum(axis=2)
    ends = [segment[:, 0] for segment in display.lines_.get_segments()]
    assert_allclose(ends, np.quantile(sizes[:, largest], [0.1, 0.9], axis=0).T)
    assert display.ax_.get_xlabel() == "mean of |Shapley value|"
    assert texts(display.ax_.get_legend().get_texts()) == ["10 to 90 % of the rows"]


def test_importances_without_a_spread_have_no_lines():
    display = ImportanceDisplay([0.3, 0.7], ["a", "b"]).plot()
    assert display.lines_ is None and display.ax_.get_legend() is None
    with pytest.raises(ValueError, match=r"spread has the shape \(1, 2\)"):
        ImportanceDisplay([0.3, 0.7], ["a", "b"], spread=np.ones((1, 2)))


@pytest.mark.parametrize("n_shown", [1, 4, 11, 12, 40])
def test_bars_lead_from_the_background_to_the_output(n_shown, rng):
    given = explanation(rng)
    display = ExplanationDisplay.from_explanation(given, 7, n_shown=n_shown).plot()
    values, base = given.values[7], given.base_values[7]
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_]
    assert len(ends) == min(n_shown, 12)
    assert_allclose(ends[-1][0], base)
    assert_allclose(ends[0][1], base + values.sum())
    for above, below in pairwise(ends):
        assert_allclose(above[0], below[1])
    order = np.argsort(-np.abs(values))
    own = len(ends) if n_shown >= 12 else n_shown - 1
    assert_allclose([end - start for start, end in ends[:own]], values[order[:own]])
    labels = texts(display.ax_.get_yticklabels())
    assert labels[:own] == [f"column {j} = {given.data[7, j]:.4g}" for j in order[:own]]
    others = {1: "12 other features", 4: "9 other features", 11: "2 other features"}
    assert labels[own:] == ([others[n_shown]] if n_shown in others else [])
    low, high = display.ax_.get_xlim()
    assert low < min(map(min, ends)) and high > max(map(max, ends))
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the largest value is at the top
    assert display.ax_.get_title(loc="left") == f"output {base + values.sum():.3g}"
    assert texts(display.ax_.texts)[:own] == [f"{value:+.3g}" for value in values[order[:own]]]


def test_one_of_several_outputs(rng):
    given = explanation(rng, k=3)
    total = given.base_values[2] + given.values[2].sum(axis=0)
    best = int(total.argmax())
    display = ExplanationDisplay.from_explanation(given, 2)
    assert_array_equal(display.values, given.values[2, :, best])
    assert display.label == f"output class {best}"
    named = ExplanationDisplay.from_explanation(given, -1, output="class 1").plot()
    assert_array_equal(named.values, given.values[-1, :, 1])
    assert named.ax_.get_title(loc="left").startswith("output class 1 ")


def test_features_without_a_value_have_only_their_name(rng):
    given = Explanation(
        np.array([[3.0, 2.0, 1.0]]), np.zeros(1), np.array([["red", 2.0, np.nan]], object),
        ["color", "size", "others"],
    )  # fmt: skip
    assert ExplanationDisplay.from_explanation(given).labels == [
        "color = red",
        "size = 2",
        "others",
    ]
    X = scipy.sparse.csr_array(np.eye(4) * rng.random((4, 1)))
    model = SVC().fit(X, [0, 1, 0, 1])
    labels = ExplanationDisplay.from_explanation(model.explain(X), 1).labels
    assert labels == [
        "feature 0 = 0",
        f"feature 1 = {X[1, 1]:.4g}",
        "feature 2 = 0",
        "feature 3 = 0",
    ]


def test_a_row_without_values_can_be_drawn(rng):
    X = pd.DataFrame(rng.standard_normal((50, 2)), columns=["a", "b"])
    model = SVR().fit(X, X["a"])
    given = model.explain(X[:1], X[:1])
    display = ExplanationDisplay.from_explanation(given).plot()
    assert display.ax_.get_xlim()[0] < display.base_value < display.ax_.get_xlim()[1]


def test_values_of_one_row_are_expected():
    with pytest.raises(ValueError, match="pass the values of one row and one output"):
        ExplanationDisplay(np.ones((2, 3)), 0.0, ["a", "b", "c"])
    with pytest.raises(ValueError, match="n_shown must be at least 1"):
        ExplanationDisplay(np.ones(1), 0.0, ["a"], n_shown=0)
