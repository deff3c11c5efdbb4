import io
import logging
import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose, assert_array_equal
from reference import paper_admm, svc_primal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ExactSVC
from sklearn.utils import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from hssvm import HSS, SVC, SVCCV, svc_path
from hssvm.hss import HSSANN, compress
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.problems import SVCProblem
from hssvm.solvers import FixedIterationADMM, paper_beta
from hssvm.training.config import FOREST_TOL, FOREST_TREES

RANDOM_FOLDS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row may be in another fold than its copy"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        SVC(),
        SVC(kernel="exponential", prediction="exact", approximation=HSS()),
        SVC(probability="sigmoid"),
        SVCCV(Cs=3, cv=3),
    ],
    expected_failed_checks=lambda model: RANDOM_FOLDS if model.probability else {},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "gamma": 0.2, "coef0": 1.0, "degree": 2},
    {"kernel": "matern32", "gamma": 0.5},
]


@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize("C", [0.1, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_small_data_is_the_exact_svm(parameters, C, weighted, rng):
    X, y = noisy_classes(rng, 900)
    weight = rng.uniform(0, 2, 900) if weighted else np.ones(900)
    model = SVC(C=C, **parameters).fit(X, y, sample_weight=weight)
    K = model.kernel_.block(X)
    exact = ExactSVC(C=C, kernel="precomputed", tol=1e-6).fit(K, y, sample_weight=weight)
    values = exact.decision_function(K)
    assert_allclose(model.decision_function(X), values, atol=1e-2)
    model.set_params(prediction="exact")
    assert_allclose(model.decision_function(X), values, atol=1e-2)
    sign, cost = 2 * y - 1, C * weight
    z, z_exact = np.zeros(900), np.zeros(900)
    z[model.support_], z_exact[exact.support_] = model.dual_coef_[0], exact.dual_coef_[0]
    assert_allclose(
        svc_primal(K, z, sign, cost, model.intercept_[0]),
        svc_primal(K, z_exact, sign, cost, exact.intercept_[0]),
        rtol=1e-4,
    )
    assert_allclose(
        model.fit_report_.objective[0], svc_primal(K, z, sign, cost, model.intercept_[0]), rtol=1e-5
    )


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 3.0, 2: 0.5}])
def test_three_classes_are_one_against_the_rest(class_weight, rng):
    X, y = noisy_classes(rng, 500, n_classes=3)
    model = SVC(gamma=0.3, class_weight=class_weight, multi_class="ovr").fit(X, y)
    weight = compute_sample_weight(class_weight, y)
    values = np.empty((500, 3))
    for c in range(3):
        exact = ExactSVC(gamma=0.3, tol=1e-6)
        exact.fit(X, y == c, sample_weight=weight)
        values[:, c] = exact.decision_function(X)
    assert_allclose(model.decision_function(X), values, atol=1e-2)
    if class_weight is None:
        rest = OneVsRestClassifier(ExactSVC(gamma=0.3, tol=1e-6)).fit(X, y)
        assert np.mean(model.predict(X) == rest.predict(X)) > 0.99
    assert model.dual_coef_.shape == (3, model.support_.size)
    assert model.n_support_.sum() == model.support_.size


@pytest.mark.parametrize("n_trees", [1, None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compressed_data_is_close_to_the_exact_svm(dtype, n_trees, rng):
    X, y = noisy_classes(rng, 6000, dtype=dtype)
    model = SVC(
        C=2.0, gamma=0.3, approximation=HSS(n_trees=n_trees), random_state=rng.integers(100)
    )
    model.fit(X[:4000], y[:4000])
    exact = ExactSVC(C=2.0, gamma=0.3).fit(X[:4000], y[:4000])
    assert len(model.fit_report_.ranks) > 1
    assert model.score(X[4000:], y[4000:]) > exact.score(X[4000:], y[4000:]) - 0.02
    agree = np.mean(model.predict(X[4000:]) == exact.predict(X[4000:]))
    assert agree > 0.95
    assert model.dual_coef_.dtype == model.decision_function(X[:3]).dtype == dtype
    assert model.fit_report_.gap[0] <= (1e-3 if n_trees == 1 else FOREST_TOL)
    assert 0 < model.fit_report_.kernel_error < 0.2
    model.set_params(prediction="exact")
    if n_trees is None:
        with pytest.raises(ValueError, match=r"not available for .*forests.*HSS\(n_trees=1\)"):
            model.predict(X)
        return
    K = Gaussian(0.3).block(X[4000:].astype(float), model.support_vectors_.astype(float))
    values = K @ model.dual_coef_[0] + model.intercept_
    error = 1e-4 if dtype == np.float32 else 1e-10
    assert_allclose(model.decision_function(X[4000:]), values, atol=error * np.abs(values).max())


def test_sparse_rows_give_the_same_model_as_dense_rows(rng):
    X, y = noisy_classes(rng, 4000)
    X *= rng.random(X.shape) < 0.5
    for n in (800, 4000):
        A, labels, S = X[:n], y[:n], scipy.sparse.csr_array(X[:n])
        dense, sparse = (
            SVC(gamma=0.3, approximation=HSS(), random_state=0).fit(rows, labels) for rows in (A, S)
        )
        # near ties may choose other skeletons: only without compression are both the same
        agree = np.mean(dense.predict(A) == sparse.predict(S))
        assert agree > (0.99 if n == 800 else 0.9)
        assert_allclose(sparse.decision_function(A), sparse.decision_function(S), atol=1e-6)
        assert_allclose(dense.decision_function(S), dense.decision_function(A), atol=1e-6)


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [True, False], [7, -3], np.array(["a", "b"], dtype=object)]
)
def test_labels_of_any_type(labels, rng):
    X, codes = noisy_classes(rng, 200)
    y = np.asarray(labels)[codes]
    model, plain = SVC().fit(X, y), SVC().fit(X, codes)
    sides = plain.decision_function(X)
    clear = np.abs(sides) > 1e-6
    assert_array_equal(model.predict(X)[clear], np.asarray(labels)[(sides > 0).astype(int)][clear])
    assert model.predict(X).dtype == y.dtype
    assert_array_equal(model.classes_, np.unique(y))


def test_a_weight_of_zero_takes_a_row_out(rng):
    X, y = noisy_classes(rng, 400)
    weight = (rng.random(400) < 0.7).astype(float)
    kept = weight > 0
    whole = SVC().fit(X, y, sample_weight=weight)
    part = SVC().fit(X[kept], y[kept])
    assert_allclose(whole.decision_function(X), part.decision_function(X), atol=1e-5)
    assert np.all(kept[whole.support_])


def test_works_inside_scikit_learn(rng):
    X, y = noisy_classes(rng, 300)

    def inside(svc):
        grid = GridSearchCV(make_pipeline(StandardScaler(), svc), {"svc__C": [0.1, 1, 10]}, cv=3)
        scores = grid.fit(X, y).cv_results_["mean_test_score"]
        probability = CalibratedClassifierCV(svc, cv=3).fit(X, y).predict_proba(X)
        bagging = BaggingClassifier(svc, n_estimators=3, random_state=0).fit(X, y)
        return scores, probability, bagging.predict(X)

    scores, probability, labels = inside(SVC())
    exact_scores, exact_probability, exact_labels = inside(ExactSVC(tol=1e-6))
    assert_allclose(scores, exact_scores, atol=0.01)
    assert_allclose(probability, exact_probability, atol=1e-3)
    assert np.mean(labels == exact_labels) > 0.98
    model = clone(SVC(C=3.0, gamma=0.2)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.decision_function(X), model.decision_function(X))


def test_kernels_as_objects_and_functions(rng):
    X, y = noisy_classes(rng, 300)
    by_name = SVC(gamma=0.4).fit(X, y).decision_function(X)
    by_object = SVC(kernel=Gaussian(0.4)).fit(X, y).decision_function(X)
    assert_allclose(by_object, by_name)

    def function(A, B):
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(-1))

    by_function = SVC(kernel=function).fit(X, y).decision_function(X)
    assert_allclose(by_function, by_name, atol=1e-5)


def test_gamma_is_that_of_scikit_learn(rng):
    X, y = noisy_classes(rng, 100)
    X = 3 * X + 5
    for gamma in ("scale", "auto", 0.7):
        exact = ExactSVC(gamma=gamma).fit(X, y)
        weighted = SVC(gamma=gamma, class_weight={0: 1.0, 1: 9.0}).fit(X, y)
        assert_allclose(weighted.kernel_.gamma, exact._gamma, rtol=1e-9)
        for rows in (X, scipy.sparse.csr_array(X)):
            assert_allclose(SVC(gamma=gamma).fit(rows, y).kernel_.gamma, exact._gamma, rtol=1e-9)
    assert SVC().fit(np.ones((4, 2)), [0, 1, 0, 1]).kernel_.gamma == 1.0  # no variance


def test_paper_setting(rng):
    X, y = noisy_classes(rng, 3000)
    model = SVC(solver="paper").fit(X, y)
    assert model.fit_report_.status == ["FIXED"]
    assert model.n_iter_[0] == 10
    few = SVC(gamma=0.3, solver="paper").fit(X[:400], y[:400])
    K, sign, z = Gaussian(0.3).block(X[:400]), 2.0 * y[:400] - 1, np.zeros(400)
    z[few.support_] = few.dual_coef_[0]
    expected = sign * paper_admm(K, sign, 1.0, paper_beta(400), 10)
    free = (np.abs(z) > 0) & (np.abs(z) < 1) & (np.abs(expected) > 0) & (np.abs(expected) < 1)
    assert free.sum() > 20
    # the constraint in the last step moves all of them alike
    assert_allclose(np.ptp((z - expected)[free]), 0, atol=1e-10)


def test_errors_say_what_to_do(rng):
    X, y = noisy_classes(rng, 50)
    for parameters, message in [
        ({"C": 0}, "C must be a positive number"),
        ({"kernel": "sigmoid"}, "positive semi-definite"),
        ({"gamma": "wide"}, "gamma must be 'scale', 'auto'"),
        ({"gamma": -1.0}, "gamma must be 'scale', 'auto' or a positive number"),
        ({"solver": "smo"}, "solver must be 'admm' or 'paper'"),
        ({"tol": 0}, "tol must be None or a positive number"),
        ({"approximation": "hss"}, r"approximation must be None.*Cells.*HSS"),
        ({"tol": -1.0}, "tol must be None or a positive number"),
        ({"max_iter": 0}, "max_iter must be None or an integer of at least 1"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "at least 2 classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            SVC(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        SVC().fit(X, np.zeros(50))
    with pytest.raises(ValueError, match="prediction must be"):
        SVC(prediction="quick").fit(X, y).predict(X)
    with pytest.raises(NotFittedError):
        SVC().summary()


def test_warns_when_it_has_not_converged(rng):
    X, y = noisy_classes(rng, 3000)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = SVC(C=100.0, max_iter=3, approximation=HSS()).fit(X, y)
    assert "raise max_iter" in model.summary()
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model = SVC(C=100.0, max_time=1e-6, refine=True).fit(X, y)
    assert "raise max_time" in model.summary()


def test_report(rng):
    X, y = noisy_classes(rng, 3000, n_classes=3)
    model = SVC(approximation=HSS(), random_state=0).fit(X, y)
    report, text = model.fit_report_, model.summary()
    for part in (
        "SVC(approximation=HSS(", "3,000 rows, 6 features, 3 classes", "relative error",
        f"on {FOREST_TREES} compressed kernels", "compression changes the objective",
        "decision values of the trees differ by",
    ):  # fmt: skip
        assert part in text
    assert set(report.seconds) == {"tree", "compress", "factor", "solve", "finish"}
    assert report.gap.shape == report.objective.shape == report.objective_error.shape == (3,)
    assert report.matrix_bytes > 0
    assert report.factor_bytes > 0
    assert "on the exact kernel" in SVC().fit(X[:100], y[:100]).summary()


def test_verbose_shows_progress_on_stderr(rng, capsys):
    X, y = noisy_classes(rng, 300)
    logger = logging.getLogger("hssvm")
    outer, logger.propagate = logger.propagate, False  # as in a program without any handler
    try:
        SVC(verbose=1).fit(X, y)
    finally:
        logger.propagate = outer
    assert "[hssvm] solve: " in capsys.readouterr().err
    assert logger.handlers == []
    assert logger.level == logging.NOTSET


def test_verbose_uses_the_handlers_of_the_program(rng):
    X, y = noisy_classes(rng, 2100)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger("hssvm").addHandler(handler)
    try:
        SVC(verbose=1, approximation=HSS(n_trees=1)).fit(X, y)
        told = stream.getvalue()
        SVC(approximation=HSS(n_trees=1)).fit(X, y)
    finally:
        logging.getLogger("hssvm").removeHandler(handler)
    assert "iteration 10" in told
    assert "compress" in told
    assert stream.getvalue() == told
    assert logging.getLogger("hssvm").level == logging.NOTSET


def test_fit_callbacks(rng):
    pytest.importorskip("sklearn.callback")
    X, y = noisy_classes(rng, 2100)
    seen = []

    class Spy:
        def setup(self, estimator, context):
            seen.append("setup")

        def teardown(self, estimator, context):
            seen.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            seen.append(context.task_name)

    for refine, tasks in (
        (False, {"compress", "solve", "iteration 10", "fit"}),
        (True, {"solve", "iteration 1", "fit"}),
    ):
        seen.clear()
        model = SVC(refine=refine, approximation=HSS())
        model.set_callbacks(Spy())
        model.fit(X, y)
        assert seen[0] == "setup"
        assert seen[-1] == "teardown"
        assert tasks <= set(seen)


@pytest.mark.parametrize("refine", [False, True])
def test_a_callback_stops_a_fit(refine, rng, monkeypatch):
    pytest.importorskip("sklearn.callback")
    monkeypatch.setattr("hssvm.training.plan.DEFAULT_MEMORY", 1e5)  # a small working set
    X, y = noisy_classes(rng, 2100)

    class StopsAt:
        def __init__(self, name):
            self.name = name

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            return context.task_name == self.name

    model = SVC(C=1e4, gamma=1, refine=refine, tol=1e-9, approximation=HSS(n_trees=1))
    model.set_callbacks(StopsAt("iteration 1" if refine else "iteration 10"))
    with pytest.warns(ConvergenceWarning, match="callback"):
        model.fit(X, y)
    report = model.fit_report_
    assert report.status == ["STOPPED"]
    assert report.n_rounds[0] == 1 if refine else report.n_iter[0] == 10


def test_repeatable(rng):
    X, y = noisy_classes(rng, 3000)
    seed = int(rng.integers(1000))
    a, b = (SVC(random_state=seed).fit(X, y) for _ in range(2))
    assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_the_papers_compression(rng):
    X, y = noisy_classes(rng, 3000)
    compressor = HSSANN(rtol=1e-4, atol=1e-6, max_rank=400, n_neighbors=100)
    parameters = {"gamma": 0.05, "approximation": HSS(compressor=compressor), "random_state": 0}
    model = SVC(C=1.0, **parameters).fit(X, y)
    assert model.fit_report_.kernel_error < 1e-2
    exact = ExactSVC(C=1.0, gamma=0.05).fit(X, y)
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.98
    values = Gaussian(0.05).block(X, model.support_vectors_) @ model.dual_coef_[0]
    assert_allclose(model.decision_function(X), values + model.intercept_, atol=1e-9)
    with pytest.raises(ValueError, match="not a projection"):
        model.set_params(prediction="compressed").predict(X)
    model.set_params(prediction="auto")
    assert_allclose(clone(model).fit(X, y).dual_coef_, model.dual_coef_)
    path = svc_path(X, y, [1.0], **parameters)
    assert_allclose(path.decision_function(X)[:, 0], model.decision_function(X), atol=1e-9)


def test_the_papers_algorithm_ends_where_its_matrix_is_indefinite(rng):
    X, y = noisy_classes(rng, 3000)
    rough = HSSANN(rtol=1, atol=0.1, max_rank=2, n_neighbors=2)
    operator = HSSOperator(compress(Gaussian(0.02), X, compressor=rough))
    problem = SVCProblem(np.where(y == 1, 1.0, -1.0)[:, None])
    with pytest.raises(RuntimeError, match="raise shift"):
        FixedIterationADMM(beta=1e-3).solve(problem, operator)
    model = SVC(gamma=0.02, approximation=HSS(compressor=rough), solver="paper").fit(X, y)
    assert model.fit_report_.status == ["FIXED"]
