import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_svc import data

from hssvm import SVC, svc_path


@pytest.mark.parametrize("n", [400, 3000])
def test_path_is_a_fit_for_every_C(n, rng):
    X, y = data(rng, n)
    weight = rng.uniform(0.5, 1.5, n)
    Cs = [0.05, 1.0, 30.0]
    path = svc_path(X, y, Cs, gamma=0.3, random_state=0, tol=1e-5, sample_weight=weight)
    assert path.predict(X).shape == (n, 3)
    assert np.all(path.report.gap <= 1e-5)
    for j, C in enumerate(Cs):
        model = SVC(C=C, gamma=0.3, refine=False, random_state=0, tol=1e-5).fit(
            X, y, sample_weight=weight
        )
        agree = path.predict(X)[:, j] == model.predict(X)
        assert agree.mean() > 0.99
        assert_allclose(path.report.objective[j], model.fit_report_.objective[0], rtol=1e-4)


def test_path_is_for_two_classes(rng):
    X, y = data(rng, 100, n_classes=3)
    with pytest.raises(ValueError, match="svc_path is for two classes"):
        svc_path(X, y, [1.0])
    with pytest.raises(ValueError, match="Cs must be a non-empty sequence of positive numbers"):
        svc_path(X, y > 0, [1.0, -1.0])
    with pytest.raises(TypeError, match="takes no C"):
        svc_path(X, y > 0, [1.0], C=2.0)
