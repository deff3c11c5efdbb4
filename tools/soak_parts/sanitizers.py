"""Tests with the core built under AddressSanitizer and UBSan, by ``tools/sanitize``."""

import re
import shutil

import numpy as np

from soak_parts import ROOT, Outcome, Skipped, finish, start

TESTS = ("tests/kernels", "tests/hss", "tests/operators", "tests/predictors", "tests/io")


def run(seed, folder, seconds):
    """Run some of the tests; the first run builds the core."""
    missing = [name for name in ("gcc", "g++") if shutil.which(name) is None]
    if missing:
        raise Skipped(f"{' and '.join(missing)} not found")
    tests = TESTS[np.random.default_rng(seed).integers(len(TESTS))]
    ended = finish(start(ROOT / "tools" / "sanitize", "-x", "--seed", seed, tests), seconds)
    if ended.code is None:
        raise Skipped("the time left was too short")
    passed = sum(map(int, re.findall(r"(\d+) passed", ended.out)))
    return Outcome(passed, [] if ended.code == 0 else [f"{tests}: {ended}"])
