"""Values of the other radial kernels, per second, relative to the Gaussian kernel.

python -m benchmarks.micro.values [--repeats 20] [--resume] [--render]

Each kernel computes its values between 512 and 2,000 rows on one thread. The kernels take turns,
and the fastest block of each counts. Sparse rows have a tenth of the features, at least four. The
results go to docs/results/values.json.
"""

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import number, setup, table
from benchmarks.timing import Fastest
from hssvm.kernels import Exponential, Gaussian, Laplacian, Matern32, Matern52

KERNELS = {
    "Gaussian": Gaussian,
    "exponential": Exponential,
    "Matern 3/2": Matern32,
    "Matern 5/2": Matern52,
    "L1": Laplacian,
}
FEATURES = [8, 22, 54, 200]
FORMATS = [("dense", "float32"), ("dense", "float64"), ("CSR", "float32"), ("CSR", "float64")]
N_X, N_Y = 512, 2000


def rows_of(form, dtype, p):
    """The rows of X and Y together."""
    rng = np.random.default_rng(0)
    if form == "dense":
        return rng.standard_normal((N_X + N_Y, p)).astype(dtype)
    density = max(4, p // 10) / p
    return scipy.sparse.random_array(
        (N_X + N_Y, p), density=density, format="csr", dtype=dtype, rng=rng
    )


def run(form, dtype, p, repeats):
    """Nanoseconds per value, by kernel."""
    rows, fastest = rows_of(form, dtype, p), Fastest()
    X, Y = rows[:N_X], rows[N_X:]
    with threadpool_limits(1):
        for _ in range(repeats):
            for name, kernel in KERNELS.items():
                fastest.time(name, lambda kernel=kernel: kernel(1 / p).block(X, Y))
    return {name: 1e9 * seconds / (N_X * N_Y) for name, seconds in fastest.items()}


def run_all(results, arguments):
    for form, dtype in FORMATS:
        for p in FEATURES:
            results.measure(f"{form} {dtype}: {p}", run, form, dtype, p, arguments.repeats)


def rates(results):
    """Rates relative to the Gaussian kernel, and its nanoseconds."""
    lines = []
    for key, times in results.runs.items():
        form, _, p = key.partition(": ")
        base = times["Gaussian"]
        others = [number(base / times[name], 2) for name in list(KERNELS)[1:]]
        lines.append([form, p, number(base, 2), *others])
    return table(["rows", "features", "Gaussian, ns per value", *list(KERNELS)[1:]], lines)


TABLES = {"setup": setup, "rates": rates}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    run_command("values", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
