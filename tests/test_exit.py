"""The interpreter exits cleanly, whatever the core holds or does."""

import gc
import weakref

import pytest
from helpers.processes import run_python

from hssvm.hss import compress
from hssvm.kernels import CallableKernel, Gaussian


def test_nothing_leaks_at_exit():
    code = """
    import numpy as np
    import hssvm
    from hssvm.hss import compress, factor
    from hssvm.kernels import CallableKernel, Gaussian

    def kernel(rows, columns):
        return Gaussian(1.0).block(rows, columns)

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.sign(X[:, 0])
    models = [
        model(kernel=k).fit(X, y)
        for k in ("rbf", kernel)
        for model in (hssvm.SVC, hssvm.SVR, hssvm.OneClassSVM)
    ]
    predictions = [model.predict(X) for model in models]
    kernel.matrix = compress(CallableKernel(kernel), X)
    kernel.factor = factor(kernel.matrix, shift=1.0)
    """
    assert run_python(code).stderr == ""


def test_a_kernel_that_refers_to_its_matrix_is_collected(rng):
    def kernel(rows, columns):
        return Gaussian(1.0).block(rows, columns)

    kernel.matrix = compress(CallableKernel(kernel), rng.standard_normal((100, 3)))
    reference = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("kernel", ["Gaussian(0.1)", "CallableKernel(Gaussian(0.1).block)"])
def test_a_daemon_thread_may_compute_until_the_exit(kernel):
    code = f"""
    import threading
    import numpy as np
    from hssvm.hss import compress
    from hssvm.kernels import CallableKernel, Gaussian

    X = np.random.default_rng(0).standard_normal((3000, 3))
    started = threading.Event()

    def work():
        while True:
            matrix = compress({kernel}, X)
            started.set()
            for _ in range(100):
                matrix @ np.ones(3000)

    threading.Thread(target=work, daemon=True).start()
    started.wait()
    """
    assert run_python(code).stderr == ""
