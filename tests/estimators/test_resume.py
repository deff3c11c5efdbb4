"""Saved models of fits that ended early, and the names of their columns."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import hssvm
from hssvm import HSS, SVC, SVR


@pytest.fixture
def rings(rng):
    X = rng.standard_normal((3000, 2))
    return X, np.hypot(*X.T) < 1.2


def test_a_saved_model_resumes(rings, tmp_path):
    parameters = {"C": 100, "approximation": HSS(n_trees=1), "tol": 1e-6, "random_state": 0}
    cold = SVC(**parameters).fit(*rings)
    almost = int(cold.n_iter_[0]) - 10
    with pytest.warns(ConvergenceWarning):
        SVC(**parameters, max_iter=almost).fit(*rings).save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    before = loaded.decision_function(rings[0])
    assert not hasattr(loaded, "support_vectors_")
    with pytest.raises(ValueError, match="needs the support vectors"):
        loaded.set_params(prediction="exact").predict(rings[0])
    loaded.set_params(prediction="auto").save(tmp_path / "again")
    loaded = hssvm.load(tmp_path / "again")
    assert np.array_equal(loaded.decision_function(rings[0]), before)
    loaded.set_params(max_iter=1000, warm_start=True).fit(*rings)
    assert loaded.fit_report_.status == ["CONVERGED"]
    first, cold_first = (m.fit_report_.history["solve"][0][1][0] for m in (loaded, cold))
    assert first < 0.1 * cold_first
    loaded.save(tmp_path / "done")
    assert not hasattr(hssvm.load(tmp_path / "done"), "dual_coef_")


@pytest.mark.parametrize("damage", ["nan", "shape", "rows", "missing"])
def test_damaged_coefficients_are_refused(damage, rings):
    with pytest.warns(ConvergenceWarning):
        model = SVC(approximation=HSS(n_trees=1), max_iter=10, tol=1e-9, random_state=0).fit(*rings)
    document, arrays = model._pack()
    SVC()._restore(document, dict(arrays))
    if damage == "nan":
        arrays["dual_coef"] = arrays["dual_coef"] * np.nan
    elif damage == "shape":
        arrays["dual_coef"] = arrays["dual_coef"][:, 1:]
    elif damage == "rows":
        arrays["support"] = arrays["support"] + 3000
    else:
        del arrays["dual_coef"]
    with pytest.raises(ValueError, match=r"support|dual_coef"):
        SVC()._restore(document, arrays)


def test_the_name_of_the_labels_is_kept(rings, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rings[0], columns=["a", "b"])
    model = SVR(random_state=0).fit(frame, pandas.Series(rings[1] * 1.0, name="inside"))
    assert model.target_name_ == "inside"
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert loaded.target_name_ == "inside"
    assert list(loaded.feature_names_in_) == ["a", "b"]
    assert model.fit(*rings).target_name_ is None
