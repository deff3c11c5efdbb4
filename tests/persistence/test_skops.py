"""Models in files of skops, which loads only types that are known or trusted."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.rows import noisy_classes
from numpy.testing import assert_array_equal

from hssvm import (
    HSS,
    SVC,
    SVR,
    Cells,
    CensoredSVR,
    GaussianProcessRegressor,
    KernelRidge,
    OneClassSVM,
    QuantileSVR,
)

skops = pytest.importorskip("skops.io")

GUIDE = Path(__file__).parents[2] / "docs/guide/save.md"


@pytest.mark.parametrize(
    "model",
    [
        SVC(probability="sigmoid", random_state=0),
        SVC(approximation=Cells(size=200), random_state=0),
        SVC(approximation=HSS(n_trees=2, leaf_size=64, max_rank=32), random_state=0),
        SVC(multi_class="ovo"),
        SVR(),
        QuantileSVR(quantile=[0.1, 0.9]),
        CensoredSVR(),
        KernelRidge(),
        GaussianProcessRegressor(),
        OneClassSVM(nu=0.2),
    ],
)
def test_the_types_of_the_guide_are_enough(model, rng):
    X, y = noisy_classes(rng, 400 if model.approximation is None else 2100, 3)
    data = skops.dumps(model.fit(X, y))
    untrusted = skops.get_untrusted_types(data=data)
    assert set(untrusted) <= set(re.findall(r'"(hssvm\.[\w.]+)"', GUIDE.read_text()))
    assert_array_equal(skops.loads(data, trusted=untrusted).predict(X), model.predict(X))
    assert np.all([name.startswith("hssvm.") for name in untrusted])
