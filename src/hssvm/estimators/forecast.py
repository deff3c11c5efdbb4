"""What a fit will take, from two small ones.

Two fits on samples, one of twice the rows of the other, show what a row costs, and how much more it
costs with one more level of the tree. Up to eight levels above the leaves ranks may grow, and each
level adds the same; further levels add half of the one before. Refinement costs kernel values of
the rows with the support vectors, and the samples show how the number of these grows.
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hssvm.estimators.report import FitReport
from hssvm.exceptions import DataWarning
from hssvm.hss.nystroem import GROWING_LEVELS
from hssvm.kernels.base import Rows

SAMPLE = 8000
"""Rows of the larger sample."""

POOR = 0.3
"""Error of the compressed kernel above which it is another one."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Cost and exactness of a fit that has not been made; made by `forecast` of an estimator.

    Attributes
    ----------
    n_rows, n_sample : int
        Of the data, and of the sample that was tried.
    seconds : dict
        By stage.
    memory : float
        Bytes of matrix and factor.
    kernel_error : float
        Estimate of ``|K - K~|_F / |K|_F``, on the sample.
    ranks : list of int
        Largest rank per level of the sample, root first.
    refines : bool
        Whether the fit goes on to the true kernel.
    advice : list of str
    """

    n_rows: int
    n_sample: int
    seconds: dict[str, float]
    memory: float
    kernel_error: float
    ranks: list[int]
    refines: bool
    advice: list[str]

    @property
    def total_seconds(self) -> float:
        """Of all stages."""
        return sum(self.seconds.values())

    def __str__(self) -> str:
        """A few lines."""
        stages = ", ".join(f"{name} {value:.2g}" for name, value in self.seconds.items())
        kernel = "true kernel, from a start on the compressed one" if self.refines else "compressed"
        lines = [
            f"forecast for {self.n_rows:,} rows, from a sample of {self.n_sample:,}",
            f"kernel     {kernel}; relative error of the compressed one {self.kernel_error:.2g}",
            f"           ranks {' '.join(map(str, self.ranks))} from the top to the leaves, sample",
            f"memory     {self.memory / 1e6:,.0f} MB for matrix and factor",
            f"seconds    about {self.total_seconds:.2g}: {stages}",
        ]
        return "\n".join([*lines, *(f"advice     {advice}" for advice in self.advice)])


def forecast(estimator: Any, X: Rows, y: Any, refines: bool) -> Forecast:
    """Try an estimator on samples of checked rows.

    Parameters
    ----------
    estimator : KernelMachine
    X : (n, p) array or CSR matrix
    y : (n,) array or None
    refines : bool
        Whether the fit on all rows will go on to the true kernel.
    """
    n = X.shape[0]
    order = np.random.default_rng(0).permutation(n)
    if y is not None:  # every class, and every size of y, has its share in the samples
        order = order[np.argsort(y[order], kind="stable")]
    sample = _every(order, min(n, SAMPLE))
    half = _every(sample, -(-sample.size // 2))
    reports, supports = [], []
    for some in (half, half, sample):  # the first one warms up
        trial = clone(estimator).set_params(refine=refines, verbose=0, max_time=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DataWarning)  # the fit itself will say so
            trial.fit(X[some], *([] if y is None else [y[some]]))
        reports.append(trial.fit_report_)
        supports.append(max(1, trial.support_.size))
    _, small, large = reports
    rows = n / large.n_rows
    per_row = _growth(_bytes(small) / small.n_rows, _bytes(large) / large.n_rows, small, large, n)
    memory = n * per_row
    heavier = memory / rows / _bytes(large)
    power = 1 + math.log(supports[2] / supports[1]) / math.log(large.n_rows / small.n_rows)
    factors = {"refine": rows ** float(np.clip(power, 1, 2)), "finish": rows}
    seconds = {
        name: value * factors.get(name, rows * heavier) for name, value in large.seconds.items()
    }
    advice = _advice(memory, large.kernel_error, refines)
    return Forecast(
        n, large.n_rows, seconds, memory, large.kernel_error, large.ranks, refines, advice
    )


def _every(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """So many of them at equal distances, with the first and the last."""
    return rows[np.linspace(0, rows.size - 1, count).astype(np.int64)]


def _bytes(report: FitReport) -> float:
    return report.matrix_bytes + report.factor_bytes


def _growth(small: float, large: float, a: FitReport, b: FitReport, n: int) -> float:
    """Cost of a row of n, from those of two samples whose trees differ by a level."""
    depth = len(b.ranks) - 1
    if depth == len(a.ranks) - 1 or n == b.n_rows:
        return large
    more = math.ceil(math.log2(n / b.n_rows))
    full = max(0, min(more, GROWING_LEVELS - depth))
    return large + (large - small) * (full + (1 if more > full else 0))


def _advice(memory: float, kernel_error: float, refines: bool) -> list[str]:
    advice = []
    installed = _installed_memory()
    if installed is not None and memory > 0.8 * installed:
        advice.append(
            f"this machine has {installed / 1e9:.0f} GB: too little. Give X in float32, lower "
            "max_rank or leaf_size, or train on a part of the rows."
        )
    if kernel_error > POOR and not refines:
        advice.append(
            "the compressed kernel is far from the true one: a smaller gamma (a wider kernel) "
            "compresses better; or raise max_rank, set surplus=0.5, or refine=True given time."
        )
    if not advice:
        advice.append("fits.")
    return advice


def _installed_memory() -> float | None:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows
        return None
