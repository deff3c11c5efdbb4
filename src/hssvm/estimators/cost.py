"""Estimates of the time and memory of a fit, from fits on two small samples.

Two samples, one with twice as many rows as the other, give the cost per row and its growth with one
more level of the tree. Ranks may grow up to eight levels above the leaves, and each of these levels
adds the same cost; each further level adds half of the previous one. Refinement computes the kernel
values of all rows with the support vectors, whose number is extrapolated from the samples.
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
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from hssvm._display import ShownAsText
from hssvm.estimators.parameters import as_calibrator
from hssvm.exceptions import DataWarning
from hssvm.hss.nystroem import GROWING_LEVELS
from hssvm.kernels.base import Kernel, Rows
from hssvm.kernels.indexed import IndexedKernel
from hssvm.kernels.kept import n_kept_rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.training import FitReport, TrainingConfig
from hssvm.training.memory import FitMemory
from hssvm.training.plan import DEFAULT_MEMORY, FOLDS
from hssvm.training.start import many_support_vectors

SAMPLE = 8000
"""Number of rows of the larger sample."""

MAX_KERNEL_ERROR = 0.3
"""Relative error of the compressed kernel above which the estimate advises against it."""


@dataclass(frozen=True, eq=False, repr=False)
class CostEstimate(ShownAsText):
    """Expected cost and accuracy of a fit, as returned by `estimate_cost` of an estimator.

    Attributes
    ----------
    n_rows, n_sample : int
        Number of rows of the data, and of the larger sample.
    seconds : dict
        Seconds by stage.
    memory : float
        Peak memory of the fit in bytes, in addition to its rows.
    kernel_error : float
        Estimate of ``|K - K~|_F / |K|_F`` on the sample.
    ranks : list of int
        Largest rank per level of the sample, root first.
    refines : bool
        Whether the fit continues on the exact kernel.
    n_trees : int
        Number of trees of the forest.
    n_pairs : int
        Number of pairs of classes that are trained on the exact kernel, one-vs-one; else 0.
    advice : list of str
    """

    n_rows: int
    n_sample: int
    seconds: dict[str, float]
    memory: float
    kernel_error: float
    ranks: list[int]
    refines: bool
    n_trees: int
    n_pairs: int
    advice: list[str]

    @property
    def total_seconds(self) -> float:
        """Seconds of all stages together."""
        return sum(self.seconds.values())

    def __str__(self) -> str:
        """Return a summary of a few lines."""
        stages = ", ".join(f"{name} {value:.2g}" for name, value in self.seconds.items())
        kernel = "exact, from a start on the compressed one" if self.refines else "compressed"
        if self.n_trees > 1:
            kernel = f"forest of {self.n_trees} compressed ones"
        lines = [f"estimate for {self.n_rows:,} rows, from a sample of {self.n_sample:,}"]
        if self.n_pairs:
            lines.append(f"kernel     exact, for each of {self.n_pairs} pairs of classes")
        elif not self.ranks:
            lines.append("kernel     exact")
        else:
            error, ranks = f"{self.kernel_error:.2g}", " ".join(map(str, self.ranks))
            lines += [
                f"kernel     {kernel}; relative error of the compressed one {error}",
                f"           ranks {ranks} from the top to the leaves, sample",
            ]
        lines += [
            f"memory     {self.memory / 1e6:,.0f} MB at the peak",
            f"seconds    about {self.total_seconds:.2g}: {stages}",
        ]
        return "\n".join([*lines, *(f"advice     {advice}" for advice in self.advice)])


def estimate_cost(
    estimator: Any, X: Rows, y: NDArray[Any] | None, kernel: Kernel, config: TrainingConfig
) -> CostEstimate:
    """Fit an estimator to samples of validated rows, and extrapolate.

    Parameters
    ----------
    estimator : BaseKernelSVM
    X : (n, p) array or CSR matrix
        Already scaled, if the estimator scales; indices of points for an `IndexedKernel`.
    y : (n,) array or None
    kernel : Kernel
    config : TrainingConfig
        Configuration of a fit on all rows.
    """
    n = X.shape[0]
    plan = config.plan_for(X, kernel)
    order = np.random.default_rng(0).permutation(n)
    if y is not None:  # stratify the samples by y
        order = order[np.argsort(y[order], kind="stable")]
    sample = _evenly_spaced(order, min(n, SAMPLE))
    half = _evenly_spaced(sample, min(sample.size, max(2, -(-sample.size // 2))))
    trial_parameters: dict[str, Any] = {
        "refine": plan.refine,
        "tol": plan.tol,
        "n_trees": 1 if not plan.refine else None,
        "leaf_size": plan.leaf_size,
        "compressor": plan.compressor,
        "max_rank": None,
        "scaling": None,
        "max_time": None,
        "memory_limit": None,
        "verbose": 0,
    }
    multi_class = getattr(estimator, "multi_class", "ovr")
    if multi_class == "auto":  # samples may be small enough to be exact
        multi_class = "ovo" if plan.exact(n) else "ovr"
        trial_parameters["multi_class"] = multi_class
    # A sample may lack rows of rare classes, which probabilities need.
    if as_calibrator(getattr(estimator, "probability", None)) is not None:
        trial_parameters |= {"probability": None, "out_of_fold": True}
    one_vs_one = multi_class == "ovo" and y is not None and np.unique(y).size > 2

    def fit(rows: NDArray[np.int64], *, compressed_start: bool) -> Any:
        trial = clone(estimator).set_params(**trial_parameters)
        trial._compressed_start = compressed_start  # noqa: SLF001
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DataWarning)  # the fit itself will warn
            points = kernel.select(rows) if isinstance(kernel, IndexedKernel) else X[rows]
            return trial.fit(points, *([] if y is None else [y[rows]]))

    # Times are those of the second fit, as the first one is a warm-up.
    start = bool(plan.compressed_start)
    first, trial = (fit(rows, compressed_start=start) for rows in (half, sample))
    if plan.compressed_start is None and is_classifier(estimator) and not one_vs_one:
        counts = [np.count_nonzero(m.dual_coef_) / len(m.dual_coef_) for m in (first, trial)]
        if many_support_vectors(counts, (half.size, sample.size), n):
            first, trial = (fit(rows, compressed_start=True) for rows in (half, sample))
    small, large = first.fit_report_, trial.fit_report_
    ratio = n / large.n_rows
    exact = ratio ** (1 + _power(first.support_.size, trial.support_.size, small, large))
    folds = exact * plan.n_folds / FOLDS  # the samples leave out all folds
    n_columns = large.n_columns * (1 + plan.n_folds)
    model, cache = plan.memory(X, n_columns), plan.cache(X, n_columns) if plan.refine else 0.0
    if large.n_factors == 0:  # on the exact kernel only
        factors = {"solve": exact, "folds": folds}
        pair_rows = None
        if one_vs_one and y is not None:
            pair_rows = int(np.sort(np.unique(y, return_counts=True)[1])[-2:].sum())
        K = LazyKernelMatrix(kernel, X[:pair_rows])
        memory = _exact_memory(model, cache or DEFAULT_MEMORY, small, large, pair_rows, K)
    else:
        a, b = _bytes(small) / small.n_rows, _bytes(large) / large.n_rows
        factor = ratio * _growth(a, b, small, large, n) / b
        factors = dict.fromkeys(large.seconds, factor)
        factors |= {"refine": exact, "folds": folds, "finish": ratio}
        memory = _memory(model, cache, small, large, factor) * plan.trees_at_a_time(model)
    seconds = {name: value * factors[name] * plan.n_trees for name, value in large.seconds.items()}
    advice = _advice(memory, large.kernel_error, plan.refine)
    return CostEstimate(
        n,
        large.n_rows,
        seconds,
        memory,
        large.kernel_error,
        large.ranks,
        plan.refine,
        plan.n_trees,
        large.n_columns if one_vs_one and large.exact_kernel else 0,
        advice,
    )


def _exact_memory(
    model: FitMemory,
    cache: float,
    small: FitReport,
    large: FitReport,
    pair_rows: int | None,
    kernel_matrix: LazyKernelMatrix,
) -> float:
    """Peak of a fit without compression; `pair_rows` is the size of the largest pair of classes."""
    rows, at_once = (model.n_rows, 1) if pair_rows is None else (pair_rows, model.n_threads)
    growth = _power(small.n_working, large.n_working, small, large)
    working_rows = large.n_working * (model.n_rows / large.n_rows) ** growth
    if working_rows == 0 or n_kept_rows(kernel_matrix, cache / at_once) > 0:
        working_rows = rows
    return model.exact_peak(rows, min(rows, working_rows), cache, at_once)


def _memory(
    model: FitMemory, cache: float, small: FitReport, large: FitReport, factor: float
) -> float:
    """Peak of a fit whose matrix is `factor` times as large as that of the larger sample."""
    expected = replace(model, ranks=_ranks(large.ranks, model.ranks))
    growth = _power(small.n_working, large.n_working, small, large)
    most = min(model.n_rows, (cache / model.itemsize) ** 0.5)
    working_rows = min(most, large.n_working * (model.n_rows / large.n_rows) ** growth)
    return expected.expected_peak(
        factor * large.matrix_bytes, factor * large.factor_bytes, working_rows
    )


def _ranks(sample: list[int], largest: Sequence[int]) -> list[int]:
    """Expected ranks of the full tree, root first; its lower levels have those of the sample.

    The levels above have the same fraction of their maximum rank as the top level of the sample.
    """
    above = len(largest) - len(sample)
    share = 1.0 if len(sample) == 1 else sample[1] / largest[above + 1]
    return [*(math.ceil(share * rank) for rank in largest[: above + 1]), *sample[1:]]


def _power(small: int, large: int, a: FitReport, b: FitReport) -> float:
    """Exponent p in [0, 1] with which a count grows like ``n**p`` from sample a to sample b."""
    if a.n_rows == b.n_rows:
        return 1.0
    power = math.log(max(1, large) / max(1, small)) / math.log(b.n_rows / a.n_rows)
    return float(np.clip(power, 0, 1))


def _evenly_spaced(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return `count` evenly spaced rows, including the first and the last."""
    return rows[np.linspace(0, rows.size - 1, count).astype(np.int64)]


def _bytes(report: FitReport) -> float:
    return report.matrix_bytes + report.factor_bytes


def _growth(small: float, large: float, a: FitReport, b: FitReport, n: int) -> float:
    """Cost per row of n rows, from the costs per row of two samples whose depths differ by 1."""
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
            f"the {installed / 1e9:.0f} GB of this machine are too little: pass X in float32, "
            "lower max_rank or leaf_size, or train on fewer rows."
        )
    if kernel_error > MAX_KERNEL_ERROR and not refines:
        advice.append(
            "the compressed kernel is far from the exact one: lower gamma (a wider kernel "
            "compresses better), raise max_rank, or set refine=True if time permits."
        )
    if not advice:
        advice.append("fits.")
    return advice


def _installed_memory() -> float | None:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows
        return None
