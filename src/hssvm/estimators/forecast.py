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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hssvm.estimators.display import ShownAsText
from hssvm.estimators.report import FitReport
from hssvm.exceptions import DataWarning
from hssvm.hss.nystroem import GROWING_LEVELS
from hssvm.kernels.base import Rows

SAMPLE = 8000
"""Rows of the larger sample."""

POOR = 0.3
"""Error of the compressed kernel above which it is another one."""


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(ShownAsText):
    """Cost and exactness of a fit that has not been made; made by `forecast` of an estimator.

    Attributes
    ----------
    n_rows, n_sample : int
        Of the data, and of the sample that was tried.
    seconds : dict
        By stage.
    memory : float
        Bytes that the fit takes at its peak, beyond the rows that it is given.
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
        kernel = "exact, from a start on the compressed one" if self.refines else "compressed"
        lines = [
            f"forecast for {self.n_rows:,} rows, from a sample of {self.n_sample:,}",
            f"kernel     {kernel}; relative error of the compressed one {self.kernel_error:.2g}",
            f"           ranks {' '.join(map(str, self.ranks))} from the top to the leaves, sample",
            f"memory     {self.memory / 1e6:,.0f} MB at the peak",
            f"seconds    about {self.total_seconds:.2g}: {stages}",
        ]
        return "\n".join([*lines, *(f"advice     {advice}" for advice in self.advice)])


def forecast(estimator: Any, X: Rows, y: Any, refines: bool) -> Forecast:
    """Try an estimator on samples of checked rows.

    Parameters
    ----------
    estimator : KernelMachine
    X : (n, p) array or CSR matrix
        Scaled, if the estimator scales.
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
    trial_parameters = {
        "compression": estimator._strategy(n, as_start=refines),
        "scaling": None,
        "max_time": None,
        "memory_limit": None,
        "verbose": 0,
    }
    reports, supports = [], []
    for some in (half, half, sample):  # the first one warms up
        trial = clone(estimator).set_params(refine=refines, **trial_parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DataWarning)  # the fit itself will say so
            trial.fit(X[some], *([] if y is None else [y[some]]))
        reports.append(trial.fit_report_)
        supports.append(trial.support_.size)
    _, small, large = reports
    rows = n / large.n_rows
    per_row = _growth(_bytes(small) / small.n_rows, _bytes(large) / large.n_rows, small, large, n)
    heavier = per_row * large.n_rows / _bytes(large)
    growth = _power(supports[1], supports[2], small, large)
    factors = {"refine": rows ** (1 + growth), "finish": rows}
    seconds = {
        name: value * factors.get(name, rows * heavier) for name, value in large.seconds.items()
    }
    memory = _memory(estimator, X, refines, small, large, rows * heavier)
    advice = _advice(memory, large.kernel_error, refines)
    return Forecast(
        n, large.n_rows, seconds, memory, large.kernel_error, large.ranks, refines, advice
    )


def _memory(
    estimator: Any, X: Rows, refines: bool, small: FitReport, large: FitReport, factor: float
) -> float:
    """Peak of a fit on X whose matrix has `factor` times the size of that of the larger sample."""
    account = estimator._memory(X, large.n_columns, refines)
    ranks = _ranks(large.ranks, account.ranks)
    expected = replace(account, ranks=ranks, n_factors=min(2, large.n_factors))
    working_rows = 0.0
    if refines:
        growth = _power(small.n_working, large.n_working, small, large)
        cache = estimator._cache(X, large.n_columns)
        most = min(X.shape[0], (cache / account.itemsize) ** 0.5)
        working_rows = min(most, large.n_working * (X.shape[0] / large.n_rows) ** growth)
    return expected.expected_peak(
        factor * large.matrix_bytes, factor * large.factor_bytes, working_rows
    )


def _ranks(sample: list[int], largest: Sequence[int]) -> list[int]:
    """Ranks of a deeper tree, root first: those of the sample at the leaves and up to its root.

    Levels above have the same share of their largest rank as the last one below.
    """
    above = len(largest) - len(sample)
    share = 1.0 if len(sample) == 1 else sample[1] / largest[above + 1]
    return [*(math.ceil(share * rank) for rank in largest[: above + 1]), *sample[1:]]


def _power(small: int, large: int, a: FitReport, b: FitReport) -> float:
    """Power of n, between 0 and 1, with which a count of rows grows from one sample to the next."""
    if a.n_rows == b.n_rows:
        return 1.0
    power = math.log(max(1, large) / max(1, small)) / math.log(b.n_rows / a.n_rows)
    return float(np.clip(power, 0, 1))


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
