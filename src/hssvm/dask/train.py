"""Training of one part, a task on its worker: the pipeline of `hssvm.training` on its rows."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import get_worker, secede
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.dask.actors import Pickled, resolve_actor
from hssvm.dask.checkpoints import STORE_TIMEOUT, CheckpointId, CheckpointStore
from hssvm.dask.communicator import ActorCommunicator, RemoteTop
from hssvm.dask.compression import CompressedPart
from hssvm.dask.messages import CommunicationError, Link, Membership
from hssvm.dask.part_monitor import Communication, PartMonitor
from hssvm.dask.waiting import TRANSFER
from hssvm.kernels.base import Floats, Rows
from hssvm.operators import HSSOperator
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor
from hssvm.progress import listening
from hssvm.solvers import WorkingSetState
from hssvm.training import FitReport, Task, TrainingPlan
from hssvm.training.out_of_fold import assign_folds
from hssvm.training.routes.forest.forest import Forest
from hssvm.training.routes.forest.route import train_tree

MEMORY_SHARE = 0.5
"""Fraction of the memory limit of a worker that a fit may use with its kernel values; Dask writes
results to disk at 0.6 and pauses the worker at 0.8."""

SENT_HELD_OUT_ROWS = 30_000
"""Maximum number of out-of-fold decision values that a part sends to the driver: enough to
calibrate probabilities."""


@dataclass(frozen=True, eq=False)
class Job:
    """The training job, which is the same for all parts.

    Attributes
    ----------
    task : Task
    plan : TrainingPlan
    n_parts : int
    index : int
        Index of the tree in the forest.
    """

    task: Task
    plan: TrainingPlan
    n_parts: int
    index: int = 0


@dataclass(frozen=True, eq=False)
class PartModel:
    """The model of a part; it stays on its worker.

    Attributes
    ----------
    predictor : LeafwisePredictor or ExpansionPredictor
        Predicts points of this part; on the exact kernel, the contribution of the support vectors
        of this part to any point.
    support : (m,) int64
        Indices of the support vectors among the rows of this part.
    support_ids : (m,) int64
        Global indices of the support vectors.
    support_y : (m,) or None
    support_vectors : (m, p) array or CSR matrix
    dual_coef : (m, k)
    report : FitReport
        Report of this part.
    out_of_fold : (n, k) or None
        Out-of-fold decision values at all rows of this part.
    communication : dict of str to Communication
        Communication of this part during 'solve' and 'refine'.
    """

    predictor: LeafwisePredictor | ExpansionPredictor
    support: NDArray[np.int64]
    support_ids: NDArray[np.int64]
    support_y: NDArray[Any] | None
    support_vectors: Rows
    dual_coef: Floats
    report: FitReport
    out_of_fold: Floats | None
    communication: dict[str, Communication]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decision values of rows from models that have not seen them.

    Attributes
    ----------
    values : (m, k)
    y : (m,)
    weight : (m,)
    fold : (m,) int64
    """

    values: Floats
    y: NDArray[Any]
    weight: Floats
    fold: NDArray[np.int64]

    @classmethod
    def join(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """Join the rows of several parts."""
        names = ("values", "y", "weight", "fold")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True, eq=False)
class PartResult:
    """The result of a part, for the driver.

    Attributes
    ----------
    intercept : (k,)
    report : FitReport
        Report of all parts, with the times of the slowest.
    held_out : HeldOut or None
        Rows of this part that a model has not seen, if there are any.
    """

    intercept: NDArray[np.float64]
    report: FitReport
    held_out: HeldOut | None


@dataclass(frozen=True, eq=False)
class Unfinished:
    """The result of a part if the communication failed."""

    reason: str


def train_part(
    compressed: CompressedPart,
    part: int,
    run: int,
    job: Job,
    membership: Membership,
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
    membership : Membership
        Membership in a group of parts.
    stores : sequence of Pickled
        Actors of `CheckpointStore`, the local one first.
    start : (Pickled, CheckpointId) or None
        Store and checkpoint to resume from.
    earlier : PartModel, optional
        Model with the earlier trees of the forest.
    """
    if job.index and earlier is None:
        raise RuntimeError("the workers that stored the earlier trees were lost; fit again")
    secede()  # so that other parts on this worker can start
    worker = get_worker()
    with openmp_threads(worker.state.nthreads):
        try:
            store_actors = [resolve_actor(store) for store in stores]
            saved = None if start is None else _load(resolve_actor(start[0]), part, start[1])
            communicator = ActorCommunicator(Link.of(membership), part, job.n_parts)
            communicator.share_threads(worker.address, worker.state.nthreads)
            monitor = PartMonitor(communicator, run, store_actors, refines=job.plan.exact)
            with listening(monitor.listen):
                model, result = _train(compressed, job, communicator, monitor, saved, earlier)
            _save_model(store_actors, part, run, model)
        except CommunicationError as error:
            return Unfinished(str(error))
    return result


def _train(
    compressed: CompressedPart,
    job: Job,
    communicator: ActorCommunicator,
    monitor: PartMonitor,
    saved: Floats | WorkingSetState | None,
    earlier: PartModel | None,
) -> tuple[PartModel, PartResult]:
    matrix, rows, plan = compressed.matrix, compressed.rows, job.plan
    if limit := get_worker().memory_manager.memory_limit:
        plan = replace(plan, memory_limit=MEMORY_SHARE * limit)
    weight = rows.weights
    task = job.task.problem(matrix.X, rows.y, weight, matrix.kernel, communicator)
    problem = task.part(0).problem
    operator = HSSOperator(matrix, RemoteTop(communicator), communicator)
    report = FitReport()
    state = saved if isinstance(saved, WorkingSetState) else None
    start = None if isinstance(saved, WorkingSetState) else saved
    tree = train_tree(operator, problem, plan, report, monitor, start, job.index, state=state)
    monitor.end_solver("refine")
    monitor.wait()
    forest = Forest(0, report)
    if earlier is not None:
        assert earlier.predictor.compressed is not None
        forest = Forest.of(
            0,
            deepcopy(earlier.report),
            earlier.predictor.compressed,
            earlier.support,
            earlier.dual_coef,
            problem.n,
            earlier.out_of_fold,
        )
    if forest.n_trees and tree.solution.stopped is not None:
        forest.report.lacks_trees()
    else:
        forest.add(tree)
    result = forest.result(problem, matrix.kernel, matrix.X, job.plan.seed, communicator)
    model = PartModel(
        result.exact if result.compressed is None else result.compressed,
        result.support,
        rows.ids[result.support],
        None if rows.y is None else rows.y[result.support],
        result.support_vectors,
        result.coefficients,
        result.report,
        result.out_of_fold,
        monitor.communication,
    )
    total = deepcopy(result.report)
    total.reduce(communicator)
    held_out = None
    if result.out_of_fold is not None and rows.y is not None:
        held = np.flatnonzero(~np.isnan(result.out_of_fold[:, 0]))
        rng = np.random.default_rng(job.plan.seed)
        held = np.sort(rng.permutation(held)[:SENT_HELD_OUT_ROWS])
        fold = assign_folds(problem.strata, job.plan.seed, communicator.rank)
        held_out = HeldOut(result.out_of_fold[held], rows.y[held], weight[held], fold[held])
    return model, PartResult(result.intercept, total, held_out)


def _load(store: Any, part: int, checkpoint: CheckpointId) -> Floats | WorkingSetState:
    try:
        saved: Pickled = store.load(part, checkpoint).result(timeout=STORE_TIMEOUT)
    except Exception as error:
        raise CommunicationError(
            f"the worker that stored a checkpoint was lost ({error!r})"
        ) from error
    state: Floats | WorkingSetState = pickle.loads(saved)
    return state


def _save_model(stores: Sequence[Any], part: int, run: int, model: PartModel) -> None:
    here: CheckpointStore | None = get_worker().state.actors.get(stores[0].key)
    if here is None:
        raise CommunicationError("a part was trained on a different worker than planned")
    here.save_model(part, run, model)
    for store in stores[1:]:
        with suppress(Exception):  # the copy is optional
            store.save_model(part, run, model).result(timeout=TRANSFER)
