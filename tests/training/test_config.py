import math

import numpy as np
import pytest

from hssvm import HSS, SVC, Cells
from hssvm.estimators.inputs.parameters import InvalidParameterError, as_bytes
from hssvm.hss import HSSANN, NestedNystroem
from hssvm.kernels import Gaussian
from hssvm.training import Monitor, Route, TrainingConfig
from hssvm.training.config import (
    EXACT_ROWS,
    FOREST_LEAF_SIZE,
    FOREST_RANK,
    FOREST_TREES,
    LARGE_FOREST_RANK,
    LARGE_FOREST_TOL,
    LARGE_LEAF_SIZE,
    LEAF_SIZE,
    MANY_ROWS,
    RANK,
    SPARSE_RANK,
    START_RANK,
    WIDE_FEATURES,
)


def test_ranks_follow_from_the_number_of_rows_and_trees():
    config, single = TrainingConfig(), TrainingConfig(approximation=HSS(n_trees=1))
    assert config.plan(50_000, route=Route.COMPRESSED).compressor.max_rank == FOREST_RANK
    assert single.plan(50_000, route=Route.COMPRESSED).compressor.max_rank == RANK
    assert config.plan(50_000, route=Route.REFINED).compressor.max_rank == START_RANK
    assert config.plan(MANY_ROWS, route=Route.REFINED).compressor.max_rank == RANK
    five = TrainingConfig(approximation=HSS(max_rank=5))
    assert five.plan(50_000, route=Route.COMPRESSED).compressor.max_rank == 5
    own = TrainingConfig(approximation=HSS(compressor=NestedNystroem(rtol=0.1)))
    assert own.plan(50_000, route=Route.COMPRESSED).compressor is own.approximation.compressor
    assert config.plan(EXACT_ROWS, route=Route.COMPRESSED).leaf_size == EXACT_ROWS
    assert config.plan(50_000, route=Route.COMPRESSED).leaf_size == FOREST_LEAF_SIZE
    for shape in ((EXACT_ROWS + 1, 2), (50_000, WIDE_FEATURES + 1)):
        assert config.plan(*shape, route=Route.COMPRESSED).leaf_size == LARGE_LEAF_SIZE
    sparse = config.plan(50_000, WIDE_FEATURES + 1, route=Route.COMPRESSED, sparse=True)
    assert (sparse.leaf_size, sparse.compressor.max_rank) == (FOREST_LEAF_SIZE, SPARSE_RANK)
    many = config.plan(MANY_ROWS, route=Route.COMPRESSED)
    assert (many.tol, many.compressor.max_rank) == (LARGE_FOREST_TOL, LARGE_FOREST_RANK)
    assert single.plan(EXACT_ROWS + 1, route=Route.COMPRESSED).leaf_size == LEAF_SIZE


def test_trees_only_where_they_differ():
    def n_trees(n_rows, route=Route.COMPRESSED, **parameters):
        return TrainingConfig(**parameters).plan(n_rows, route=route).n_trees

    assert n_trees(50_000) == FOREST_TREES
    assert n_trees(50_000, approximation=HSS(n_trees=3)) == 3
    assert n_trees(50_000, Route.REFINED) == n_trees(50_000, Route.EXACT) == 1
    assert n_trees(EXACT_ROWS, approximation=HSS(n_trees=3)) == 1
    assert n_trees(50_000, solver="paper") == 1
    assert n_trees(50_000, approximation=HSS(compressor=HSSANN())) == 1


@pytest.mark.parametrize("approximation", [HSS(), HSS(n_trees=1), HSS(max_rank=5), Cells()])
def test_an_approximation_means_no_refinement(approximation):
    X = np.zeros((5000, 2))
    assert TrainingConfig().is_exact(Gaussian(1.0), X)
    assert not TrainingConfig(approximation=approximation).is_exact(Gaussian(1.0), X)
    assert TrainingConfig(approximation=approximation, refine=True).is_exact(Gaussian(1.0), X)


def test_sizes_of_the_same_cells_are_the_same_plan():
    plans = [
        TrainingConfig(approximation=Cells(size)).plan(30_000, route=Route.CELLS)
        for size in (3750, 7000, 7499)
    ]
    assert plans[0] == plans[1] == plans[2]
    assert plans[0].leaf_size == 3750


def test_folds_count_toward_a_time_limit_on_cells():
    def size(**parameters):
        config = TrainingConfig(**parameters)
        return config.plan(2**22, route=Route.CELLS, value_cost=4e-10).leaf_size

    assert size(held_out=math.inf) == size()
    assert size(max_time=150.0, held_out=math.inf) < size(max_time=150.0)


def test_the_seed_of_a_tree_does_not_depend_on_their_number():
    few, many = (
        TrainingConfig(approximation=HSS(n_trees=n), seed=7).plan(9000, route=Route.COMPRESSED)
        for n in (2, 9)
    )
    assert [few.tree_seed(t) for t in range(2)] == [many.tree_seed(t) for t in range(2)]
    assert len({many.tree_seed(t) for t in range(9)}) == 9


def test_models_without_a_fold_are_solved_less_accurately():
    plan = TrainingConfig(tol=1e-2, held_out=math.inf).plan(5000, route=Route.COMPRESSED)
    tol = plan.first_solver(Monitor(), 2 * (1 + plan.n_folds)).tol
    assert tol.tolist() == [1e-2] * 2 + [4e-2] * 2 * plan.n_folds


def test_the_paper_makes_ten_iterations():
    def plan(**parameters):
        return TrainingConfig(solver="paper", **parameters).plan(5000, route=Route.COMPRESSED)

    solver = plan().first_solver(Monitor(), 1)
    assert (solver.max_iter, type(solver).__name__) == (10, "FixedIterationADMM")
    assert plan(max_iter=3).first_solver(Monitor(), 1).max_iter == 3
    X = np.zeros((5000, 2))
    assert not TrainingConfig(solver="paper").is_exact(Gaussian(1.0), X)
    assert TrainingConfig().is_exact(Gaussian(1.0), X)


@pytest.mark.parametrize(
    ("size", "expected"),
    [("4GB", 4e9), ("1.5 gb", 1.5e9), ("2GiB", 2**31), ("800MB", 8e8), ("5B", 5), (7, 7)],
)
def test_memory_sizes(size, expected):
    assert as_bytes(size) == expected


@pytest.mark.parametrize("size", ["4", "GB", "-1GB", "0GB", "4 G", ""])
def test_sizes_that_are_none(size, rng):
    X = rng.standard_normal((60, 2))
    with pytest.raises(
        InvalidParameterError, match=r"memory_limit must be None, .* or a size such"
    ):
        SVC(memory_limit=size).fit(X, X[:, 0] > 0)
