"""Exact fits on one thread and on all: speed-up, serial share, and the speed-up on more cores.

python -m benchmarks.micro.threads [NAME ...] [--repeats 3] [--resume] [--render]

The serial share follows from the two times by Amdahl's law, and from it the speed-up on 16 and 64
cores: computed, not measured. The first run is a loop without a serial part: it falls short of the
number of cores only where they share something (a clock, a memory bus, or one core for two
threads), and the serial shares of the fits include that loss. Runs on one thread and on all
alternate; the best of each counts. The results go to docs/results/threads.json.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import number, seconds, setup, table
from benchmarks.peers.settings import HARDER, load_problem
from benchmarks.timing import Fastest
from hssvm import SVC, _core
from hssvm.kernels import Gaussian

NAMES = ["covtype.50k", "mnist", "a9a", "cod-rna"]
MORE_CORES = 16, 64
ROWS = 40_000


def serial_share(alone, together, n_threads):
    """Share s of the time on one thread for which T(n) = T(1) (s + (1 - s) / n), at least 0."""
    return max(0.0, (n_threads * together / alone - 1) / (n_threads - 1))


def speed_up(share, n_threads):
    """Speed-up on `n_threads` threads by Amdahl's law."""
    return 1 / (share + (1 - share) / n_threads)


def compare(run, n_threads, repeats):
    """Best seconds of ``run()`` on one thread and on all."""
    fastest = Fastest()
    for _ in range(repeats):
        for n in (1, n_threads):
            with threadpool_limits(n, user_api="openmp"):
                fastest.time(n, run)
    return {"threads": n_threads, "alone": fastest[1], "together": fastest[n_threads]}


def kernel_values(n_threads, repeats):
    """A loop without a serial part."""
    rng, kernel = np.random.default_rng(0), Gaussian(0.1)
    rows, one = rng.standard_normal((ROWS, 50), np.float32), np.ones((ROWS, 1), np.float32)
    return compare(lambda: kernel.product(rows, rows, one), n_threads, repeats)


def fit(name, n_threads, repeats):
    (X, y, _, _), parameters = load_problem(name, HARDER)
    model = SVC(**parameters, refine=True, random_state=0)
    return {"rows": len(y), **compare(lambda: model.fit(X, y), n_threads, repeats)}


def run_all(results, arguments):
    n_threads = _core.thread_count()
    if n_threads == 1:
        raise SystemExit("There is one thread; set OMP_NUM_THREADS to compare it with more.")
    results.measure("kernel values", kernel_values, n_threads, arguments.repeats)
    for name in arguments.names:
        results.measure(name, fit, name, n_threads, arguments.repeats)


def speeds_table(results):
    lines, n_threads = [], next(iter(results.runs.values()))["threads"]
    for name, run in results.runs.items():
        share_of_one = serial_share(run["alone"], run["together"], run["threads"])
        lines.append(
            [
                f"{name}, {run['rows']:,} rows" if "rows" in run else name,
                seconds(run["alone"]),
                seconds(run["together"]),
                f"{run['alone'] / run['together']:.2f}",
                f"{100 * share_of_one:.0f} %",
                *(number(speed_up(share_of_one, n), 2) for n in MORE_CORES),
            ]
        )
    head = ["", "1 thread", f"{n_threads} threads", "speed-up", "serial share"]
    return table([*head, *(f"{n} cores (computed)" for n in MORE_CORES)], lines)


TABLES = {"setup": setup, "speeds": speeds_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=3)
    run_command("threads", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
