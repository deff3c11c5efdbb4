"""Exact fits on one thread and on all: speed-up, serial share, and the speed-up on more cores.

python -m benchmarks.micro.threads [NAME ...] [--repeats 3]

The serial share follows from the two times by Amdahl's law, and from it the speed-up on 16 and 64
cores: computed, not measured. The first line is a loop without a serial part: it falls short of the
number of cores only where they share something (a clock, a memory bus, or one core for two
threads), and the serial shares of the fits include that loss. Runs on one thread and on all
alternate; the best of each counts.
"""

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers.exact import CHANGED
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC, _core
from hssvm.kernels import Gaussian

MORE_CORES = 16, 64


def serial_share(alone, together, n_threads):
    """Share s of the time on one thread for which T(n) = T(1) (s + (1 - s) / n)."""
    return (n_threads * together / alone - 1) / (n_threads - 1)


def speed_up(share, n_threads):
    """Speed-up on `n_threads` threads by Amdahl's law."""
    return 1 / (share + (1 - share) / n_threads)


def compare(run, repeats):
    """Best seconds of ``run()`` on one thread and on all."""
    seconds = {1: [], _core.thread_count(): []}
    for _ in range(repeats):
        for n_threads, times in seconds.items():
            with threadpool_limits(n_threads, user_api="openmp"):
                times.append(timed(run)[1])
    return [min(times) for times in seconds.values()]


def report(name, alone, together):
    """Print a line of the table."""
    share = serial_share(alone, together, _core.thread_count())
    more = "".join(f"{speed_up(share, n):10.1f} x" for n in MORE_CORES)
    print(
        f"{name:14s}{alone:8.2f} s{together:11.2f} s{alone / together:8.2f} x"
        f"{100 * share:11.0f} %{more}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["covtype.50k", "mnist", "a9a", "cod-rna"])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if _core.thread_count() == 1:
        parser.error("one thread: there is nothing to compare")
    print(f"{'':16s}1 thread   {_core.thread_count()} threads  speed-up  serial share", end="")
    print("".join(f"  on {n} cores" for n in MORE_CORES), "(computed)")
    rng, kernel = np.random.default_rng(0), Gaussian(0.1)
    rows, one = rng.standard_normal((40_000, 50), np.float32), np.ones((40_000, 1), np.float32)
    report("kernel values", *compare(lambda: kernel.product(rows, rows, one), arguments.repeats))
    for name in arguments.names:
        (X, y, _, _), parameters = load_setting(name, **CHANGED.get(name, {}))
        model = SVC(**parameters, refine=True, random_state=0)
        report(name, *compare(lambda model=model, X=X, y=y: model.fit(X, y), arguments.repeats))


if __name__ == "__main__":
    main()
