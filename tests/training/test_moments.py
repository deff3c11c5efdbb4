import numpy as np
import pytest
import scipy.sparse

from hssvm.training.data.moments import overall_variance


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_variance_over_all_entries(dtype, rng):
    X = (rng.standard_normal((200, 30)) + 3).astype(dtype) * (rng.random((200, 30)) < 0.3)
    X = X.astype(dtype)
    repeats = rng.integers(0, 4, 200)
    expected = np.var(np.repeat(X, repeats, axis=0).astype(np.float64))
    sparse = scipy.sparse.csr_array(X)
    longer = sparse.copy()  # arrays may have room that is not used
    longer.data, longer.indices = np.append(longer.data, 9), np.append(longer.indices, 0)
    for rows in (X, sparse, longer):
        assert overall_variance(rows, repeats.astype(float)) == pytest.approx(expected)
