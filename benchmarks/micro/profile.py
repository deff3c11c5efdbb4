"""Where the time of a fit goes, and what share of it the kernel values alone would take.

python -m benchmarks.micro.profile [NAME ...] [--resume] [--render]

The functions of the core are timed while a model is fitted; what is left of the time is Python and
NumPy. Calls that run side by side share the time. The *bound* is the time in which a plain loop
over the kernel, timed in the same process, computes as many values as the fit did, on all threads.
The values of parts that the core solves on its own, such as cells, are not counted, so such fits
have no bound. The results go to docs/results/profile.json. Threads: set OMP_NUM_THREADS.
"""

import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import ABSENT, seconds, setup, share, table
from benchmarks.peers.settings import HARDER, REGRESSION, load_problem
from benchmarks.timing import Fastest, timed
from hssvm import SVC, SVR, Cells, _core
from hssvm.kernels import Gaussian

STAGES = {
    "kernel values": ["kernel_block", "set_symmetric"],
    "products": ["grouped_product", "add_transposed_product"],
    "SMO": ["smo"],
    "parts": ["solve_small", "solve_parts"],
    "tree": ["sample_positions", "project", "ties_below", "split_level"],
    "compression": ["compress_level_f32", "compress_level_f64"],
    "factor": ["factor_level"],
    "solves": ["solve_up", "solve_down", "solve_up_leaves", "matmul_up", "matmul_down",
        "matmul_down_leaves", "matmul_down_leaves_from_factor", "shifted_prox"],
}  # fmt: skip
REST = "Python"
BOUND_ROWS = 8000
"""Number of rows of the kernel matrix that the plain loop computes."""

FEW_PARTS = 0.05
"""Share of the time in parts up to which there is a bound; decisions about the start take some."""

FITS = {
    "ijcnn1": {},
    "cod-rna": {},
    "a9a": {},
    "covtype.50k": {},
    "mnist": {},
    "casp": {},
    "letter": {"probability": "sigmoid"},
    "covtype.binary, cells": {"approximation": Cells(2000)},
}
"""The fits: names of data sets, and parameters."""


@dataclass
class Clock:
    """Seconds and kernel values of calls of the core, while `installed`."""

    seconds: Counter = field(default_factory=Counter)
    n_values: int = 0
    running: Counter = field(default_factory=Counter)
    changed: float = field(default_factory=time.perf_counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def installed(self):
        """Time the functions of the core."""
        names = [name for group in STAGES.values() for name in group]
        originals = {name: getattr(_core, name) for name in names}
        try:
            for stage, group in STAGES.items():
                for name in group:
                    setattr(_core, name, self._timed(stage, name, originals[name]))
            yield self
        finally:
            for name, function in originals.items():
                setattr(_core, name, function)

    def _timed(self, stage, name, function):
        def call(*arguments):
            self._change(stage, 1)
            try:
                return function(*arguments)
            finally:
                self._change(stage, -1, n_values_of(name, arguments))

        return call

    def _change(self, stage, change, n_values=0):
        """Divide the time since the last change among the calls that were running."""
        with self.lock:
            now = time.perf_counter()
            for each, count in self.running.items():
                self.seconds[each] += (now - self.changed) * count / self.running.total()
            self.changed = now
            self.running[stage] += change
            self.running += Counter()  # drops zeros
            self.n_values += n_values


def n_values_of(name, arguments):
    """Number of kernel values that a call of the core computes."""
    if name == "kernel_block":
        return arguments[-1].size
    if name == "grouped_product":
        x_ends, y_ends = arguments[3], arguments[6]
        return int(np.diff(x_ends) @ np.diff(y_ends))
    return 0


def seconds_per_value(X, gamma):
    """Seconds per kernel value of a product with a single column, the best of three."""
    kernel, fastest = Gaussian(gamma), Fastest()
    rows = X[np.random.default_rng(0).permutation(X.shape[0])[:BOUND_ROWS]]
    one = np.ones((rows.shape[0], 1), X.dtype)
    for _ in range(3):
        fastest.time("product", lambda: kernel.product(rows, rows, one))
    return fastest["product"] / rows.shape[0] ** 2


def run(name):
    """Profile one fit."""
    data_set = name.partition(",")[0]
    (X, y, _, _), parameters = load_problem(data_set, HARDER)
    X = X.astype(np.float32)
    kind = SVR if data_set in REGRESSION else SVC
    model = kind(**parameters, **FITS[name], scaling=None, random_state=0)
    some = np.random.default_rng(0).permutation(len(y))[:1000]
    kind(**parameters, scaling=None).fit(X[some], y[some])  # warms up
    with Clock().installed() as clock:
        _, fit = timed(lambda: model.fit(X, y))
    found = {"rows": len(y), "fit": fit, "seconds": dict(clock.seconds)}
    if clock.seconds["parts"] < FEW_PARTS * fit:
        found["bound"] = clock.n_values * seconds_per_value(X, parameters["gamma"])
        found["values"] = clock.n_values / len(y) ** 2
    return found


def run_all(results, arguments):
    for name in arguments.names:
        results.measure(name, run, name)


def shares(results):
    """Share of the time in each stage, and the bound."""
    used = [stage for stage in STAGES if any(stage in r["seconds"] for r in results.runs.values())]
    lines = []
    for name, found in results.runs.items():
        spent = found["seconds"]
        rest = found["fit"] - sum(spent.values())
        parts = [spent.get(stage, 0) / found["fit"] for stage in used]
        counted = [ABSENT] * 2
        if "bound" in found:
            counted = [f"{found['values']:.2g}", share(found["bound"] / found["fit"])]
        lines.append(
            [f"{name} ({found['rows']:,} rows)", seconds(found["fit"]),
             *(share(part) if part else ABSENT for part in parts), share(rest / found["fit"]),
             *counted]
        )  # fmt: skip
    return table(["", "fit", *used, REST, "kernel values / n²", "share of the bound"], lines)


TABLES = {"setup": setup, "shares": shares}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=list(FITS), metavar="NAME")
    run_command("profile", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
