import numpy as np
import pytest
import scipy.sparse
from helpers.processes import run_python

from hssvm.kernels.sparse_format import require_valid_sparse


def random_sparse(rng, format="csr"):
    X = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.4)
    return scipy.sparse.csr_array(X).asformat(format)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_valid_matrices_pass(format, rng):
    require_valid_sparse(random_sparse(rng).asformat(format))
    require_valid_sparse(scipy.sparse.csr_array((5, 3)).asformat(format))
    require_valid_sparse(scipy.sparse.csr_array((0, 3)).asformat(format))


def test_room_that_is_not_used_passes(rng):
    X = random_sparse(rng)
    X.indices = np.append(X.indices, np.int32(99))
    X.data = np.append(X.data, np.nan)
    require_valid_sparse(X)
    assert X.indices[-1] == 99  # and is left alone


BROKEN = {
    "column too large": "X.indices[3] = 10**9",
    "negative column": "X.indices[3] = -(10**6)",
    "end beyond the data": "X.indptr[-1] = 10**9",
    "start beyond the data": "X.indptr[0] = 10**9",
    "decreasing": "X.indptr[5] = 10**9",
    "negative indptr": "X.indptr[5] = -(10**9)",
    "short indptr": "X.indptr = X.indptr[:3]",
    "short data": "X.data = X.data[:3]",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_broken_compressed_matrices(format, broken, rng):
    X = random_sparse(rng).asformat(format)
    exec(broken)
    with pytest.raises(ValueError, match=rf"not a valid {format.upper()} matrix.* rebuild it"):
        require_valid_sparse(X)


@pytest.mark.parametrize("broken", ["X.row[2] = 10**6", "X.col[2] = -5", "X.data = X.data[:3]"])
def test_broken_coordinates(broken, rng):
    X = random_sparse(rng, "coo")
    exec(broken)
    with pytest.raises(ValueError, match="not a valid COO matrix"):
        require_valid_sparse(X)


def test_everything_that_takes_rows_refuses_broken_ones(rng):
    code = f"""
    import numpy as np
    import scipy.sparse
    from hssvm import SVC, SVCCV, SVR, OneClassSVM, svc_path
    from hssvm.hss import ClusterTree, compress
    from hssvm.kernels import Gaussian, Linear

    rng = np.random.default_rng({rng.integers(2**31)})
    valid = scipy.sparse.csr_array(rng.standard_normal((300, 6)) * (rng.random((300, 6)) < 0.5))
    y = np.arange(300) % 2
    path = svc_path(valid, y, Cs=[1.0])
    calls = [
        lambda X: ClusterTree.build(X), lambda X: compress(Gaussian(1.0), X),
        lambda X: Linear().block(X), lambda X: Gaussian(1.0).diag(X), path.decision_function,
        lambda X: svc_path(X, y, Cs=[1.0]), lambda X: SVCCV(Cs=[1.0]).fit(X, y),
    ]
    for model in (SVC().fit(valid, y), SVR().fit(valid, y)):
        calls.append(model.predict)
        calls += [
            lambda X, method=getattr(model, name): method(X, y)
            for name in ("fit", "score", "certify", "estimate_cost")
        ]
    novelty = OneClassSVM().fit(valid)
    names = ("predict", "decision_function", "score_samples", "fit", "certify", "estimate_cost")
    calls += [getattr(novelty, name) for name in names]
    for broken in {list(BROKEN.values())}:
        for i, call in enumerate(calls):
            X = valid.copy()
            exec(broken)
            try:
                call(X)
            except ValueError as error:
                assert "not a valid CSR matrix" in str(error), error
            else:
                raise AssertionError(f"call {{i}} accepted it after {{broken}}")
    """
    run_python(code)
