"""Fits on a machine that is not idle: beside another fit, beside other work, under a CPU quota.

python -m benchmarks.micro.busy [NAME ...] [--repeats 3] [--resume] [--render]

Times are relative to one fit on one thread of an idle machine, measured in the same run; the best
of the repeats counts. Each fit runs in a process of its own with untouched defaults (without
OMP_NUM_THREADS), after a fit that warms up. The quota is a control group, which takes root on
Linux; it is left out elsewhere. The results go to docs/results/busy.json.
"""

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager

from benchmarks.cgroups import control_group
from benchmarks.command import run_sets
from benchmarks.markdown import ABSENT, seconds, setup, table
from benchmarks.peers.settings import load_setting
from benchmarks.results import ROOT
from benchmarks.timing import Fastest, timed
from hssvm import SVC

NAMES = ["ijcnn1", "cod-rna"]
PERIOD = 100_000
"""Microseconds of the quota, the kernel's own default."""

CHILD = "from benchmarks.micro.busy import fit; fit({!r})"
ALONE = "one fit, one thread"


def fit(name):
    """Run in a process of its own: warm up, wait for a line, fit, print the seconds."""
    (X, y, _, _), parameters = load_setting(name)
    model = SVC(**parameters, random_state=0)
    model.fit(X[:5000], y[:5000])
    print("ready", flush=True)
    sys.stdin.readline()
    print(timed(lambda: model.fit(X, y))[1], flush=True)


def fits_at_once(name, count, members=None, **environment):
    """Longest seconds of `count` processes that start to fit at the same moment.

    `members` is the file of the control group that they enter.
    """
    inherited = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD.format(name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=inherited | environment,
            preexec_fn=members and (lambda: members.write_text(str(os.getpid()))),
        )
        for _ in range(count)
    ]
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


def quota_of_one_cpu():
    """Context with the file of a control group that may use the time of one CPU, or None."""
    first = {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": PERIOD}
    return control_group("cpu", first, {"cpu.max": f"{PERIOD} {PERIOD}"})


def run(name, repeats):
    """Seconds of all cases, which take turns: a busy moment of the machine hits all."""
    cores, fastest = os.cpu_count(), Fastest()
    with quota_of_one_cpu() as members:

        def beside_other_work():
            with other_work():
                return fits_at_once(name, 1)

        cases = {
            ALONE: lambda: fits_at_once(name, 1, OMP_NUM_THREADS="1"),
            "one fit, all cores": lambda: fits_at_once(name, 1),
            f"{cores} fits at once": lambda: fits_at_once(name, cores),
            f"one fit beside {cores} busy programs": beside_other_work,
        }
        if members is not None:
            cases["one fit under a quota of one CPU"] = lambda: fits_at_once(name, 1, members)
        for _ in range(repeats):
            for case, measure in cases.items():
                fastest.add(case, measure())
    return {"seconds": dict(fastest)}


def cases_table(results):
    """Seconds alone, and the other times relative to them."""
    runs = [run["seconds"] for run in results.runs.values()]
    cases = list(dict.fromkeys(case for run in runs for case in run))
    lines = [[ALONE, *(seconds(run[ALONE]) for run in runs)]]
    for case in cases:
        if case != ALONE:
            ratios = [f"{run[case] / run[ALONE]:.2f}" if case in run else ABSENT for run in runs]
            lines.append([case, *ratios])
    return table(["", *results.runs], lines)


TABLES = {"setup": setup, "cases": cases_table}


def main():
    run_sets("busy", __doc__, NAMES, run, TABLES, repeats=3)


if __name__ == "__main__":
    main()
