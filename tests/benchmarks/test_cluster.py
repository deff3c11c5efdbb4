import os
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("distributed")

from benchmarks.results import RESULTS, Results
from benchmarks.scaling import alone, cells, fits, growth, messages, tops
from benchmarks.scaling.cluster import cluster
from benchmarks.scaling.exact_model import growth as growth_of
from benchmarks.scaling.exact_model import predict_exact
from benchmarks.scaling.memory import Peak
from benchmarks.scaling.model import (
    Cluster,
    Constants,
    largest,
    on_this_machine,
    predict,
)
from benchmarks.scaling.partitions import make_piece, make_pieces
from hssvm.dask.coordinator import Coordinator
from hssvm.dask.messages import Request

FILE = RESULTS / "scaling.json"

CONSTANTS = Constants(
    row_bytes=80.0,
    read=1e-6,
    compress=20e-6,
    factor=10e-6,
    iteration=0.5e-6,
    finish=2e-6,
    peak=4000.0,
    base=3e8,
    n_iterations=100,
    n_factors=2,
    syncs=3.0,
    sync_fixed=2e-3,
    sync_part=1e-4,
    top_compress=0.2,
    top_factor=0.05,
    top_solve=3e-4,
    top_bytes=6e6,
    message=7e3,
    task=1e-3,
)


@pytest.fixture
def results():
    if not FILE.exists():
        pytest.skip("python -m benchmarks.scaling.cluster has not been run")
    return Results.read(FILE)


def test_the_arithmetic_of_the_model():
    cost = predict(CONSTANTS, 1e8, Cluster(100, threads=10, efficiency=0.5), n_pieces=50)
    way = 16 + 7  # 7 groups of at most 16 parts
    assert cost.read == pytest.approx(1e6 * 1e-6 / 5 + (50 + 100) * 1e-3)
    assert cost.build == pytest.approx(
        (1e6 * 20e-6 + way * 0.2) / 5 + 2 * (1e6 * 10e-6 / 5 + way * 0.05)
    )
    assert cost.sync == pytest.approx(3 * (2 * 2e-3 + 1e-4 * way) + way * 3e-4)
    assert cost.iteration == pytest.approx(1e6 * 0.5e-6 / 5 + cost.sync)
    assert cost.total == pytest.approx(cost.read + cost.build + 100 * cost.iteration + 2 / 5)
    assert cost.memory == pytest.approx(3e8 + 1e6 * 4000)
    assert cost.memory_first == pytest.approx(cost.memory + 16 * 6e6)
    assert cost.traffic == pytest.approx(16 * 7e3)


def test_pieces_of_a_prediction_have_a_size():
    few, many = (predict(replace(CONSTANTS, row_bytes=b), 1e8, Cluster(10)) for b in (80.0, 8000.0))
    assert few.read < many.read


def test_the_model_predicts_what_was_measured(results):
    """Within a factor of two, on machines whose cores the workers share."""
    constants = Constants.of(results.runs)
    runs = [run for key, run in results.runs.items() if key.startswith("fit ")]
    assert len(runs) >= 2
    for run in runs:
        cost = on_this_machine(constants, run, results.about["cores"])
        assert 0.5 < cost.total / run["fit"] < 2
        assert 0.5 < cost.memory / (run["before"] + run["peak"] * run["rows"]) < 2


def test_the_model_of_exact_fits_predicts_what_was_measured(results):
    """Within a factor of two."""
    (run,) = (run for key, run in results.runs.items() if key.startswith("refine "))
    here = Cluster(run["workers"], threads=1, efficiency=1.0)
    cost = predict_exact(results.runs, run["workers"] * run["rows"], here)
    assert 0.5 < cost.total / run["refine"] < 2
    assert 0.5 < cost.support / run["support"] < 2


def test_exact_fits_grow_like_powers():
    runs = {
        f"exact {n}": {"rows": n, "support": 3 * n, "free": int(n**0.5)} for n in (100, 400, 1600)
    }
    support, power = growth_of(runs, "support")
    assert power == pytest.approx(1)
    assert support(10_000) == pytest.approx(30_000)
    assert growth_of(runs, "free")[1] == pytest.approx(0.5)


def test_the_run_that_gives_the_constants():
    runs = {
        "fit 2 x 10": {"workers": 2, "rows": 10},
        "fit 2 x 20": {"workers": 2, "rows": 20},
        "fit 4 x 30": {"workers": 4, "rows": 30},
    }
    assert largest(runs, "fit") is runs["fit 2 x 20"]


def test_rows_are_of_the_same_kind_in_every_piece():
    (X, y), (X_other, _) = (make_piece(3000, number) for number in (0, 1))
    assert X.dtype == np.float32
    assert 0.3 < y.mean() < 0.7
    assert not np.array_equal(X, X_other)
    np.testing.assert_allclose(np.cov(X.T), np.cov(X_other.T), atol=1.0)
    n_rows = [len(piece.compute()[1]) for piece in make_pieces(60_000)]
    assert sum(n_rows) == 60_000


def test_rows_of_growth_are_what_they_were():
    X = growth.make(4)
    assert X.shape == (4, 18)
    assert X.dtype == np.float32


def test_a_simulated_top_is_that_of_a_positive_definite_matrix():
    """``(M + K~)^-1`` through the top is symmetric and positive, as an inverse is."""
    (tier,) = tops.make_tiers(3)
    top, R = tier.top, tier.R
    solve = top.factor(np.concatenate(R)).solve
    c = np.random.default_rng(0).standard_normal((int(top.ranks[-1]), 2)).astype(top.dtype)
    far = top.far_field(c)
    assert np.diff(top.ranks).tolist() == [tops.ROOT_RANK] * 3 + [0]
    assert far[:, 0] @ c[:, 1] == pytest.approx(far[:, 1] @ c[:, 0], rel=1e-3)
    assert np.isfinite(solve(c)).all()


def test_messages_are_hardly_larger_than_their_numbers():
    one, ten = messages.message_bytes(1), messages.message_bytes(10)
    assert one["solve numbers"] == 2 * (4 * tops.ROOT_RANK + 8)
    for sent in (one, ten):
        assert sent["solve numbers"] < sent["solve"] < sent["solve numbers"] + 3000
        assert sent["sum numbers"] < sent["sum"] < sent["sum numbers"] + 3000


def test_an_echo_does_for_a_top():
    coordinator = Coordinator(messages.Echo(3, 5), np.arange(3))
    own = [np.full((5, 1), float(part)) for part in range(3)]
    answers = coordinator._reply([Request("far_field", [c]) for c in own])
    assert [answer.arrays[0][0, 0] for answer in answers] == [0.0, 1.0, 2.0]


def test_a_peak_is_seen():
    with Peak([os.getpid()], every=0.005) as peak:
        held = np.ones(8_000_000)
        time.sleep(0.1)
        del held
    assert peak.growth(os.getpid()) > 30e6


@pytest.mark.slow
def test_runs_on_a_small_cluster():
    with cluster(2) as client:
        fit = fits.measure(client, 3000, only_iterations=True)
        without = alone.measure(client, 2000)
        bare = messages.bare(client, sorted(client.nthreads()), n_rounds=3)
        crowd = messages.crowd(client, 5, n_rounds=2)
        shuffle = fits.shuffle_tasks(client, n_pieces=3, n_parts=4)
    assert fit["iterations"] == alone.N_ITER
    assert fit["syncs"] > fit["iterations"]
    assert fit["accuracy"] > 75
    assert len(fit["waited"]) == without["workers"] == 2
    assert min(without["iteration"], bare["solve"], bare["sum"], crowd["round"]) > 0
    assert bare["solve bytes"] > 2 * 4 * tops.ROOT_RANK
    assert shuffle["shuffle"] > 0


@pytest.mark.slow
def test_a_synchronization_through_two_tiers():
    with cluster(3) as client:
        found = messages.tree(client, 33, n_rounds=2)
    assert found["on the way"] == 8 + 5
    assert found["solve"] > 0


def test_cells_at_scale(run_command, monkeypatch):
    monkeypatch.setattr(cells, "PLANS", [(10**6, 10), (10**6, 20)])
    results, tables = run_command(cells, "--rows", 2000, "--sizes", 100, 400)
    small, large = results.runs.values()
    assert (small["cells"], large["cells"]) == (32, 8)
    assert len(small["solve"]) == 32 and min(small["solve"]) > 0
    assert tables["cells"].splitlines()[2].startswith("| 100 | 32 |")
    assert tables["plan"].count("\n") == 5
    plan = cells.predict(small, CONSTANTS, 10**6, 10)
    assert plan["cells"] == 1600
    assert plan["solve"] == pytest.approx(1600 * np.mean(small["solve"]) / 8)
    assert plan["slowest"] > 0.9 * plan["solve"]


def test_the_slowest_worker_of_a_cluster():
    rng = np.random.default_rng(0)
    one = Cluster(1, threads=2, efficiency=0.5)
    assert cells.slowest_worker([1.0], 5, one, rng) == 6.0  # 3 of 5 cells on one thread
    many = Cluster(50, threads=2, efficiency=1.0)
    assert cells.slowest_worker([1.0, 3.0], 2, many, rng) == 3.0
