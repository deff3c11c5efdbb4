"""The core runs no instruction that the CPU lacks: the same fits on emulated older CPUs."""

import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        platform.machine() != "x86_64" or shutil.which("qemu-x86_64") is None,
        reason="needs qemu-x86_64 (Debian package qemu-user)",
    ),
]

FITS = """
import sys
import numpy as np
import scipy.sparse
from hssvm import HSS, SVC, SVR

rng = np.random.default_rng(int(sys.argv[1]))
X, T = (rng.uniform(-1, 1, (n, 4)).astype(sys.argv[2]) for n in (2200, 200))
t = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
y, some = t > 0.3, slice(300)
exact = SVC(tol=1e-4).fit(X[some], y[some])
sparse = SVC(tol=1e-4).fit(scipy.sparse.csr_array(X[some]), y[some])
compressed = SVC(tol=1e-4, approximation=HSS(), random_state=0).fit(X, y)
regression = SVR(tol=1e-4).fit(X[some], t[some])
print(*[value for model in (exact, sparse, compressed) for value in model.decision_function(T)])
print(*regression.predict(T))
"""


def fitted_values(seed, dtype, *emulator):
    command = [*emulator, sys.executable, "-c", FITS, str(seed), dtype]
    run = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, f"exit code {run.returncode}\n{run.stderr}"
    return np.array(run.stdout.split(), float)


# Nehalem has neither AVX nor FMA, Haswell has no AVX-512.
@pytest.mark.parametrize("cpu, dtype", [("Nehalem", "float32"), ("Haswell", "float64")])
def test_same_models_on_older_cpus(cpu, dtype, request):
    seed = request.config.getoption("--seed")
    emulated = fitted_values(seed, dtype, "qemu-x86_64", "-cpu", cpu)
    assert emulated.size == 800
    assert_allclose(emulated, fitted_values(seed, dtype), atol=0.01)
