import os

import pytest
from helpers.platforms import linux
from helpers.processes import run_python


@linux
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan ends the process")
def test_a_call_after_a_memory_error_is_right(rng):
    code = """
    import resource
    import numpy as np
    from hssvm.hss import ClusterTree, compress
    from hssvm.kernels import Gaussian

    def matrix(n):
        X = rng.standard_normal((n, 2))
        return compress(Gaussian(0.5), X, ClusterTree.build(X, leaf_size=n))

    rng = np.random.default_rng({seed})
    small, large = matrix(300), matrix(4000)
    b, ones = rng.standard_normal(300), np.ones(4000)
    expected = small @ b
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, resource.RLIM_INFINITY))
    for _ in range(2):
        try:
            large @ ones
        except MemoryError:
            pass
        else:
            raise AssertionError("there was enough memory")
        assert np.array_equal(small @ b, expected)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    assert np.allclose(large @ ones, Gaussian(0.5).block(large.X) @ ones)
    """
    run_python(code.format(seed=rng.integers(2**31)), OMP_NUM_THREADS="1")
