"""Scales that all folds of a search share, learned from rows that no fold has.

With many rows, learning in every fold would take longer than all fits. The final models have the
same scales.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.inputs.kernel import radial_type
from hssvm.kernels.base import Rows
from hssvm.model_selection.families import Family
from hssvm.model_selection.fold_models import FoldTask
from hssvm.training import FitReport, Monitor
from hssvm.training.data.scaling import Scaling
from hssvm.training.scales.learn import LearnedScales
from hssvm.training.scales.scaling import base_of, learned_scaling


def learn_for_folds(
    X: Rows,
    rows: NDArray[np.int64],
    family: Family,
    task: FoldTask,
    seed: int,
    monitor: Monitor,
    memory_limit: float | None,
    max_rows: int | None = None,
) -> tuple[Scaling, LearnedScales]:
    """Learn the scales of a family from rows X, which have the indices `rows`.

    The scores of the folds decide whether the scales are kept.
    """
    radial = radial_type(family.kernel)
    assert radial is not None  # checked by _check_parameters
    return learned_scaling(
        Scaling.of(X, base_of(family.scaling)), X, lambda some: task.targets(rows[some]),
        task.weight[rows], radial, seed=seed, report=FitReport(), monitor=monitor,
        memory_limit=memory_limit, max_rows=max_rows, beyond_chance=False,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class CommonScales:
    """Learns the scales of each family once.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
        All rows, not scaled.
    rows : (m,) int64
        Rows to learn from.
    task : FoldTask
    seed : int
    monitor : Monitor
    memory_limit : float or None
        Bytes.
    """

    X: Rows
    rows: NDArray[np.int64]
    task: FoldTask
    seed: int
    monitor: Monitor
    memory_limit: float | None
    _known: dict[Family, LearnedScales] = field(default_factory=dict, init=False)

    def of(self, family: Family) -> LearnedScales:
        """Return the scales of a family."""
        if family not in self._known:
            _, self._known[family] = learn_for_folds(
                self.X[self.rows], self.rows, family, self.task, self.seed, self.monitor,
                self.memory_limit, self.rows.size,
            )  # fmt: skip
        return self._known[family]
