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
            radial, X = radial_type(family.kernel), self.X[self.rows]
            assert radial is not None  # checked by _check_parameters
            _, self._known[family] = learned_scaling(
                Scaling.of(X, base_of(family.scaling)), X,
                lambda some: self.task.targets(self.rows[some]), self.task.weight[self.rows],
                radial, seed=self.seed, report=FitReport(), monitor=self.monitor,
                memory_limit=self.memory_limit, beyond_chance=False,
            )  # fmt: skip
        return self._known[family]
