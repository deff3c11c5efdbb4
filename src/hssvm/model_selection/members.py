"""Training of the best candidates of a search on all rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hssvm.estimators.base import FitInput
from hssvm.kernels.base import Floats
from hssvm.model_selection.families import Candidate
from hssvm.model_selection.fold_fitter import CUT_SHORT
from hssvm.model_selection.selection import Selection
from hssvm.progress import MemberBegan, emit
from hssvm.training import (
    Monitor,
    Task,
    TrainingConfig,
    TrainingPlan,
    TrainingResult,
    plan_task,
    train,
)
from hssvm.training.reports.monitor import FirstShare
from hssvm.training.scales.scaling import LEARNED


@dataclass(frozen=True, eq=False)
class Member:
    """A trained candidate.

    Attributes
    ----------
    model : estimator
    task : Task
    plan : TrainingPlan
    result : TrainingResult
    """

    model: Any
    task: Task
    plan: TrainingPlan
    result: TrainingResult

    @property
    def cut_short(self) -> bool:
        """Whether the time was up before it was trained, with its out-of-fold values."""
        lacks_values = self.plan.n_folds > 0 and self.result.out_of_fold is None
        return lacks_values or not CUT_SHORT.isdisjoint(self.result.report.status)

    @property
    def outputs(self) -> Floats | None:
        """What the mean averages, from models without the rows."""
        return self.model._out_of_fold_outputs(self.result, self.task)


def train_members(
    candidates: Sequence[Candidate],
    new_member: Callable[[Candidate, Sequence[Any]], Any],
    selection: Selection,
    data: FitInput,
) -> list[Member]:
    """Train candidates, as far as time allows.

    The first may take all the time that is left, and the others share the rest. Of these, those
    that are cut short are left out.

    Parameters
    ----------
    candidates : sequence of Candidate
        The best first.
    new_member : callable
        Called with a candidate and the models before it; returns the model to train.
    selection : Selection
    data : FitInput
    """
    members: list[Member] = []
    for i, candidate in enumerate(candidates):
        monitor: Monitor = selection.monitor
        if members:
            if monitor.stop() is not None:
                break
            monitor = FirstShare(monitor, 1 / (len(candidates) - i))
        if len(candidates) > 1:
            text = f"model {i + 1} of {len(candidates)}: {candidate}"
            emit(MemberBegan(text), "%s", text)
        model = new_member(candidate, [member.model for member in members])
        config = selection.config_of(len(candidates))
        if selection.has_cells:
            config = replace(config, seed=config.seed + i)  # other cells than the models before
        member = _train(model, candidate, selection, config, data, monitor)
        if members and member.cut_short:
            break
        members.append(member)
        _store(member, selection, data)
    return members


def mean_outputs(members: Sequence[Member]) -> Floats | None:
    """Mean out-of-fold outputs; None if a member has none."""
    outputs = [member.outputs for member in members]
    if any(one is None for one in outputs):
        return None
    mean: Floats = np.mean(np.stack([one for one in outputs if one is not None]), axis=0)
    return mean


def _train(
    model: Any,
    candidate: Candidate,
    selection: Selection,
    config: TrainingConfig,
    data: FitInput,
    monitor: Monitor,
) -> Member:
    task, report = model._fit_task(data), model._new_report()
    kernel = selection.make_kernel(candidate.family.kernel, candidate.gamma)
    common, family = selection.scales, candidate.family
    scales = common.of(family) if common and family.scaling in LEARNED else None
    X = model._scale(
        *family, task, data, config.seed, report, monitor, beyond_chance=False, scales=scales
    )
    if _only_scored(config, kernel, X):
        config = replace(config, held_out=math.inf)
    plan, problem = plan_task(config, task, X, data.y, data.weight, kernel)
    return Member(model, task, plan, train(problem, kernel, X, plan, report, monitor))


def _only_scored(config: TrainingConfig, kernel: Any, X: Any) -> bool:
    """Whether out-of-fold values are only for the score.

    On the exact kernel, the score takes 5 to 15 % of the time of a search.
    """
    scored = not config.held_out and config.memory_limit is None
    return scored and config.is_exact(kernel, X)


def _store(member: Member, selection: Selection, data: FitInput) -> None:
    """Set the fitted attributes of the model."""
    model, result, plan = member.model, member.result, member.plan
    if selection.config.held_out:
        model._store(result, plan)
    else:  # without a warning if the time was up
        model._store(replace(result, out_of_fold=None), replace(plan, n_folds=0))
    model._keep_background(data, selection.config.seed)
    model._finish(result, member.task, data, selection.monitor)
