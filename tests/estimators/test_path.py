import numpy as np
import pytest
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose

from hssvm import HSS, SVC, Cells, svc_path


@pytest.mark.parametrize("approximation", [HSS(), Cells(size=250)])
@pytest.mark.parametrize("n", [400, pytest.param(3000, marks=pytest.mark.slow)])
def test_path_is_a_fit_for_every_C(n, approximation, rng):
    X, y = noisy_classes(rng, n)
    weight = rng.uniform(0.5, 1.5, n)
    Cs = [0.05, 1.0, 30.0]
    parameters = {"gamma": 0.3, "approximation": approximation, "random_state": 0, "tol": 1e-5}
    path = svc_path(X, y, Cs, sample_weight=weight, **parameters)
    assert path.predict(X).shape == (n, 3)
    assert np.all(path.fit_report_.gap <= 1e-5)
    for j, C in enumerate(Cs):
        model = SVC(C=C, **parameters).fit(X, y, sample_weight=weight)
        agree = path.predict(X)[:, j] == model.predict(X)
        assert agree.mean() > 0.99
        assert_allclose(path.fit_report_.objective[j], model.fit_report_.objective[0], rtol=1e-4)


def test_path_is_for_two_classes(rng):
    X, y = noisy_classes(rng, 100, n_classes=3)
    with pytest.raises(ValueError, match="svc_path needs two classes"):
        svc_path(X, y, [1.0])
    with pytest.raises(ValueError, match="Cs must be a non-empty sequence of positive numbers"):
        svc_path(X, y > 0, [1.0, -1.0])
    with pytest.raises(TypeError, match="has no parameter 'C': pass the values as Cs"):
        svc_path(X, y > 0, [1.0], C=2.0)
