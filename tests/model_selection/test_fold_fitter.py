"""Models that leave out a fold and share the kernel values of their rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, StratifiedKFold

from hssvm import SVCCV, SVRCV
from hssvm.model_selection import fold_fitter

CS = [0.1, 3.0, 100.0]


def fold_values(X, y, *, classify, **parameters):
    """Decision values of the folds, as they are scored, and the scores of all candidates."""
    seen = []

    def scoring(model, rows, targets):
        values = model.decision_function(rows) if classify else model.predict(rows)
        seen.append(values)
        return float(np.mean(values**2))

    search, cv = (SVCCV, StratifiedKFold(3)) if classify else (SVRCV, KFold(3))
    given = {"random_state": 0, "scaling": "standard", "tol": 1e-7} | parameters
    search(CS, gammas=[0.4], cv=cv, scoring=scoring, **given).fit(X, y)
    assert len(seen) >= 3 * len(CS)
    return seen[: 3 * len(CS)]


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_models_with_shared_kernel_values_are_those_with_their_own(n_classes, rng, monkeypatch):
    X = rng.standard_normal((150, 3))
    radius = np.hypot(X[:, 0], X[:, 1])
    y = np.digitize(radius, [0.9, 1.5][: n_classes - 1]) if n_classes else radius
    parameters = {"multi_class": "ovr"} if n_classes else {"epsilon": 0.1}
    at_once, fit = [], fold_fitter.FoldFitter._fit_one

    def fit_one(fitter, job, *args, **kwargs):
        at_once.append(len(job.Cs))
        return fit(fitter, job, *args, **kwargs)

    monkeypatch.setattr(fold_fitter.FoldFitter, "_fit_one", fit_one)
    found = []
    for n_threads, n_Cs in ((1, 3), (4, 2), (9, 1)):
        monkeypatch.setattr(fold_fitter, "thread_count_of", lambda kernel, n=n_threads: n)
        at_once.clear()
        found.append(fold_values(X, y, classify=n_classes > 0, **parameters))
        assert max(at_once) == n_Cs
    for other in found[1:]:
        for ours, theirs in zip(found[0], other, strict=True):
            assert_allclose(ours, theirs, atol=1e-10)
