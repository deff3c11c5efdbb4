"""Fits on a machine that is not idle: beside another fit, beside other work, under a CPU quota.

python -m benchmarks.micro.busy [NAME] [--repeats 3] [--rival]

Times are relative to one fit on one thread of an idle machine, measured in the same run; the best
of the repeats counts. Each fit runs in a process of its own with untouched defaults, after a fit
that warms up; --rival fits SVC of scikit-learn-intelex instead. The quota is a control group, which
takes root on Linux; it is left out elsewhere.
"""

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed

CGROUPS = Path("/sys/fs/cgroup")
PERIOD = 100_000
"""Microseconds, the kernel's own default."""


def fit(name, rival):
    """Run in a process of its own: warm up, wait for a line, fit, print the seconds."""
    if rival:
        from sklearnex.svm import SVC
    else:
        from hssvm import SVC
    (X, y, _, _), parameters = load_setting(name)
    model = SVC(**parameters, random_state=0)
    model.fit(X[:5000], y[:5000])
    print("ready", flush=True)
    sys.stdin.readline()
    print(timed(lambda: model.fit(X, y))[1], flush=True)


def fits_at_once(arguments, count, cgroup=None, **environment):
    """Longest seconds of `count` processes that start to fit at the same moment."""

    def enter():
        if cgroup is not None:
            (cgroup / "cgroup.procs").write_text(str(os.getpid()))

    command = [sys.executable, "-m", "benchmarks.micro.busy", arguments.name, "--child"]
    command += ["--rival"] if arguments.rival else []
    processes = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment}, preexec_fn=enter,
        )
        for _ in range(count)
    ]  # fmt: skip
    with ExitStack() as stack:
        for process in processes:
            stack.enter_context(process)
        for process in processes:
            if process.stdout.readline() != "ready\n":
                raise RuntimeError("a fit ended before it began; its error is above")
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        return max(float(process.stdout.readline()) for process in processes)


@contextmanager
def other_work():
    """Context in which a serial program runs on every core."""
    processes = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def quota_of_one_cpu():
    """Context with a control group that may use one CPU's time; None where none can be made."""
    first = (CGROUPS / "cpu").is_dir()  # of the two versions of control groups
    group = (CGROUPS / "cpu" if first else CGROUPS) / f"hssvm-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        if first:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(PERIOD))
        else:
            (group / "cpu.max").write_text(f"{PERIOD} {PERIOD}")
        yield group
    finally:
        group.rmdir()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="ijcnn1")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rival", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        fit(arguments.name, arguments.rival)
        return
    cores = os.cpu_count()
    with quota_of_one_cpu() as cgroup:

        def beside_other_work():
            with other_work():
                return fits_at_once(arguments, 1)

        cases = {
            "one fit, one thread": lambda: fits_at_once(arguments, 1, OMP_NUM_THREADS="1"),
            "one fit, all cores": lambda: fits_at_once(arguments, 1),
            f"{cores} fits at once": lambda: fits_at_once(arguments, cores),
            f"beside {cores} busy programs": beside_other_work,
        }
        if cgroup is None:
            print("no quota: control groups cannot be made here (root on Linux can)")
        else:
            cases["quota of one CPU"] = lambda: fits_at_once(arguments, 1, cgroup)
        seconds = {case: [] for case in cases}
        for _ in range(arguments.repeats):  # in turns: a busy moment of the machine hits all
            for case, run in cases.items():
                seconds[case].append(run())
    reference = min(seconds["one fit, one thread"])
    for case, values in seconds.items():
        print(
            f"{arguments.name:10s}{case:26s}{min(values):7.2f} s  {min(values) / reference:5.2f} x"
        )


if __name__ == "__main__":
    main()
