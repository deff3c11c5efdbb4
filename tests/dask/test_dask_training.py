"""Estimators on Dask go through `hssvm.training`, and hand it their parameters."""

import pytest
from helpers.rows import waves_and_bowls

import hssvm.dask
from hssvm import HSS, Cells
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.hss import HSSANN, NestedNystroem
from hssvm.progress import StageBegan, listening
from hssvm.training.routes.forest import route

FITS = {
    "SVC": lambda X, y, **p: hssvm.dask.SVC(**p).fit(X, y),
    "SVR": lambda X, y, **p: hssvm.dask.SVR(**p).fit(X, y == "in"),
    "OneClassSVM": lambda X, y, **p: hssvm.dask.OneClassSVM(**p).fit(X),
    "svc_path": lambda X, y, **p: hssvm.dask.svc_path(X, y, Cs=[1.0, 2.0], **p),
}
every_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)


@every_fit
def test_every_fit_goes_through_the_pipeline(fit, inside, rng, monkeypatch):
    calls, solve = [], route.solve

    def recorded(problem, operator, plan, report, *args, **options):
        calls.append((operator.communicator.rank, plan.tol, plan.max_iter))
        report.advice.append("from the pipeline")
        return solve(problem, operator, plan, report, *args, **options)

    monkeypatch.setattr(route, "solve", recorded)
    X, y = waves_and_bowls(rng, 4000)
    model = fit(X, y, tol=0.02, max_iter=700, approximation=HSS(n_trees=2), client=inside)
    assert sorted(calls) == [(0, 0.02, 700)] * 2 + [(1, 0.02, 700)] * 2
    assert "from the pipeline" in model.fit_report_.advice
    assert len(model.predict(X[:5])) == 5


@every_fit
def test_a_compressor_that_cannot_compress_in_parts_is_refused(fit, rng):
    """Before the data is read, and without a cluster."""
    expected = (
        r"HSSANN\(.*\) cannot be used with .* set compressor=None or NestedNystroem\(\.\.\.\)"
    )
    with pytest.raises(ValueError, match=expected):
        fit(*waves_and_bowls(rng, 100), approximation=HSS(compressor=HSSANN()))


def test_novelty_detection_has_no_cells(rng):
    with pytest.raises(InvalidParameterError, match="not available with OneClassSVM; set approx"):
        hssvm.dask.OneClassSVM(approximation=Cells()).fit(waves_and_bowls(rng, 100)[0])


@pytest.mark.parametrize(
    "approximation", [HSS(max_rank=9), HSS(compressor=NestedNystroem(max_rank=9))]
)
def test_ranks_are_bounded_as_requested(approximation, inside, rng):
    X, y = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(approximation=approximation, tol=0.1, client=inside).fit(X, y)
    compressor = NestedNystroem(max_rank=9)
    ranks = model.fit_report_.ranks
    depth = len(ranks) - 1
    assert depth > 1
    assert ranks[1:] == [compressor.largest_rank(depth, level) for level in range(1, depth + 1)]
    assert set(model.predict(X)) == {"in", "out"}


@pytest.mark.parametrize(("solver", "goal"), [("admm", 0.05), ("paper", None)])
def test_progress_knows_the_goal(solver, goal, inside, rng):
    X, y = waves_and_bowls(rng, 2000)
    events = []
    with listening(events.append):
        parameters = {"solver": solver, "tol": 0.05, "approximation": HSS(n_trees=1)}
        model = hssvm.dask.SVC(**parameters, client=inside).fit(X, y)
    begun = [event for event in events if isinstance(event, StageBegan) and event.name == "solve"]
    assert begun and {event.goal for event in begun} == {goal}
    assert set(model.predict(X)) == {"in", "out"}
