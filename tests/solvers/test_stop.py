"""The loops of SMO in the core end soon after they are told to, however long a call may take."""

import signal
import threading
import time

import numpy as np
import pytest

from hssvm import _core
from hssvm.kernels import Linear
from hssvm.kernels.base import core_rows
from hssvm.solvers.small import small_solver

N_STEPS = 10**11  # hours


def endless(rng):
    """A matrix, signs, and bounds of a problem on which SMO makes hardly any progress."""
    X = rng.standard_normal((60, 3)) * 1e5
    sign = np.where(np.arange(60) < 30, 1.0, -1.0)
    return X, sign, 1e3 * np.minimum(sign, 0), 1e3 * np.maximum(sign, 0)


def solve_small(rng, stop):
    X, sign, lower, upper = endless(rng)
    z, F = np.zeros(60), np.zeros(60)
    solver = small_solver(Linear(), X)
    return solver(sign, lower, upper, 0.0, z, F, 1e-15, N_STEPS, stop)[0]


def smo(n_problems):
    def run(rng, stop):
        X, sign, lower, upper = endless(rng)
        members, ends = np.tile(np.arange(60), n_problems), 60 * np.arange(n_problems + 1)
        lower, upper, gradient = (np.tile(values, n_problems) for values in (lower, upper, -sign))
        steps, zeros = np.zeros(n_problems, np.int64), np.zeros(n_problems)
        _core.smo(
            X @ X.T, ends, members, lower, upper, zeros, np.zeros(members.size), gradient, zeros,
            N_STEPS, steps, stop,
        )  # fmt: skip
        return steps.max()

    return run


def solve_parts(rng, stop):
    X, _, lower, upper = endless(rng)
    z, F, steps = np.zeros((120, 1)), np.zeros((120, 1)), np.zeros((2, 1), np.int64)
    lower, upper = (np.tile(side, 2)[:, None] for side in (lower, upper))
    _core.solve_parts(
        Linear().core, core_rows(X), np.array([0, 60, 120]), np.tile(np.arange(60), 2), lower,
        upper, np.sign(lower + upper), np.zeros(1), np.array([1e-15]), np.full(2, N_STEPS), z, F,
        *np.zeros((3, 2, 1)), steps, stop,
    )  # fmt: skip
    return steps.max()


LOOPS = pytest.mark.parametrize("solve", [solve_small, smo(1), smo(3), solve_parts])


@LOOPS
def test_a_true_answer_ends_the_loop(solve, rng):
    start = time.perf_counter()
    n_steps = solve(rng, lambda: time.perf_counter() - start > 0.2)
    assert 0 < n_steps < N_STEPS
    assert 0.2 < time.perf_counter() - start < 1.5


@LOOPS
def test_an_error_ends_the_loop(solve, rng):
    def stop():
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        solve(rng, stop)


@LOOPS
def test_ctrl_c_ends_the_loop(solve, rng):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.perf_counter()
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            solve(rng, None)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - start < 1.5
