"""Medians of values in several blocks, against sorting all of them."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import hssvm.dask.cells.medians
from hssvm.dask.cells.medians import Counts, Medians, Sketch, enclose


@pytest.mark.parametrize("points", [2, 5, 1024])
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 300),
    n_groups=st.integers(1, 4),
    n_blocks=st.integers(1, 5),
    n_values=st.sampled_from([1, 3, 50, 10**6]),
)
def test_the_same_as_sorting(points, seed, n, n_groups, n_blocks, n_values):
    rng = np.random.default_rng(seed)
    value = rng.integers(0, n_values, n).astype(rng.choice([np.float32, np.float64])) - 1
    group = np.concatenate([np.repeat(np.arange(n_groups), 2), rng.integers(n_groups, size=n)])[:n]
    assume(n >= 2 * n_groups)
    group = rng.permutation(group)
    rank = np.array([rng.integers(1, (group == g).sum()) for g in range(n_groups)])
    blocks = np.array_split(np.arange(n), n_blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hssvm.dask.cells.medians, "SKETCH_POINTS", points)
        sketches = [Sketch.of(value[own], group[own], n_groups) for own in blocks]
    low, high = enclose(sketches, rank)
    counts = [Counts.of(value[own], group[own], low, high) for own in blocks]
    found = Medians.of(counts, rank, rng.integers(2**63, size=n_groups, dtype=np.uint64))
    upper = np.concatenate(
        [
            one.upper_half(value[own], group[own])
            for own, one in zip(blocks, found.of_blocks(), strict=True)
        ]
    )
    for g in range(n_groups):
        own = np.flatnonzero(group == g)
        ordered = np.sort(value[own])
        assert found.value[g] == ordered[rank[g]]
        assert found.before[g] == ordered[rank[g] - 1]
        assert (~upper[own]).sum() == rank[g]
        assert value[own][~upper[own]].max() == ordered[rank[g] - 1]
        assert value[own][upper[own]].min() == ordered[rank[g]]
        lower = ~upper & (group == g)
        assert_array_equal(found.n_lower[:, g], [lower[rows].sum() for rows in blocks])
    assert found.value.dtype == value.dtype
