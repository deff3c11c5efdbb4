"""A fit larger than memory: matrix and factor in files, beside the same fit in memory.

python -m benchmarks.scaling.out_of_core [--rows 8000000] [--limit 6] [--trees 2] [--threads 2]

Makes the rows of `growth` (18 features, float32), and fits them in two processes, one after the
other: without a limit, and in a control group (cgroup v1 or v2; this needs root) whose memory,
including the page cache, is limited to --limit GB. Prints the seconds of each stage, the peak
memory, and the accuracy on 100,000 other rows.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np

from benchmarks.scaling.partitions import gamma_of, make_piece

CGROUPS = Path("/sys/fs/cgroup")
TEST_ROWS = 100_000


@contextmanager
def limited_group(n_bytes):
    """A control group with a limit of memory; yields the file that takes its processes."""
    version_1 = (CGROUPS / "memory").is_dir()
    group = (CGROUPS / "memory" if version_1 else CGROUPS) / f"hssvm-{os.getpid()}"
    group.mkdir()
    try:
        limit = "memory.limit_in_bytes" if version_1 else "memory.max"
        (group / limit).write_text(str(int(n_bytes)))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def fit(directory, limit, n_trees):
    """Fit in this process; print the figures as JSON."""
    from hssvm import SVC

    X, y = (np.load(Path(directory) / f"{name}.npy") for name in ("X", "y"))
    # Beside X, the interpreter takes memory; and the system needs some for the files that are read.
    memory_limit = None if limit is None else limit - X.nbytes - 0.6e9
    model = SVC(
        gamma=gamma_of(X.shape[1]),
        n_trees=n_trees,
        refine=False,
        memory_limit=memory_limit,
        random_state=0,
        verbose=1,
    )
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    X_test, y_test = make_piece(TEST_ROWS, 10**6)
    found = {
        "fit": seconds,
        **model.fit_report_.seconds,
        "iterations": int(model.fit_report_.n_iter.max()),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "accuracy": 100 * model.score(X_test, y_test),
    }
    print(json.dumps(found))


def run(directory, limit, n_trees, n_threads):
    """Fit in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, "--directory", directory]
    command += ["--trees", str(n_trees), *(["--limit", str(limit)] if limit else [])]
    with limited_group(1e9 * limit) if limit else nullcontext() as members:
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(n_threads)},
            preexec_fn=members and (lambda: members.write_text(str(os.getpid()))),
        )
        output, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(f"the fit ended with {child.returncode}")
    return json.loads(output.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--limit", type=float, help="GB")
    parser.add_argument("--trees", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--directory", help="rows that were made; for internal use")
    arguments = parser.parse_args()
    if arguments.directory:
        limit = arguments.limit and 1e9 * arguments.limit
        fit(arguments.directory, limit, arguments.trees)
        return
    with tempfile.TemporaryDirectory() as directory:
        X, y = make_piece(arguments.rows, 0)
        np.save(Path(directory) / "X.npy", X)
        np.save(Path(directory) / "y.npy", y)
        del X, y
        results = [
            run(directory, limit, arguments.trees, arguments.threads)
            for limit in (None, arguments.limit or 6.0)
        ]
    for key in results[0]:
        print(f"{key:12}" + "".join(f"{found.get(key, 0):10.4g}" for found in results))
    print(f"on disk {results[1]['fit'] / results[0]['fit']:.2f} times as long")


if __name__ == "__main__":
    main()
