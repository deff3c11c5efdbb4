"""How far a model is from the solution on the true kernel.

With z feasible and any intercept b, primal minus dual value is a sum over the rows,

    P(z, b) - D(z) = sum_i  z_i (f_i + b - linear_i) + kink |z_i| + loss_i(f_i + b),    f = K z,

and no term is negative: a row that is optimal for (f_i + b) has 0. Each term costs one row of K, so
a sample of rows estimates the sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.display import ShownAsText
from hssvm.estimators.parameters import NONE, check_parameter, integer
from hssvm.kernels.base import Floats
from hssvm.kernels.rows import KernelRows
from hssvm.problems import Problem, Values

CONFIDENCE = 1.96
"""Standard deviations on either side: 95 %."""


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ShownAsText):
    """Objective values and duality gap on the exact kernel; made by `SVC.certify`.

    Attributes
    ----------
    primal, dual : (k,) arrays
        Objective values; that of the best solution lies between.
    gap : (k,) array
        Their difference relative to `primal`, so that the objective of the model is at most this
        share above the best. Where the objective of a one-class model is close to 0, relative to
        ``1/2 sum z_i^2 k(x_i, x_i)``.
    low, high : (k,) arrays
        Of the gap: a 95 % confidence interval if it comes from a sample, else the gap itself.
    n_rows : int
        Rows that were looked at.
    """

    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    gap: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_rows: int

    def __str__(self) -> str:
        """One line per column."""
        lines = [f"on the exact kernel, from {self.n_rows:,} rows:"]
        for P, D, gap, low, high in zip(
            self.primal, self.dual, self.gap, self.low, self.high, strict=True
        ):
            interval = f" (95 %: {low:.2g} to {high:.2g})" if high > low else ""
            lines.append(f"primal {P:.8g}, dual {D:.8g}, relative gap {gap:.2g}{interval}")
        return "\n".join(lines)


def certify(
    problem: Problem,
    kernel_rows: KernelRows,
    Z: Floats,
    intercept: NDArray[np.float64],
    n_rows: int | None,
    seed: int,
) -> Certificate:
    """Evaluate (Z, intercept) on the true kernel.

    Parameters
    ----------
    problem : Problem
    kernel_rows : KernelRows
    Z : (n, k)
        Feasible.
    intercept : (k,)
    n_rows : int or None
        Rows to look at, half of them from those with a coefficient; None: all.
    seed : int

    Returns
    -------
    Certificate
    """
    rng = np.random.default_rng(seed)
    has_coefficient = Z.any(axis=1)
    support = np.flatnonzero(has_coefficient)
    check_parameter("n_rows", n_rows, [NONE, integer(4)])
    if n_rows is not None and n_rows >= problem.n:
        n_rows = None
    parts = []
    seen = 0
    for stratum in (support, np.flatnonzero(~has_coefficient)):
        size = stratum.size if n_rows is None else min(stratum.size, max(2, n_rows // 2))
        rows = np.sort(rng.choice(stratum, size, replace=False))
        F = kernel_rows.product(rows, support, Z[support]).astype(np.float64)
        z = Z[rows].astype(np.float64)
        terms = z * (F + intercept - problem.linear[rows]) + problem.kink * np.abs(z)
        terms += problem.losses(rows, F, intercept)
        parts.append((z * F, terms, stratum.size))
        seen += size
    quadratic = sum(total(zF, n) for zF, _, n in parts)
    gap = sum(total(terms, n) for _, terms, n in parts)
    linear = np.einsum("ij,ij->j", problem.linear, Z, dtype=np.float64)
    linear -= problem.kink * np.abs(Z).sum(axis=0, dtype=np.float64)
    dual = linear - quadratic / 2
    primal = dual + gap
    floor = np.array([problem.floor(j, Z[:, j].astype(np.float64)) for j in range(problem.k)])
    values = Values(primal, dual, intercept, floor)
    relative, scale = values.gap, values.size
    # of gap / primal to first order, with primal = linear - quadratic / 2 + gap
    variance = sum(
        variance_of_total((1 - relative) * terms + relative / 2 * zF, n) for zF, terms, n in parts
    )
    margin = CONFIDENCE * np.sqrt(variance) / scale
    return Certificate(
        primal, dual, relative, np.maximum(relative - margin, 0), relative + margin, seen
    )


def total(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Sum over n rows, of which `values` is a sample."""
    return n * values.mean(axis=0) if values.shape[0] else np.zeros(values.shape[1])


def variance_of_total(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Variance of `total`, for a sample without repetition."""
    m = values.shape[0]
    if m in (0, n):
        return np.zeros(values.shape[1])
    return n**2 * (1 - m / n) * values.var(axis=0, ddof=1) / m
