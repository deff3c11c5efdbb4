"""What is left to scikit-learn, and that its answers are scikit-learn's."""

import logging

import numpy as np
import pytest
import sklearn.svm

from hssvm import dropin
from hssvm.dropin.exact import UnsolvedError

FALLBACKS = [
    ("SVC", {"kernel": "sigmoid"}, "not positive semi-definite"),
    ("SVC", {"kernel": lambda X, Y: X @ Y.T}, "a function"),
    ("SVR", {"kernel": "poly", "coef0": -1.0}, "not positive semi-definite"),
    ("SVR", {"kernel": "poly", "degree": 0}, "constant"),
    ("OneClassSVM", {"gamma": 0.0}, "constant"),
    ("SVC", {"max_iter": 7}, "max_iter"),
    ("SVC", {"C": np.inf}, "infinite"),
    ("NuSVC", {"kernel": "linear", "nu": 0.4}, "low rank"),
    ("SVC", {"C": 1e-4, "class_weight": "balanced"}, "the intercept is not unique"),
]


def draw(rng, n=80):
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


@pytest.mark.usefixtures("few_rows")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "parameters", "reason"), FALLBACKS)
def test_falls_back_and_says_why(name, parameters, reason, rng, caplog):
    X, y = draw(rng)
    with caplog.at_level(logging.INFO, "hssvm.dropin"):
        ours = getattr(dropin, name)(**parameters).fit(X, y)
    assert f"sklearn.svm.{name}.fit: trained by scikit-learn: " in caplog.text
    assert reason in caplog.text
    theirs = getattr(sklearn.svm, name)(**parameters).fit(X, y)
    assert np.array_equal(ours.dual_coef_, theirs.dual_coef_)
    assert np.allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
def test_probabilities_are_those_of_scikit_learn(rng):
    X, y = draw(rng, 600)
    ours, theirs = (
        module.SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
        for module in (dropin, sklearn.svm)
    )
    assert np.allclose(ours, theirs)


def test_leaves_few_rows_to_scikit_learn(rng, caplog):
    with caplog.at_level(logging.INFO, "hssvm.dropin"):
        dropin.SVC().fit(*draw(rng))
    assert "80 rows take less time there" in caplog.text


@pytest.mark.usefixtures("few_rows")
def test_infeasible_nu_is_the_error_of_scikit_learn(rng):
    X, _ = draw(rng)
    with pytest.raises(ValueError, match="specified nu is infeasible"):
        dropin.NuSVC(nu=0.9).fit(X, np.arange(80) < 10)


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
def test_weights_without_a_positive_one_are_the_error_of_scikit_learn(name, rng):
    X, y = draw(rng)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        getattr(dropin, name)().fit(X, y, sample_weight=np.zeros(80))


@pytest.mark.usefixtures("few_rows")
def test_falls_back_if_the_solver_does_not_converge(rng, caplog, monkeypatch):
    def fail(*arguments):
        raise UnsolvedError("hssvm did not reach tol=0.001")

    monkeypatch.setattr("hssvm.dropin.duals.solve_pairs_exactly", fail)
    X, y = draw(rng)
    with caplog.at_level(logging.INFO, "hssvm.dropin"):
        ours = dropin.SVC().fit(X, y)
    assert "trained by scikit-learn: hssvm did not reach" in caplog.text
    assert np.array_equal(ours.dual_coef_, sklearn.svm.SVC().fit(X, y).dual_coef_)
