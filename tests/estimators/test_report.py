"""What a fit says about itself: `FitReport`, and how results are shown."""

import numpy as np
import pytest
from helpers.rows import noisy_classes
from sklearn.base import clone

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, OneClassSVM, svc_path
from hssvm.estimators import FitReport


@pytest.mark.parametrize(
    ("estimator", "y", "words"),
    [
        (SVC(), lambda X: X[:, 0] > 0, "2 classes"),
        (SVC(), lambda X: np.digitize(X[:, 0], [-0.5, 0.5]), "3 classes"),
        (SVCCV(Cs=[1.0], max_members=1), lambda X: X[:, 0] > 0, "2 classes"),
        (SVR(), lambda X: X[:, 0], "regression"),
        (OneClassSVM(), lambda X: None, "novelty detection"),
    ],
    ids=["two", "three", "cv", "regression", "novelty"],
)
def test_summary_has_rows_features_task_and_support_vectors(estimator, y, words, rng, tmp_path):
    X = rng.standard_normal((1500, 5))
    model = estimator.fit(X, y(X))
    lines = model.summary().splitlines()
    n = model.support_.size
    assert f"data       1,500 rows, 5 features, {words}" in lines
    assert f"model      {n:,} support vectors ({n / 1500:.1%} of the rows)" in lines
    model.save(tmp_path / "model.hssvm")
    assert hssvm.load(tmp_path / "model.hssvm").summary() == model.summary()


def test_summary_names_the_kernel_that_was_solved_for(rng):
    X, y = noisy_classes(rng, 3000)
    small, compressed, forest, refined, regression = (
        model.set_params(random_state=0).fit(X[:n], y[:n]).summary()
        for model, n in [
            (SVC(), 1000), (SVC(approximation=HSS(n_trees=1)), 3000),
            (SVC(approximation=HSS(n_trees=3)), 3000), (SVC(refine=True), 3000),
            (SVR(refine=True), 3000),
        ]
    )  # fmt: skip
    assert "solved     on the exact kernel, relative duality gap" in small
    assert "compress" not in small.split("seconds")[0]
    assert "solved     on the compressed kernel, relative duality gap" in compressed
    assert "\nkernel     compressed kernel, relative error" in compressed
    assert "\nforest" not in compressed
    assert "solved     on 3 compressed kernels, relative duality gap" in forest
    assert "\nforest     decision values of the trees differ by " in forest
    assert "\nkernel     compressed kernel, relative error" in forest
    for exact in (refined, regression):
        assert "solved     on the exact kernel, relative duality gap" in exact
        assert "\nforest" not in exact
        assert "\nkernel " not in exact
    assert "compress" not in refined
    assert "\nstart      compressed kernel, relative error" in regression


def test_summaries_of_searches_are_shown_as_lines(rng):
    X = rng.standard_normal((60, 2))
    search = SVCCV(Cs=[1], gammas=[1], cv=2).fit(X, X[:, 0] > 0)
    assert repr(search.summary()) == str(search.summary())
    assert "search     accuracy" in search.summary()


def test_gaps_are_not_negative(rng):
    """An optimal solution has a gap of 0, but for rounding errors of both signs."""
    for _ in range(10):
        X = rng.standard_normal((40, 2))
        assert SVC().fit(X, X[:, 0] > rng.standard_normal(40)).fit_report_.gap[0] >= 0


def test_a_tube_around_all_rows_needs_no_support_vectors(rng):
    X = rng.standard_normal((100, 2))
    model = SVR(epsilon=100.0).fit(X, X[:, 0])
    assert "model      0 support vectors (0.0% of the rows)" in model.summary()


@pytest.mark.parametrize(
    ("model", "stages"),
    [
        (SVC(C=10, approximation=HSS(n_trees=1)), ["solve"]),
        (SVC(C=10, refine=True), ["refine"]),
        (SVR(C=10, refine=True), ["solve", "refine"]),
    ],
    ids=["compressed", "exact", "refined"],
)
def test_the_history_ends_with_the_gap_of_the_report(model, stages, rng, tmp_path):
    X = rng.standard_normal((int(rng.choice([2500, 3500])), 2))
    model = clone(model).set_params(random_state=0).fit(X, np.hypot(*X.T) < 1)
    report = model.fit_report_
    assert [stage for stage, steps in report.history.items() if steps] == stages
    assert report.history[stages[-1]][-1][1][0] == report.gap[0]
    if "solve" in stages:
        iterations, gaps = zip(*report.history["solve"], strict=True)
        assert iterations[-1] == report.n_iter[0]
        assert np.all(np.diff(gaps, axis=0) <= 0)  # the best so far
    model.save(tmp_path / "model")
    assert hssvm.load(tmp_path / "model").fit_report_.history == {}


def test_the_history_of_a_forest_is_that_of_its_first_tree(rng):
    X = rng.standard_normal((2500, 2))
    models = (
        SVC(C=10, tol=1e-3, approximation=HSS(n_trees, leaf_size=128, max_rank=16), random_state=0)
        for n_trees in (2, 1)
    )
    forest, tree = (model.fit(X, np.hypot(*X.T) < 1).fit_report_.history for model in models)
    assert forest["solve"] == tree["solve"]


def test_results_are_shown_as_text(rng):
    X, y = noisy_classes(rng, 3000)
    model = SVC(approximation=HSS(), random_state=0).fit(X, y)
    path = svc_path(X, y, [0.1, 10.0], random_state=0)
    results = [model.fit_report_, model.estimate_cost(X, y), model.certify(X, y), path]
    for result in results:
        assert repr(result) == str(result)
        assert "array" not in repr(result)
        assert len(repr(result)) < 2000
        assert result._repr_html_().startswith("<pre>")
        assert result._repr_html_().count("<") == 2
    assert repr(model.fit_report_) == model.fit_report_.summary()
    assert repr(FitReport()).startswith("data       0 rows")


def test_a_path_has_a_line_for_every_C(rng):
    X, y = noisy_classes(rng, 1000)
    path = svc_path(X, y, [0.1, 10.0])
    lines = [line.split() for line in str(path).splitlines()[-2:]]
    for j, (C, n_support, gap, status) in enumerate(lines):
        assert float(C) == path.Cs[j]
        assert int(n_support.replace(",", "")) == np.count_nonzero(path.dual_coef_[j])
        assert float(gap) == pytest.approx(path.fit_report_.gap[j], rel=0.1)
        assert status == path.fit_report_.status[j]
