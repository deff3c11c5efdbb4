"""Pairs of classes, with all or some of their coefficients in use."""

import numpy as np
from numpy.testing import assert_array_equal

from hssvm.problems import PairsProblem


def test_unused_coefficients(rng):
    codes, cost = rng.integers(4, size=60), rng.uniform(1, 2, 60)
    used = rng.random((60, 3)) < 0.7
    whole, part = PairsProblem(codes, cost, 4), PairsProblem(codes, cost, 4, used)
    Z = rng.standard_normal((60, 3))
    batch = part.batch(np.arange(6))
    for index in range(6):
        every, some = whole.part(index), part.part(index)
        kept = every.pick(used)[:, 0]
        assert_array_equal(some.places.rows, every.places.rows[kept])
        assert_array_equal(some.problem.bound, every.problem.bound[kept])
        assert_array_equal(some.pick(Z), every.pick(Z)[kept])
        assert some.problem.n == part.part_sizes[index]
        own = slice(*batch.offsets[index : index + 2])
        assert_array_equal(batch.places.rows[own], some.places.rows)
        assert_array_equal(batch.lower[own], some.problem.lower)
        assert_array_equal(batch.upper[own], some.problem.upper)
        assert_array_equal(batch.places.pick(Z)[own], some.pick(Z))
        assert_array_equal(every.pick(whole.column_of), index)
    rows = rng.permutation(60)[:40]
    assert_array_equal(part.rows(rows).used, used[rows])
