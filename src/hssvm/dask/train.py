"""What a worker does: the ordinary solver, on the rows of its part."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import get_worker, secede
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.dask.actors import Pickled, reach
from hssvm.dask.build import Built
from hssvm.dask.columns import Columns
from hssvm.dask.errors import estimate_errors
from hssvm.dask.meeting import MeetingBroken, Seat
from hssvm.dask.shelf import TIMEOUT, Moment, Shelf
from hssvm.dask.waiting import TRANSFER
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
    support : (m,) int64
        Global numbers of the rows with a coefficient.
    support_y : (m,) or None
    support_vectors : (m, p) array or CSR matrix
    dual_coef : (m, k)
    meetings : (int, float)
        Of the solver: how many, and the seconds this part has waited there.
    """

    predictor: LeafwisePredictor
    support: NDArray[np.int64]
    support_y: NDArray[Any] | None
    support_vectors: Rows
    dual_coef: Floats
    meetings: tuple[int, float]


@dataclass(frozen=True, eq=False)
class Trained:
    """What a part tells the driver.

    Attributes
    ----------
    intercept : (k,)
    report : FitReport
        Of all parts; seconds are those of the slowest.
    """

    intercept: NDArray[np.float64]
    report: FitReport


@dataclass(frozen=True, eq=False)
class Unfinished:
    """What it tells where the parts could not meet."""

    reason: str


def train_part(
    built: Built,
    part: int,
    run: int,
    training: Training,
    meeting: Pickled,
    shelves: Sequence[Pickled],
    start: tuple[Pickled, Moment] | None,
) -> Trained | Unfinished:
    """Solve, together with all other parts; leave the model on the shelves.

    Parameters
    ----------
    built : Built
    part, run : int
    training : Training
    meeting : Pickled
        The actor of a `Meeting`.
    shelves : sequence of Pickled
        Actors of `Shelf`, first that of this worker.
    start : (Pickled, Moment) or None
        Shelf and moment of the coefficients to go on from.
    """
    secede()  # it mostly computes, but must not keep another part of this worker from starting
    with openmp_threads(get_worker().state.nthreads):
        try:
            own_and_other = [reach(shelf) for shelf in shelves]
            Z = None if start is None else _taken(reach(start[0]), part, start[1])
            seat = Seat(reach(meeting), part)
            model, trained = _train(built, run, training, seat, own_and_other, Z)
            _put_model(own_and_other, part, run, model)
        except MeetingBroken as error:
            return Unfinished(str(error))
    return trained


def _taken(shelf: Any, part: int, moment: Moment) -> Floats:
    try:
        Z: Floats = shelf.take(part, moment).result(timeout=TIMEOUT)
    except Exception as error:
        raise MeetingBroken(f"the worker of a shelf was lost ({error!r})") from error
    return Z


def _put_model(shelves: Sequence[Any], part: int, run: int, model: PartModel) -> None:
    here: Shelf | None = get_worker().state.actors.get(shelves[0].key)
    if here is None:
        raise MeetingBroken("a part was trained on another worker than its own")
    here.put_model(part, run, model)
    for shelf in shelves[1:]:
        with suppress(Exception):  # the model is there without its copy
            shelf.put_model(part, run, model).result(timeout=TRANSFER)


def _train(
    built: Built,
    run: int,
    training: Training,
    seat: Seat,
    shelves: Sequence[Any],
    start: Floats | None,
) -> tuple[PartModel, Trained]:
    matrix, rows = built.matrix, built.rows
    report = FitReport()
    weight = np.ones(rows.ids.size) if rows.weight is None else rows.weight
    problem = training.columns.problem(rows.y, weight, matrix, seat)
    diagonal = _mean_diagonal(built, seat)
    if training.beta is None:
        beta = initial_beta(problem, diagonal)
    else:
        beta = paper_beta(training.n_rows) if training.beta == "paper" else float(training.beta)
    with report.stage("factor"):
        system = HSSSystem(matrix, beta, seat)
    messages = Messages(seat, run, shelves)
    solver: ADMM | PaperADMM = PaperADMM(training.max_iter)
    if training.tol is not None:
        solver = ADMM(training.tol, training.max_iter, messages.after_look, messages.keep)
    with report.stage("solve"):
        before = seat.n_rounds, seat.seconds
        solution = solver.solve(problem, system, start)
        meetings = seat.n_rounds - before[0], seat.seconds - before[1]
        messages.arrived()
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
    model = PartModel(
        predictor,
        rows.ids[support],
        None if rows.y is None else rows.y[support],
        matrix.X[support],
        solution.Z[support],
        meetings,
    )
    return model, Trained(solution.intercept, report)


class Messages:
    """What the solver of a part tells others while it runs."""

    def __init__(self, seat: Seat, run: int, shelves: Sequence[Any]) -> None:
        self.seat, self.run, self.shelves = seat, run, shelves
        self._on_their_way: list[Any] = []

    def keep(self, iteration: int, Z: Floats) -> None:
        """Put coefficients by, now and then."""
        if iteration % PUT_BY_EVERY == 0:
            self.arrived()
            copy, moment = Z.copy(), (self.run, iteration)
            self._on_their_way = [s.put(self.seat.part, moment, copy) for s in self.shelves]

    def arrived(self) -> None:
        """Wait for what was put by; a shelf that is lost is no reason to stop."""
        for message in self._on_their_way:
            with suppress(Exception):
                message.result(timeout=TIMEOUT)

    def after_look(self, iteration: int, gap: Floats) -> Status | None:
        """Tell the driver, and whether the user wants to stop."""
        if self.seat.part == 0:
            self.seat.tell(iteration, float(gap.max()))
        return self.seat.stop


def _mean_diagonal(built: Built, seat: Seat) -> float:
    """Mean of k(x, x), from at most a thousand rows of every part."""
    X = built.matrix.X
    diagonal = built.matrix.kernel.diag(X[:: max(1, X.shape[0] // 1000)])
    total, count = seat.sum(np.array([diagonal.sum(dtype=np.float64), diagonal.size]))
    return float(total / count) if total > 0 else 1.0


def _unite(report: FitReport, n_rows: int, seat: Seat) -> None:
    """Make the report of a part that of all."""
    report.n_rows = n_rows
    totals = seat.sum(np.array([report.matrix_bytes, report.factor_bytes, report.n_support]))
    report.matrix_bytes, report.factor_bytes, report.n_support = (int(total) for total in totals)
    report.ranks = [int(rank) for rank in seat.max(np.array(report.ranks))]
    slowest = seat.max(np.array(list(report.seconds.values())))
    report.seconds = dict(zip(report.seconds, slowest.tolist(), strict=True))
