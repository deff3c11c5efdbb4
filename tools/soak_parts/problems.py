"""Random problems beside scikit-learn's solvers: ``tests/estimators/test_random_problems.py``."""

import re
import sys

from soak_parts import Outcome, finish, start

N_PROBLEMS = 5
MAX_SECONDS = 900
"""Some problems are hard: with a large C and a linear kernel, SMO takes as long as it may."""


def run(seed, folder, seconds, n_problems=N_PROBLEMS):
    """Fit some problems; the number of outcomes is that of fits."""
    process = start(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o",
        "faulthandler_timeout=120", "--seed", seed, "--n-problems", n_problems,
        "tests/estimators/test_random_problems.py",
    )  # fmt: skip
    ended = finish(process, MAX_SECONDS)
    passed = sum(map(int, re.findall(r"(\d+) passed", ended.out)))
    failed = re.findall(r"^FAILED .*", ended.out, re.MULTILINE)
    if ended.code != 0 and not failed:
        failed = [str(ended)]
    return Outcome(passed + len(failed), failed)
