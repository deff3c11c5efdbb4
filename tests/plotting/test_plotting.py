import subprocess
import sys
from dataclasses import fields
from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.collections import PolyCollection
from matplotlib.contour import ContourSet
from numpy.testing import assert_allclose, assert_array_equal
from reference import kernel_matrix
from sklearn.calibration import calibration_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian, Linear
from hssvm.plotting import (
    BoundaryDisplay,
    CalibrationDisplay,
    ImportanceDisplay,
    KernelMatrixDisplay,
    RankDisplay,
    ScoreGridDisplay,
    SingularValueDisplay,
)
from hssvm.tables import TableEncoder
from hssvm.training.routes.forest import route

matplotlib.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def every_display(rng):
    X = rng.standard_normal((60, 3))
    H = compress(Gaussian(0.5), X, ClusterTree.build(X, leaf_size=16))
    return [
        SingularValueDisplay.from_rows(X, [0.5, 2.0]),
        ScoreGridDisplay.from_scores([0.1, 1.0], [1.0, 10.0, 100.0], rng.random((2, 3))),
        RankDisplay.from_matrix(H),
    ]


def test_importing_needs_neither_matplotlib_nor_sklearn():
    code = "import sys, hssvm.plotting; print({'matplotlib', 'sklearn'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_says_how_to_install_matplotlib(rng, monkeypatch):
    X = rng.standard_normal((20, 2))
    displays = [*every_display(rng), KernelMatrixDisplay.from_rows(X, Linear())]
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for display in displays:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            display.plot()


def test_draws_where_it_is_told(rng):
    for display in every_display(rng):
        figure, axes = plt.subplots(1, 2)
        assert display.plot(axes[1]) is display
        assert display.ax_ is axes[1] and display.figure_ is figure
        assert axes[1].has_data() and not axes[0].has_data()
        figure.canvas.draw()
        assert display.plot().figure_ is not figure
    assert plt.get_fignums() == [1, 2, 3, 4, 5, 6]


def test_draws_in_subfigures(rng):
    figure = plt.figure(layout="constrained")
    parts = figure.subfigures(1, 3)
    for part, display in zip(parts, every_display(rng), strict=True):
        assert display.plot(part.subplots()).figure_ is part
    figure.canvas.draw()


def test_singular_values_are_those_of_the_matrix_by_definition(rng):
    X, hs = rng.standard_normal((40, 3)), [0.3, 1.0, 5.0]
    display = SingularValueDisplay.from_rows(X, hs).plot()
    for h, values, line in zip(hs, display.singular_values, display.lines_, strict=True):
        squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        K = np.exp(-squares / (2 * h**2))
        assert_allclose(values, np.linalg.svd(K)[1], rtol=0, atol=1e-12 * 40)
        assert_array_equal(line.get_xdata(), np.arange(1, 41))
        assert_array_equal(line.get_ydata(), values / values[0])
        assert line.get_label() == f"{h:g}"
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0.3", "1", "5"]
    assert display.ax_.get_yscale() == "log"


def test_singular_values_are_computed_in_double_precision(rng):
    X = rng.standard_normal((30, 2)).astype(np.float32)
    dense = SingularValueDisplay.from_rows(X, [2.0]).singular_values
    exact = SingularValueDisplay.from_rows(X.astype(np.float64), [2.0]).singular_values
    sparse = SingularValueDisplay.from_rows(scipy.sparse.csr_array(X), [2.0]).singular_values
    assert_array_equal(dense, exact)
    assert_allclose(sparse, exact, atol=1e-12)


@pytest.mark.parametrize(
    "from_rows",
    [
        lambda X: SingularValueDisplay.from_rows(X, [1.0]),
        lambda X: KernelMatrixDisplay.from_rows(X, Gaussian(1.0)),
    ],
    ids=["singular values", "kernel matrix"],
)
def test_refuses_what_it_cannot_show(from_rows):
    with pytest.raises(ValueError, match=r"5,001 rows.*sample.*choice\(5001"):
        from_rows(np.zeros((5001, 1)))
    with pytest.raises(ValueError, match="no rows"):
        from_rows(np.zeros((0, 1)))
    with pytest.raises(ValueError, match="row 1"):
        from_rows(np.array([[0.0], [np.nan]]))


@pytest.mark.parametrize("hs", [[], [0.0], [1.0, -1.0], [np.nan]])
def test_widths_must_be_positive(hs):
    with pytest.raises(ValueError, match="hs must"):
        SingularValueDisplay.from_rows(np.zeros((3, 1)), hs)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Linear()], ids=["Gaussian", "Linear"])
def test_kernel_matrix_in_both_orders(kernel, rng):
    X = rng.standard_normal((70, 3))
    display = KernelMatrixDisplay.from_rows(X, kernel, leaf_size=10).plot()
    K, perm = kernel_matrix(kernel, X), ClusterTree.build(X, 10).perm
    assert_array_equal(np.sort(display.perm), np.arange(70))
    left, right = display.images_
    assert_allclose(left.get_array(), K, atol=1e-12)
    assert_allclose(right.get_array(), K[perm][:, perm], atol=1e-12)
    assert left.get_clim() == right.get_clim()
    assert_allclose(left.get_clim(), (min(0, K.min()), K.max()), atol=1e-12)
    assert left.get_cmap() == right.get_cmap()
    assert [ax.get_title() for ax in display.ax_] == ["rows as given", "rows in tree order"]


def test_kernel_matrix_takes_two_axes(rng):
    figure, axes = plt.subplots(2)
    display = KernelMatrixDisplay.from_rows(rng.standard_normal((9, 1)), Linear()).plot(axes)
    assert display.figure_ is figure and display.ax_ == list(axes)
    assert [len(ax.images) for ax in axes] == [1, 1]


def test_score_grid_frames_the_best(rng):
    hs, Cs, scores = [0.1, 1.0, 10.0], [0.01, 1.0], rng.random((3, 2))
    display = ScoreGridDisplay.from_scores(hs, Cs, scores).plot()
    row, column = display.best_index
    assert scores[row, column] == scores.max()
    assert display.frame_.get_center() == pytest.approx((column, row))
    assert (display.frame_.get_width(), display.frame_.get_height()) == (1, 1)
    title = f"best score {scores.max():.3f}\nh = {hs[row]:g}, C = {Cs[column]:g}"
    assert display.ax_.get_title() == title
    assert_array_equal(display.image_.get_array(), scores)
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["0.01", "1"]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["0.1", "1", "10"]
    assert len(display.texts_) == 6
    for text in display.texts_:
        j, i = text.get_position()
        assert text.get_text() == f"{scores[i, j]:.3f}"


def test_score_grid_leaves_out_what_would_not_fit(rng):
    scores = rng.random((30, 50))
    display = ScoreGridDisplay.from_scores(np.logspace(-2, 2, 30), np.logspace(-3, 3, 50), scores)
    display.plot()
    assert display.texts_ == []
    display.figure_.canvas.draw()
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        assert len(boxes) >= 3
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_score_grid_without_some_scores():
    scores = [[np.nan, 0.5], [0.7, 0.6]]
    display = ScoreGridDisplay.from_scores([1, 2], [3, 4], scores).plot()
    assert display.best_index == (1, 0)
    assert display.texts_[0].get_text() == "none"
    assert display.texts_[0].get_color() == "black"
    with pytest.raises(ValueError, match="finite"):
        ScoreGridDisplay.from_scores([1], [2], [[np.nan]])
    with pytest.raises(ValueError, match=r"shape \(2, 1\), got \(1, 2\)"):
        ScoreGridDisplay.from_scores([1, 2], [3], [[0.1, 0.2]])


def test_score_grid_of_a_cross_validation(rng):
    X = rng.standard_normal((120, 2))
    y = np.hypot(*X.T) < 1
    model = SVCCV([0.1, 1, 10], gammas=[0.1, 1], cv=3).fit(X, y)
    display = ScoreGridDisplay.from_estimator(model).plot()
    assert_allclose(display.scores, model.scores_.mean(axis=2), rtol=1e-11)
    row, column = display.best_index
    assert (display.values[row], display.Cs[column]) == (model.gamma_, model.C_)
    assert display.ax_.get_ylabel() == "gamma"
    assert display.score_name == "mean accuracy of 3 folds"
    error = model.scores_[row, column].std(ddof=1) / 3**0.5
    assert f"± {error:.3f}" in display.ax_.get_title()
    least = model.best_score_ - error - 1e-9
    near = [cell for cell in np.ndindex(2, 3) if display.scores[cell] >= least]
    frames = [(f.get_y() + 0.46, f.get_x() + 0.46) for f in display.near_]
    assert_allclose(sorted([*frames, (row, column)]), near)

    model = SVCCV([1, 10], kernel=Linear(), cv=3, scoring="roc_auc").fit(X, y)
    display = ScoreGridDisplay.from_estimator(model).plot()
    assert display.score_name == "mean roc auc of 3 folds"
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["none"]


def test_score_grid_frames_what_was_chosen():
    scores = np.array([[0.9, 0.8]])
    display = ScoreGridDisplay("gamma", np.ones(1), np.array([1, 2]), scores, chosen=(0, 1)).plot()
    assert display.best_index == (0, 1)
    assert display.frame_.get_x() == 0.5
    assert display.near_ == []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration(n_classes, rng):
    X = rng.standard_normal((1200, 2))
    score = X[:, 0] + 0.7 * rng.standard_normal(1200)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = SVC(probability="sigmoid", random_state=0).fit(X[:600], y[:600])
    display = CalibrationDisplay.from_estimator(model, X[600:], y[600:], n_bins=5).plot()
    P = model.predict_proba(X[600:])
    if n_classes == 2:
        theirs = calibration_curve(y[600:], P[:, 1], n_bins=5)
        assert_allclose([display.frequency, display.mean_probability], theirs)
    else:
        assert_allclose(display.probability, P.max(axis=1))
        assert_array_equal(display.correct, P.argmax(axis=1) == y[600:])
    assert display.counts.sum() == 600
    assert display.error < 0.1
    assert [bar.get_height() for bar in display.bars_] == display.counts.tolist()
    known = display.counts > 0
    assert_allclose(display.line_.get_ydata(), display.frequency[known])
    again = CalibrationDisplay(np.array([0.0, 1.0]), np.array([True, True]))
    axes = display.curve_ax_, display.histogram_ax_
    assert again.plot(axes).error == 0.5
    assert np.isnan(again.frequency).sum() == 8


def drawn_rectangles(collection):
    """(first row, end, first column, end) of every polygon."""
    boxes = [path.get_extents() for path in collection.get_paths()]
    return [tuple(int(v) for v in (b.y0, b.y1, b.x0, b.x1)) for b in boxes]


def test_every_block_is_drawn_once_and_carries_its_rank(rng):
    n = int(rng.integers(200, 400))
    X = rng.standard_normal((n, 2))
    H = compress(Gaussian(0.3), X, ClusterTree.build(X, leaf_size=30), rtol=1e-10, max_rank=15)
    display = RankDisplay.from_matrix(H).plot()

    cover = np.zeros((n, n), dtype=int)
    expected = {}
    for level in range(1, H.tree.depth + 1):
        ends = H.tree.offsets(level).tolist()
        for a in range(0, 2**level, 2):
            rank = min(H.ranks[level][a], H.ranks[level][a + 1])
            first, second = (ends[a], ends[a + 1]), (ends[a + 1], ends[a + 2])
            expected[first + second] = expected[second + first] = rank
    drawn = drawn_rectangles(display.blocks_)
    assert len(drawn) == len(expected)
    assert dict(zip(drawn, display.blocks_.get_array(), strict=True)) == expected
    for top, bottom, left, right in drawn + drawn_rectangles(display.leaves_):
        cover[top:bottom, left:right] += 1
    assert_array_equal(cover, 1)

    dense = H.to_dense()[np.ix_(H.tree.perm, H.tree.perm)]
    for (top, bottom, left, right), rank in zip(display.blocks, display.ranks, strict=True):
        assert np.linalg.matrix_rank(dense[top:bottom, left:right], tol=1e-9) <= rank
    assert len(display.texts_) >= 6
    for text in display.texts_:
        x, y = text.get_position()
        (inside,) = [b for b in drawn if b[0] < y < b[1] and b[2] < x < b[3]]
        assert text.get_text() == str(expected[inside])


def test_labels_fit_in_their_blocks(rng):
    X = rng.standard_normal((600, 2))
    H = compress(Gaussian(1.0), X, ClusterTree.build(X, leaf_size=20), rtol=0, max_rank=20)
    for inches in (2.5, 5):
        figure, ax = plt.subplots(figsize=(inches, inches), layout="constrained")
        display = RankDisplay.from_matrix(H).plot(ax)
        figure.canvas.draw()
        assert 2 <= len(display.texts_) < len(display.blocks)
        sides = display.blocks[:, 1] - display.blocks[:, 0]
        for text, side in zip(display.texts_, sides, strict=False):
            assert text.get_window_extent().width < side * ax.get_window_extent().width / 600


def test_a_matrix_of_one_leaf(rng):
    display = RankDisplay.from_matrix(compress(Gaussian(1.0), rng.standard_normal((50, 2)))).plot()
    assert display.blocks.shape == (0, 4) and display.ranks.shape == (0,)
    assert drawn_rectangles(display.leaves_) == [(0, 50, 0, 50)]
    assert isinstance(display.blocks_, PolyCollection) and display.texts_ == []
    display.figure_.canvas.draw()


def rings(rng, n):
    X = rng.standard_normal((n, 2))
    return X, np.hypot(*X.T) < 1


@pytest.mark.parametrize("scaling", ["standard", "quantiles"])
@pytest.mark.parametrize("refine", [False, True])
def test_boundary(refine, scaling, rng):
    X, y = rings(rng, 2500)
    approximation = None if refine else HSS(n_trees=1)
    model = SVC(
        C=10, refine=refine, approximation=approximation, scaling=scaling, random_state=0
    ).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot()
    assert (display.leaves is None) == refine
    i, j = 50, 120
    point = [[display.x[j], display.y[i]]]
    assert_allclose(display.values[i, j], model.decision_function(point)[0], rtol=1e-6)
    assert display.rows.shape == (2000, 2)


def small_forest(n_trees=3, max_rank=8, **parameters):
    approximation = HSS(n_trees, leaf_size=128, max_rank=max_rank)
    return {"approximation": approximation, "random_state": 0, **parameters}


@pytest.mark.parametrize("kind", ["two classes", "three classes", "novelty", "cells"])
def test_a_forest_is_the_mean_of_its_trees(kind, rng):
    X, y = three_classes(rng, 2500) if kind == "three classes" else rings(rng, 2500)
    if kind == "novelty":
        y, model = None, OneClassSVM(nu=0.1, **small_forest()).fit(X)
        model.intercept_ = model.intercept_ + 0.1  # any shift after training counts for all trees
    elif kind == "cells":
        model = SVC(C=10, approximation=Cells(size=200, n_trees=3), random_state=0).fit(X, y)
    else:
        model = SVC(C=10, **small_forest(scaling="quantiles")).fit(X, y)
    forest = BoundaryDisplay.from_estimator(model, X, y).plot()
    trees = [BoundaryDisplay.from_estimator(model, X, y, tree=tree) for tree in range(3)]
    assert forest.leaves is None and "leaves" not in forest.ax_.get_title()
    mean = np.mean([tree.values for tree in trees], axis=0)
    assert mean.shape == forest.values.shape
    assert_allclose(mean, forest.values, atol=1e-9 * np.abs(forest.values).max())
    assert not np.array_equal(trees[0].values, trees[1].values)
    assert not np.array_equal(trees[0].leaves, trees[1].leaves)
    assert "borders of the leaves" in trees[1].plot().ax_.get_title()


def test_a_tree_jumps_at_the_borders_of_its_own_leaves_only(rng):
    X, y = rings(rng, 2500)
    model = SVC(C=10, **small_forest(max_rank=3)).fit(X, y)
    trees = [BoundaryDisplay.from_estimator(model, X, y, tree=tree) for tree in range(2)]
    for own, other in (trees, trees[::-1]):
        steps = np.abs(np.diff(own.values, axis=1))
        at_border, at_other = (np.diff(t.leaves, axis=1) != 0 for t in (own, other))
        assert steps[at_border].mean() > 1.5 * steps[at_other & ~at_border].mean()


def test_a_tree_in_a_pipeline_and_in_a_file(rng, tmp_path):
    X, y = rings(rng, 2500)
    model = make_pipeline(StandardScaler(), SVC(C=10, **small_forest())).fit(X * [100, 0.01], y)
    display = BoundaryDisplay.from_estimator(model, X * [100, 0.01], y, tree=np.int64(2))
    model[-1].save(tmp_path / "model")
    loaded = make_pipeline(model[0], hssvm.load(tmp_path / "model"))
    again = BoundaryDisplay.from_estimator(loaded, X * [100, 0.01], y, tree=2)
    assert_array_equal(again.values, display.values)
    assert_array_equal(again.leaves, display.leaves)


def test_a_tree_that_does_not_exist(rng):
    X, y = rings(rng, 2500)
    forest = SVC(C=10, **small_forest(n_trees=2)).fit(X, y)
    for tree in (-1, 2):
        with pytest.raises(ValueError, match=f"tree={tree} does not exist; pass 0 to 1, or fit"):
            BoundaryDisplay.from_estimator(forest, X, y, tree=tree)
    with pytest.raises(ValueError, match="pass 0, or fit with more trees"):
        BoundaryDisplay.from_estimator(
            SVC(approximation=HSS(n_trees=1), random_state=0).fit(X, y), X, y, tree=1
        )
    with pytest.raises(ValueError, match=r"vectors; fit it with approximation=Cells\(\)"):
        BoundaryDisplay.from_estimator(SVC(refine=True).fit(X, y), X, y, tree=0)


def at(display, i, j):
    """A point of the grid, as a row."""
    return np.array([[display.x[j], display.y[i]]])


def three_classes(rng, n):
    X = rng.standard_normal((n, 2))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]


@pytest.mark.parametrize("refine", [False, True])
def test_regions_of_three_classes(refine, rng):
    X, y = three_classes(rng, 2500)
    model = SVC(C=10, refine=refine, approximation=HSS(), random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot()
    assert display.values.shape == (200, 200, 3)
    for i, j in rng.integers(200, size=(5, 2)):
        values = model.decision_function(at(display, i, j))  # breaks ties of votes, as the display
        assert display.values[i, j].argmax() == values.argmax()
    mesh = display.ax_.collections[0]
    colors = mesh.get_array().reshape(200, 200, 4)[..., :3]
    assert len(np.unique(colors.reshape(-1, 3), axis=0)) == 3
    texts = display.ax_.get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["a", "b", "c"]
    points = display.ax_.collections[-3:]
    for index, dots in enumerate(points):
        region = colors[display.values.argmax(axis=2) == index]
        assert_allclose(dots.get_facecolor()[0, :3], region[0])
        assert_array_equal(dots.get_offsets(), display.rows[display.labels == index])
    display.figure_.canvas.draw()


def test_a_plane_without_a_boundary(rng):
    side, rows = np.linspace(0, 1, 20), rng.random((5, 2))
    everywhere = 2 + rng.random((20, 20))
    second_never_wins = np.stack([everywhere, everywhere - 1, -everywhere], axis=2)
    for values in (everywhere, second_never_wins):
        display = BoundaryDisplay(side, side, values, None, rows, None).plot()
        display.figure_.canvas.draw()  # contour would warn
        assert not any(isinstance(c, ContourSet) for c in display.ax_.get_children())


@pytest.mark.parametrize("refine", [False, True])
def test_boundaries_of_pipelines_and_data_frames(refine, rng):
    X, y = three_classes(rng, 2500)
    frame = pd.DataFrame(X * [100, 0.01] + [500, 0], columns=["length", "mass"])
    approximation = None if refine else HSS(n_trees=1)
    svc = SVC(C=10, refine=refine, approximation=approximation, random_state=0)
    model = make_pipeline(StandardScaler(), svc)
    model.fit(frame, pd.Series(y))
    display = BoundaryDisplay.from_estimator(model, frame, pd.Series(y)).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "mass")
    i, j = rng.integers(200, size=2)
    point = pd.DataFrame(at(display, i, j), columns=frame.columns)
    assert_allclose(display.values[i, j], model.decision_function(point)[0], rtol=1e-6)
    assert (display.leaves is None) == refine
    if not refine:
        scaler, svc = (step for _, step in model.steps)
        leaf = svc._compressed.trees[0].tree.route(scaler.transform(point))
        assert display.leaves[i, j] == leaf[0]


@pytest.mark.parametrize("labelled", [False, True])
def test_the_boundary_of_novelty_detection(labelled, rng):
    X = rng.standard_normal((400, 2))
    model = OneClassSVM(nu=0.1, gamma=1.0).fit(X)
    y = model.predict(X) if labelled else None
    display = BoundaryDisplay.from_estimator(model, X, y).plot()
    i, j = rng.integers(200, size=2)
    assert_allclose(display.values[i, j], model.decision_function(at(display, i, j))[0], rtol=1e-6)
    assert "margin" not in display.ax_.get_title()
    assert (display.ax_.get_legend() is None) != labelled
    if labelled:
        inside = display.rows[display.labels == 1]
        assert np.all(model.predict(inside) == 1)
    assert display.ax_.collections[0].get_clim()[1] == display.values.max()


def test_what_has_no_boundary_says_so(rng):
    X, y = rng.standard_normal((100, 3)), rng.integers(0, 3, 100)
    with pytest.raises(ValueError, match="two features"):
        BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y)
    X = X[:, :2]
    with pytest.raises(ValueError, match=r"SVR has no decision function.*use SVC"):
        BoundaryDisplay.from_estimator(make_pipeline(StandardScaler(), SVR()).fit(X, y), X)
    with pytest.raises(ValueError, match=r"label 7, but the classes of the model are 0, 1, 2"):
        BoundaryDisplay.from_estimator(SVC().fit(X, y), X, np.full(100, 7))


def test_fits_in_pipelines(rng):
    X, y = rings(rng, 2500)
    svc = SVC(C=10, approximation=HSS(), random_state=0)
    model = make_pipeline(StandardScaler(), svc).fit(X, y)
    inside, whole = RankDisplay.from_estimator(svc), RankDisplay.from_estimator(model)
    for field in fields(RankDisplay):
        assert_array_equal(getattr(whole, field.name), getattr(inside, field.name))


def test_ranks_are_those_of_the_matrix(rng, monkeypatch):
    matrices, compress = [], route.compress_kernel

    def remember(*args, **options):
        matrices.append(compress(*args, **options))
        return matrices[-1]

    monkeypatch.setattr(route, "compress_kernel", remember)
    X, y = rings(rng, 2500)
    model = SVC(approximation=HSS(leaf_size=64), random_state=0).fit(X, y)
    H = matrices[0]  # the first tree of a forest
    expected, display = RankDisplay.from_matrix(H), RankDisplay.from_estimator(model).plot()
    assert_array_equal(display.leaf_offsets, expected.leaf_offsets)
    assert_array_equal(display.blocks, expected.blocks)
    assert_array_equal(display.ranks, expected.ranks)


def test_ranks_of_a_loaded_model(rng, tmp_path):
    X, y = rings(rng, 200)
    SVC().fit(X, y).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"loaded from a file.*from_matrix"):
        RankDisplay.from_estimator(hssvm.load(tmp_path / "model"))


def test_maps_side_by_side_have_one_scale(rng):
    low, high = rng.random((2, 2)), 5 + rng.random((2, 2))
    maps = [ScoreGridDisplay.from_scores([1, 2], [3, 4], scores) for scores in (low, high)]
    images = [m.plot(vmin=0.0, vmax=6.0).image_ for m in maps]
    assert [image.get_clim() for image in images] == [(0.0, 6.0)] * 2
    assert maps[0].plot().image_.get_clim() == (low.min(), low.max())


def test_importances_are_those_of_the_model(rng):
    X = pd.DataFrame(rng.standard_normal((300, 25)), columns=[f"column {j}" for j in range(25)])
    model = SVR(C=10, scaling="learned", random_state=0).fit(X, X["column 7"] ** 2)
    display = ImportanceDisplay.from_estimator(make_pipeline(StandardScaler(), model)).plot()
    assert_array_equal(display.importances, model.feature_importances_)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == "column 7"
    assert len(labels) == len(display.bars_) == 20
    widths = [bar.get_width() for bar in display.bars_]
    assert_allclose(widths, np.sort(model.feature_importances_)[::-1][:20])
    assert display.ax_.get_title(loc="left") == "20 of 25 features"
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the most important feature is at the top


def test_importances_of_an_encoded_table_are_those_of_its_columns(rng):
    X = pd.DataFrame({"noise": rng.random(300), "color": rng.choice(["red", "green", "blue"], 300)})
    model = make_pipeline(TableEncoder(), SVC(C=10, scaling="learned", random_state=0))
    display = ImportanceDisplay.from_estimator(model.fit(X, X["color"] == "red"))
    assert display.names == ["noise", "color"]
    noise, *colors = model[-1].feature_importances_
    assert_allclose(display.importances, [noise, sum(colors)])


def test_importances_have_a_name_each():
    display = ImportanceDisplay([0.3, 0.7], ["a", "b"]).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["b", "a"]
    assert display.ax_.get_title(loc="left") == ""
    with pytest.raises(ValueError, match="2 importances and 1 names"):
        ImportanceDisplay([0.3, 0.7], ["a"])
    model = SVC(scaling="standard").fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    with pytest.raises(AttributeError, match="scaling='learned'"):
        ImportanceDisplay.from_estimator(model)
