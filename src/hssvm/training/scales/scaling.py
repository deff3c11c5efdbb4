"""The scaling of a fit, which may be learned from the targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel
from hssvm.messages import Message, api
from hssvm.training.data.scaling import Scaling
from hssvm.training.reports.monitor import FirstShare, Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.scales.learn import LearnedScales, learn_scales, sample_rows
from hssvm.training.tasks import Targets

LEARNED = {"learned": "standard", "learned-quantiles": "quantiles"}
"""Scalings that are learned, and the scaling whose features their scales multiply."""

TIME_SHARE = 0.25
"""Share of the time of a fit after which no further step begins."""

ARRAYS = 6
"""Arrays of the size of the kernel matrix of a half."""


def learned_scaling(
    base: Scaling,
    X: Rows,
    targets: Callable[[NDArray[np.int64]], Targets],
    weight: Floats,
    kernel: type[RadialKernel],
    *,
    seed: int,
    report: FitReport,
    monitor: Monitor,
    memory_limit: float | None = None,
    max_rows: int | None = None,
    beyond_chance: bool = True,
) -> tuple[Scaling, LearnedScales]:
    """Learn scales from a sample of the rows.

    Parameters
    ----------
    base : Scaling
        Standardizes the features, or replaces them by their normal scores.
    X : (n, p) array or CSR matrix
        Rows, or a sample of them.
    targets : callable
        Returns the targets of the rows with the given indices.
    weight : (n,)
    kernel : type
        The kernel of the fit.
    seed : int
    report : FitReport
        Receives what the scales have gained.
    monitor : Monitor
    memory_limit : float, optional
        Bytes.
    max_rows : int, optional
        Largest number of rows to learn from; by default, it depends on the number of rows of `X`.
    beyond_chance : bool
        Whether scales are kept only if their gain is beyond chance.

    Returns
    -------
    Scaling
        The features of `base` times the learned scales.
    LearnedScales
    """
    rows = sample_rows(weight, seed, max_rows)
    n_workers = _workers_within(memory_limit, rows.size // 2, X.dtype.itemsize)
    with report.stage("scales"):
        scales = learn_scales(
            base(X[rows]), targets(rows), weight[rows], kernel,
            seed=seed, monitor=FirstShare(monitor, TIME_SHARE), n_workers=n_workers,
            beyond_chance=beyond_chance,
        )  # fmt: skip
    report.add_scales(scales.n_rows, scales.n_steps, scales.errors)
    return base.times(scales.factors), scales


def base_of(kind: str | None) -> str | None:
    """Return the scaling whose features are multiplied by learned scales; `kind` if none are."""
    return kind if kind is None else LEARNED.get(kind, kind)


def _workers_within(limit: float | None, n_rows: int, itemsize: int) -> int:
    """Number of halves, one or two, that are solved at a time within a memory limit."""
    each = ARRAYS * n_rows**2 * itemsize
    if limit is None or limit >= 2 * each:
        return 2
    if limit >= each:
        return 1
    raise MemoryError(
        Message(
            f"learning the scales may need {each / 1e9:.2g} GB, more than the "
            f"{api:memory_limit} of {limit / 1e9:.2g} GB; raise the limit, "
            f"{api:pass X in float32}, or set {api:scaling='standard'} or "
            f"{api:scaling='quantiles'}"
        )
    )
