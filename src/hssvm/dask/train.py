"""What a worker does: the ordinary solver, on the rows of its part."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import get_worker, secede
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.dask.build import Built
from hssvm.dask.columns import Columns
from hssvm.dask.errors import estimate_errors
from hssvm.dask.meeting import MeetingBroken, Seat
from hssvm.dask.shelf import TIMEOUT, Moment
from hssvm.estimators.base import REPORT_ROWS
from hssvm.estimators.report import FitReport
from hssvm.kernels.base import Floats, Rows
from hssvm.predict import LeafwisePredictor
from hssvm.solvers import ADMM, PaperADMM, Status, initial_beta, paper_beta
from hssvm.systems import HSSSystem

PUT_BY_EVERY = 20
"""Iterations between two times that coefficients are put by."""


@dataclass(frozen=True, eq=False)
class Training:
    """How to solve; the same for all parts.

    Attributes
    ----------
    columns : Columns
    tol : float or None
    max_iter : int
    beta : float, 'paper' or None
    n_rows : int
        Of all parts.
    seed : int
    """

    columns: Columns
    tol: float | None
    max_iter: int
    beta: float | str | None
    n_rows: int
    seed: int


@dataclass(frozen=True, eq=False)
class PartModel:
    """What a part has learned. It stays on its worker.

    Attributes
    ----------
    predictor : LeafwisePredictor
        For points of this part.
    intercept : (k,)
    support : (m,) int64
        Global numbers of the rows with a coefficient.
    support_y : (m,) or None
    support_vectors : (m, p) array or CSR matrix
    dual_coef : (m, k)
    report : FitReport
        Of all parts; seconds are those of the slowest.
    meetings : (int, float)
        Of the solver: how many, and the seconds this part has waited there.
    """

    predictor: LeafwisePredictor
    intercept: NDArray[np.float64]
    support: NDArray[np.int64]
    support_y: NDArray[Any] | None
    support_vectors: Rows
    dual_coef: Floats
    report: FitReport
    meetings: tuple[int, float]


@dataclass(frozen=True, eq=False)
class Unfinished:
    """In place of a model, where the parts could not meet."""

    reason: str


def train_part(
    built: Built,
    part: int,
    run: int,
    training: Training,
    meeting: bytes,
    shelves: Sequence[bytes],
    start: tuple[bytes, Moment] | None,
) -> PartModel | Unfinished:
    """Solve, together with all other parts.

    Actors come pickled: a task that Dask knows to depend on an actor is an error to it, result and
    all, as soon as the worker of the actor is lost.

    Parameters
    ----------
    built : Built
    part, run : int
    training : Training
    meeting : bytes
        The actor of a `Meeting`.
    shelves : sequence of bytes
        Actors of `Shelf`: where to put coefficients by, first that of this worker.
    start : (bytes, Moment) or None
        Shelf and moment of the coefficients to go on from.
    """
    secede()  # it mostly computes, but must not keep another part of this worker from starting
    own_and_other = [pickle.loads(shelf) for shelf in shelves]
    if (model := _found(own_and_other, part)) is not None:
        return model
    with openmp_threads(get_worker().state.nthreads):
        try:
            Z = None if start is None else _taken(pickle.loads(start[0]), part, start[1])
            seat = Seat(pickle.loads(meeting), part)
            model = _train(built, run, training, seat, own_and_other, Z)
        except MeetingBroken as error:
            return Unfinished(str(error))
    for shelf in own_and_other[1:]:
        with suppress(Exception):  # the model is there without its copy
            shelf.put_model(part, model).result(timeout=TIMEOUT)
    return model


def _taken(shelf: Any, part: int, moment: Moment) -> Floats:
    try:
        Z: Floats = shelf.take(part, moment).result(timeout=TIMEOUT)
    except Exception as error:
        raise MeetingBroken(f"the worker of a shelf was lost ({error!r})") from error
    return Z


def _found(shelves: Sequence[Any], part: int) -> PartModel | None:
    """Return the model of a part that was trained before, and lost with its worker."""
    for shelf in shelves[1:]:
        with suppress(Exception):
            found: PartModel | None = shelf.take_model(part).result(timeout=TIMEOUT)
            return found
    return None


def _train(
    built: Built,
    run: int,
    training: Training,
    seat: Seat,
    shelves: Sequence[Any],
    start: Floats | None,
) -> PartModel:
    matrix, rows = built.matrix, built.rows
    report = FitReport(seconds=dict(built.seconds))
    weight = np.ones(rows.ids.size) if rows.weight is None else rows.weight
    problem = training.columns.problem(rows.y, weight, matrix.dtype, seat)
    diagonal = _mean_diagonal(built, seat)
    if training.beta is None:
        beta = initial_beta(problem, diagonal)
    else:
        beta = paper_beta(training.n_rows) if training.beta == "paper" else float(training.beta)
    with report.stage("factor"):
        system = HSSSystem(matrix, beta, seat)

    on_their_way: list[Any] = []

    def arrived() -> None:
        """Wait for what was put by; a shelf that is lost is no reason to stop."""
        for message in on_their_way:
            with suppress(Exception):
                message.result(timeout=TIMEOUT)
        on_their_way.clear()

    def keep(iteration: int, Z: Floats) -> None:
        if iteration % PUT_BY_EVERY == 0:
            arrived()
            copy = Z.copy()
            on_their_way.extend(shelf.put(seat.part, (run, iteration), copy) for shelf in shelves)

    def after_look(iteration: int, gap: Floats) -> Status | None:
        if seat.part == 0:
            seat.tell(iteration, float(gap.max()))
        return seat.stop

    solver: ADMM | PaperADMM = PaperADMM(training.max_iter)
    if training.tol is not None:
        solver = ADMM(training.tol, training.max_iter, after_look, keep)
    with report.stage("solve"):
        before = seat.n_rounds, seat.seconds
        solution = solver.solve(problem, system, start)
        meetings = seat.n_rounds - before[0], seat.seconds - before[1]
        arrived()
    with report.stage("finish"):
        predictor = LeafwisePredictor(matrix, solution.Z, seat.far_field)
        report.take_start(system, solution)
        report.take(solution, on_true_kernel=False, refined=False)
        report.kernel_error, form = estimate_errors(
            system, solution, seat, REPORT_ROWS, training.seed
        )
        size = np.abs(report.objective)
        report.objective_error = np.abs(form) / 2 / np.where(size > 0, size, 1)
        support = np.flatnonzero(solution.Z.any(axis=1))
    _unite(report, training.n_rows, seat)
    return PartModel(
        predictor,
        solution.intercept,
        rows.ids[support],
        None if rows.y is None else rows.y[support],
        matrix.X[support],
        solution.Z[support],
        report,
        meetings,
    )


def _mean_diagonal(built: Built, seat: Seat) -> float:
    """Mean of k(x, x), from at most a thousand rows of every part."""
    X = built.matrix.X
    diagonal = built.matrix.kernel.diag(X[:: max(1, X.shape[0] // 1000)])
    total, count = seat.sum(np.array([diagonal.sum(dtype=np.float64), diagonal.size]))
    return float(total / count) if total > 0 else 1.0


def _unite(report: FitReport, n_rows: int, seat: Seat) -> None:
    """Make the report of a part that of all."""
    report.n_rows = n_rows
    memory = seat.sum(np.array([report.matrix_bytes, report.factor_bytes]))
    report.matrix_bytes, report.factor_bytes = (int(total) for total in memory)
    report.ranks = [int(rank) for rank in seat.max(np.array(report.ranks))]
    slowest = seat.max(np.array(list(report.seconds.values())))
    report.seconds = dict(zip(report.seconds, slowest.tolist(), strict=True))


def why_unfinished(model: PartModel | Unfinished) -> str | None:
    """Why a part has no model, if so."""
    return model.reason if isinstance(model, Unfinished) else None


def summary_of(model: PartModel) -> tuple[FitReport, NDArray[np.float64]]:
    """Report and intercept: the same in all parts."""
    return model.report, model.intercept
