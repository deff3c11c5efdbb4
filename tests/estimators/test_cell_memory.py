"""The memory of cells is limited by their number at a time, which does not change the model."""

import pytest
from helpers.rows import stripes
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from hssvm import SVC, Cells
from hssvm.training import Route, TrainingConfig
from hssvm.training.plan import CELLS_SHARE, DEFAULT_MEMORY


@pytest.fixture
def n_threads_of_loops(monkeypatch):
    """The numbers of threads of the loops over cells."""
    numbers = []
    monkeypatch.setattr(
        "hssvm.training.routes.exact.parts.call_with_threads",
        lambda n_threads, function, *args: numbers.append(n_threads) or function(*args),
    )
    return numbers


def test_a_limit_leaves_fewer_cells_at_a_time(n_threads_of_loops, rng):
    X, y = stripes(rng, 8000)
    config = TrainingConfig(approximation=Cells(1000))
    cells = config.plan(*X.shape, route=Route.CELLS).cell_memory(X, 1)
    model = SVC(approximation=Cells(1000), random_state=0)
    with threadpool_limits(4):
        for n_threads in (1, 2, 3, 4):
            n_threads_of_loops.clear()
            limit = 1.0001 * cells.peak(1000, n_threads)
            assert model.set_params(memory_limit=limit).fit(X, y).fit_report_.n_cells == 8
            assert set(n_threads_of_loops) == {n_threads}
        n_threads_of_loops.clear()
        model.set_params(memory_limit=None).fit(X, y)
        assert set(n_threads_of_loops) == {4}
    with pytest.raises(MemoryError):
        model.set_params(memory_limit=0.9999 * cells.peak(1000)).fit(X, y)


def test_without_a_limit_cells_have_a_share_of_the_memory(n_threads_of_loops, rng, monkeypatch):
    X, y = stripes(rng, 2400)
    plan = TrainingConfig(approximation=Cells(300)).plan(*X.shape, route=Route.CELLS)
    for installed, cache in [
        (None, DEFAULT_MEMORY),
        (1e9, DEFAULT_MEMORY),
        (1e12, CELLS_SHARE * 1e12),
    ]:
        monkeypatch.setattr("hssvm.training.plan.installed_memory", lambda found=installed: found)
        assert plan.cache(X, 1) == cache
    large = TrainingConfig(approximation=Cells(80_000)).plan(80_000, route=Route.CELLS)
    monkeypatch.setattr("hssvm.training.plan.installed_memory", lambda: None)
    assert large.cache(X, 1) == 80_000**2 * 8
    monkeypatch.setattr("hssvm.training.plan.DEFAULT_MEMORY", 2.5 * 300**2 * 8)
    with threadpool_limits(4):
        SVC(approximation=Cells(300), random_state=0).fit(X, y)
    assert set(n_threads_of_loops) == {2}


@pytest.mark.parametrize("steps", [20_000, 1])  # with 1, cells are solved again one by one
@pytest.mark.parametrize("limit", ["40MB", "22MB"])
def test_the_model_does_not_depend_on_the_threads(limit, steps, rng, monkeypatch):
    monkeypatch.setattr("hssvm.training.routes.exact.parts.BATCHED_STEPS", steps)
    monkeypatch.setattr("hssvm.training.routes.exact.parts.STEPS_PER_ROW", steps)
    X, y = stripes(rng, 10_000)
    model = SVC(approximation=Cells(n_trees=1), memory_limit=limit, random_state=0)
    models = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            model.fit(X, y)
        models.append((model.fit_report_.n_cells, model.decision_function(X[:500])))
    for n_cells, values in models[1:]:
        assert n_cells == models[0][0]
        assert_array_equal(values, models[0][1])
