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


@linux
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan needs address space")
def test_a_working_set_needs_no_more_address_space_than_memory(rng):
    code = """
    import resource
    import numpy as np
    from hssvm.kernels import Gaussian
    from hssvm.kernels.lazy import LazyKernelMatrix
    from hssvm.solvers.working_kernel import WorkingKernel

    X = np.random.default_rng({seed}).standard_normal((20_000, 2))
    working_set = WorkingKernel(LazyKernelMatrix(Gaussian(0.5), X), 20_000)
    working_set.admit(np.arange(10), np.empty(0, np.int64))
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, resource.RLIM_INFINITY))
    working_set.admit(np.arange(10, 1400), np.empty(0, np.int64))  # 20,000^2 / 16 are 200 MB
    assert working_set.K.shape[0] < 2000
    try:
        working_set.admit(np.arange(1400, 10_000), np.empty(0, np.int64))
    except MemoryError as error:
        assert "memory_limit" in str(error)
    else:
        raise AssertionError("there was enough memory")
    """
    run_python(code.format(seed=rng.integers(2**31)), OMP_NUM_THREADS="1")
