"""Training of one part, a task on its worker: the pipeline of `hssvm.training` on its rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import get_worker, secede
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.dask.actors import Pickled, resolve_actor
from hssvm.dask.checkpoints import STORE_TIMEOUT, CheckpointId, CheckpointStore
from hssvm.dask.communicator import ActorCommunicator, RemoteTop
from hssvm.dask.compression import CompressedPart
from hssvm.dask.coordinator import CommunicationError
from hssvm.dask.waiting import TRANSFER
from hssvm.kernels.base import Floats, Rows
from hssvm.operators import HSSOperator
from hssvm.predictors import LeafwisePredictor
from hssvm.solvers import Status
from hssvm.training import FitReport, Monitor, Task, TrainingPlan
from hssvm.training.forest import Forest
from hssvm.training.pipeline import train_tree

CHECKPOINT_INTERVAL = 20
"""Number of iterations between two checkpoints."""


@dataclass(frozen=True, eq=False)
class Job:
    """The training job, which is the same for all parts.

    Attributes
    ----------
    task : Task
    plan : TrainingPlan
    n_parts : int
    number : int
        Number of the tree in the forest.
    """

    task: Task
    plan: TrainingPlan
    n_parts: int
    number: int = 0


@dataclass(frozen=True, eq=False)
class PartModel:
    """The model of a part; it stays on its worker.

    Attributes
    ----------
    predictor : LeafwisePredictor
        Predicts points of this part.
    support : (m,) int64
        Indices of the support vectors among the rows of this part.
    support_ids : (m,) int64
        Global indices of the support vectors.
    support_y : (m,) or None
    support_vectors : (m, p) array or CSR matrix
    dual_coef : (m, k)
    report : FitReport
        Report of this part.
    communication : (int, float)
        Number of synchronizations of the solver, and the seconds that this part spent in them.
    """

    predictor: LeafwisePredictor
    support: NDArray[np.int64]
    support_ids: NDArray[np.int64]
    support_y: NDArray[Any] | None
    support_vectors: Rows
    dual_coef: Floats
    report: FitReport
    communication: tuple[int, float]


@dataclass(frozen=True, eq=False)
class PartResult:
    """The result of a part, for the driver.

    Attributes
    ----------
    intercept : (k,)
    report : FitReport
        Report of all parts; times are those of the slowest.
    """

    intercept: NDArray[np.float64]
    report: FitReport


@dataclass(frozen=True, eq=False)
class Unfinished:
    """The result of a part if the communication failed."""

    reason: str


def train_part(
    compressed: CompressedPart,
    part: int,
    run: int,
    job: Job,
    coordinator: Pickled,
    stores: Sequence[Pickled],
    start: tuple[Pickled, CheckpointId] | None,
    earlier: PartModel | None = None,
) -> PartResult | Unfinished:
    """Train a tree together with all other parts, and save the model in the stores.

    Parameters
    ----------
    compressed : CompressedPart
    part, run : int
    job : Job
    coordinator : Pickled
        The actor of a `Coordinator`.
    stores : sequence of Pickled
        Actors of `CheckpointStore`, that of this worker first.
    start : (Pickled, CheckpointId) or None
        Store and checkpoint to resume from.
    earlier : PartModel, optional
        Model with the earlier trees of the forest.
    """
    if job.number and earlier is None:
        raise RuntimeError("the workers that stored the earlier trees were lost; fit again")
    secede()  # so that other parts on this worker can start
    with openmp_threads(get_worker().state.nthreads):
        try:
            store_actors = [resolve_actor(store) for store in stores]
            Z = None if start is None else _load(resolve_actor(start[0]), part, start[1])
            communicator = ActorCommunicator(resolve_actor(coordinator), part, job.n_parts)
            monitor = PartMonitor(communicator, run, store_actors)
            model, result = _train(compressed, job, communicator, monitor, Z, earlier)
            _save_model(store_actors, part, run, model)
        except CommunicationError as error:
            return Unfinished(str(error))
    return result


def _train(
    compressed: CompressedPart,
    job: Job,
    communicator: ActorCommunicator,
    monitor: PartMonitor,
    start: Floats | None,
    earlier: PartModel | None,
) -> tuple[PartModel, PartResult]:
    matrix, rows = compressed.matrix, compressed.rows
    weight = np.ones(rows.ids.size) if rows.weight is None else rows.weight
    problem = job.task.problem(matrix.X, rows.y, weight, matrix.kernel, communicator)
    operator = HSSOperator(matrix, RemoteTop(communicator), communicator)
    report = FitReport()
    tree = train_tree(operator, problem, job.plan, report, monitor, start, job.number)
    monitor.wait()
    forest = Forest(0, report)
    if earlier is not None:
        forest = Forest.of(
            0,
            deepcopy(earlier.report),
            earlier.predictor,
            earlier.support,
            earlier.dual_coef,
            problem.n,
        )
    if forest.n_trees and tree.solution.stopped is not None:
        forest.report.lacks_trees()
    else:
        forest.add(tree)
    result = forest.result(problem, matrix.kernel, matrix.X, job.plan.seed, communicator)
    assert result.compressed is not None
    model = PartModel(
        result.compressed,
        result.support,
        rows.ids[result.support],
        None if rows.y is None else rows.y[result.support],
        result.support_vectors,
        result.coefficients,
        result.report,
        monitor.communication,
    )
    total = deepcopy(result.report)
    total.reduce(communicator)
    return model, PartResult(result.intercept, total)


def _load(store: Any, part: int, checkpoint: CheckpointId) -> Floats:
    try:
        Z: Floats = store.load(part, checkpoint).result(timeout=STORE_TIMEOUT)
    except Exception as error:
        raise CommunicationError(
            f"the worker that stored a checkpoint was lost ({error!r})"
        ) from error
    return Z


def _save_model(stores: Sequence[Any], part: int, run: int, model: PartModel) -> None:
    here: CheckpointStore | None = get_worker().state.actors.get(stores[0].key)
    if here is None:
        raise CommunicationError("a part was trained on a different worker than planned")
    here.save_model(part, run, model)
    for store in stores[1:]:
        with suppress(Exception):  # the copy is optional
            store.save_model(part, run, model).result(timeout=TRANSFER)


class PartMonitor(Monitor):
    """Reports progress to the driver, writes checkpoints, and stops the fit on request.

    Parameters
    ----------
    communicator : ActorCommunicator
    run : int
    stores : sequence of actors
        Actors of `CheckpointStore`.

    Attributes
    ----------
    communication : (int, float)
        Number of synchronizations of the solver, and the seconds spent in them.
    """

    def __init__(self, communicator: ActorCommunicator, run: int, stores: Sequence[Any]) -> None:
        self.communicator, self.run, self.stores = communicator, run, stores
        self.communication = (0, 0.0)
        self._pending: list[Any] = []
        self.checkpoint = self._checkpoint

    def stage_done(self, name: str) -> None:
        """Record the cost of communication at the end of the solver."""
        if name == "solve":
            self.communication = self.communicator.n_rounds, self.communicator.seconds

    def after_check(self, iteration: int, gap: Floats) -> Status | None:
        """Report the gap to the driver; return a status if the fit should stop."""
        if self.communicator.rank == 0:
            self.communicator.report_progress(iteration, float(gap.max()))
        return self.communicator.stop

    def _checkpoint(self, iteration: int, Z: Floats) -> None:
        if iteration % CHECKPOINT_INTERVAL == 0:
            self.wait()
            copy, checkpoint = Z.copy(), (self.run, iteration)
            self._pending = [
                store.save(self.communicator.rank, checkpoint, copy) for store in self.stores
            ]

    def wait(self) -> None:
        """Wait for the last checkpoint; the loss of a store does not stop the training."""
        for message in self._pending:
            with suppress(Exception):
                message.result(timeout=STORE_TIMEOUT)
