import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from hssvm.training.data.scaling import Scaling


@pytest.mark.parametrize("kind", ["standard", "minmax"])
def test_sparse_rows_for_a_scaling_of_dense_rows(kind, rng):
    X = np.abs(rng.standard_normal((20, 3)))
    scaling = Scaling.of(X, kind)
    assert_allclose(scaling(scipy.sparse.csr_array(X)), scaling(X))
