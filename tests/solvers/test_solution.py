import numpy as np
from numpy.testing import assert_array_equal

from hssvm.solvers import Solution, Status


def with_gaps(rng, gaps, status):
    solution = Solution.empty(rng.standard_normal((5, len(gaps))))
    solution.gap[:] = gaps
    solution.intercept[:] = rng.standard_normal(len(gaps))
    solution.status = [status] * len(gaps)
    return solution


def test_the_smaller_gap_is_kept(rng):
    ours = with_gaps(rng, [0.5, 1e-8, 0.2], Status.MAX_ITER)
    other = with_gaps(rng, [0.3, 1e-4], Status.CONVERGED)
    before = ours.columns(np.arange(3))
    ours.improve(np.array([0, 2]), other)
    assert_array_equal(ours.gap, [0.3, 1e-8, 1e-4])
    assert_array_equal(ours.Z, np.c_[other.Z[:, 0], before.Z[:, 1], other.Z[:, 1]])
    ours.improve(np.array([1]), with_gaps(rng, [1e-3], Status.MAX_WORK))
    assert_array_equal(ours.Z[:, 1], before.Z[:, 1])
    assert ours.intercept[1] == before.intercept[1]
    assert ours.status == [Status.CONVERGED, Status.MAX_ITER, Status.CONVERGED]
