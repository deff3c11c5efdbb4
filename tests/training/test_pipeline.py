"""One training pipeline for every estimator."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hssvm import HSS, SVC, SVCCV, SVR, OneClassSVM, svc_path
from hssvm.kernels import Gaussian
from hssvm.training import (
    Classification,
    FitReport,
    Monitor,
    NoveltyDetection,
    Regression,
    TrainingConfig,
    plan_task,
    train,
)


class ReachedSolve(Exception):
    pass


FITS = {
    "SVC": lambda X, y: SVC().fit(X, y),
    "SVC, three classes": lambda X, y: SVC().fit(X, y + (X[:, 0] > 1)),
    "SVR": lambda X, y: SVR().fit(X, y),
    "OneClassSVM": lambda X, y: OneClassSVM().fit(X),
    "SVCCV": lambda X, y: SVCCV(Cs=[1.0], gammas=[1.0], scaling=None).fit(X, y),
    "SVCCV, scaled": lambda X, y: SVCCV(Cs=[1.0], gammas=[1.0], scaling="minmax").fit(X, y),
    "svc_path": lambda X, y: svc_path(X, y, Cs=[1.0, 2.0]),
}


@pytest.mark.parametrize("name", FITS)
def test_every_fit_goes_through_the_pipeline(name, rng, monkeypatch):
    def solve(*args, **kwargs):
        raise ReachedSolve

    monkeypatch.setattr("hssvm.training.pipeline.train_forest", solve)
    monkeypatch.setattr("hssvm.training.pipeline.train_exact", solve)
    X = rng.standard_normal((200, 2))
    with pytest.raises(ReachedSolve):
        FITS[name](X, (X[:, 0] * X[:, 1] > 0).astype(int))


@pytest.mark.parametrize(
    ("refine", "approximation"), [(False, None), ("auto", HSS()), (True, None)]
)
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
def test_an_estimator_stores_what_training_returns(name, refine, approximation, rng):
    X = rng.standard_normal((3000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
    values = X[:, 0] * X[:, 1]
    estimator, target, task = {
        "SVC": (SVC(C=3.0), y, Classification(np.ones(2), np.array([3.0]))),
        "SVR": (SVR(C=3.0), values, Regression(3.0, 0.1, center=float(np.median(values)))),
        "OneClassSVM": (OneClassSVM(nu=0.2), y, NoveltyDetection(0.2)),
    }[name]
    estimator.set_params(gamma=0.7, refine=refine, approximation=approximation, random_state=0)
    estimator.fit(X, target)
    exact, seed = refine is True, np.random.RandomState(0).randint(2**31 - 1)
    config = TrainingConfig(
        refine=refine, approximation=approximation, limit_work=not exact, seed=seed
    )
    kernel = Gaussian(0.7)
    plan, problem = plan_task(config, task, X, target, np.ones(3000), kernel)
    result = train(problem, kernel, X, plan, FitReport(), Monitor())
    assert_array_equal(estimator.support_, result.support)
    assert_array_equal(estimator.dual_coef_, result.coefficients.T)
    assert_array_equal(estimator.fit_report_.gap, result.report.gap)
    assert result.report.exact_kernel == exact
    assert (result.compressed is None) == exact
    T = rng.standard_normal((50, 2))
    predictor = result.exact if exact else result.compressed
    assert_array_equal(estimator._predictor()(T), predictor(T))


def test_a_predictor_is_made_once(rng):
    """A prediction copies no coefficients."""
    X = rng.standard_normal((300, 2))
    model = SVC().fit(X, X[:, 0] > 0)
    for prediction in ("auto", "exact"):
        model.set_params(prediction=prediction)
        assert model._predictor() is model._predictor()
