"""Certificates: the duality gap of a model on the exact kernel.

For a feasible z and any intercept b, the primal minus the dual value is a sum over the rows,

    P(z, b) - D(z) = sum_i  z_i (f_i + b - linear_i) + l1_weight |z_i| + loss_i(f_i + b),   f = Kz,

of nonnegative terms; a term is 0 if z_i is optimal for (f_i + b). Each term needs one row of K, so
the sum can be estimated from a sample of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import Objective, PairsProblem, Problem
from hssvm.training.display import ShownAsText

CONFIDENCE = 1.96
"""Half-width of a 95 % confidence interval in standard deviations."""


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ShownAsText):
    """Objective values and duality gap on the exact kernel, as returned by `SVC.certify`.

    Attributes
    ----------
    primal, dual : (k,) arrays
        Objective values; the optimal value lies between them.
    gap : (k,) array
        Their difference, relative to the larger of the two in absolute value. If the objective of a
        one-class model is close to 0, the gap is relative to ``1/2 sum z_i^2 k(x_i, x_i)``.
    low, high : (k,) arrays
        95 % confidence interval of the gap if it comes from a sample, else the gap itself.
    n_rows : int
        Number of rows that were evaluated.
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
    kernel_matrix: LazyKernelMatrix,
    Z: Floats,
    intercept: NDArray[np.float64],
    n_rows: int | None,
    seed: int,
) -> Certificate:
    """Evaluate (Z, intercept) on the exact kernel.

    Parameters
    ----------
    problem : Problem
    kernel_matrix : LazyKernelMatrix
    Z : (n, k)
        Feasible.
    intercept : (k,)
    n_rows : int or None
        Number of rows to evaluate, half of them support vectors; None evaluates all rows.
    seed : int

    Returns
    -------
    Certificate
    """
    rng = np.random.default_rng(seed)
    has_coefficient = Z.any(axis=1)
    support = np.flatnonzero(has_coefficient)
    if n_rows is not None and n_rows >= problem.n:
        n_rows = None
    parts = []
    n_evaluated = 0
    for stratum in (support, np.flatnonzero(~has_coefficient)):
        size = stratum.size if n_rows is None else min(stratum.size, max(2, n_rows // 2))
        rows = np.sort(rng.choice(stratum, size, replace=False))
        F = kernel_matrix.product(rows, support, Z[support]).astype(np.float64)
        z = Z[rows].astype(np.float64)
        terms = z * (F + intercept - problem.linear[rows]) + problem.l1_weight * np.abs(z)
        terms += problem.losses(rows, F, intercept)
        parts.append((z * F, terms, stratum.size))
        n_evaluated += size
    quadratic = sum(total(zF, n) for zF, _, n in parts)
    gap = sum(total(terms, n) for _, terms, n in parts)
    linear = np.einsum("ij,ij->j", problem.linear, Z, dtype=np.float64)
    linear -= problem.l1_weight * np.abs(Z).sum(axis=0, dtype=np.float64)
    dual = linear - quadratic / 2
    primal = dual + gap
    floor = np.array([problem.floor(j, Z[:, j].astype(np.float64)) for j in range(problem.k)])
    values = Objective(primal, dual, intercept, floor)
    relative, scale = values.gap, values.size
    # variance of gap / primal to first order, with primal = linear - quadratic / 2 + gap
    variance = sum(
        variance_of_total((1 - relative) * terms + relative / 2 * zF, n) for zF, terms, n in parts
    )
    margin = CONFIDENCE * np.sqrt(variance) / scale
    return Certificate(
        primal, dual, relative, np.maximum(relative - margin, 0), relative + margin, n_evaluated
    )


def certify_pairs(
    problem: PairsProblem,
    kernel: Kernel,
    X: Rows,
    Z: Floats,
    intercept: NDArray[np.float64],
    share: float | None,
    seed: int,
) -> Certificate:
    """Evaluate every pair of classes on the exact kernel.

    Parameters
    ----------
    problem : PairsProblem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    Z : (n, n_classes - 1)
        Packed coefficients.
    intercept : (n_pairs,)
    share : float or None
        Fraction of the rows of each pair to evaluate; None evaluates all rows.
    seed : int

    Returns
    -------
    Certificate
        With one column per pair.
    """
    parts = []
    for number, pair in enumerate(problem.pairs()):
        n_rows = None if share is None else max(4, round(share * pair.rows.size))
        K, b = LazyKernelMatrix(kernel, X[pair.rows]), intercept[number : number + 1]
        parts.append(certify(pair.problem, K, pair.pick(Z), b, n_rows, seed))
    names = ("primal", "dual", "gap", "low", "high")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    return Certificate(**arrays, n_rows=sum(part.n_rows for part in parts) // problem.k)


def total(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Estimate the sum over n rows from a sample."""
    return n * values.mean(axis=0) if values.shape[0] else np.zeros(values.shape[1])


def variance_of_total(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Variance of `total`, for a sample without replacement."""
    m = values.shape[0]
    if m in (0, n):
        return np.zeros(values.shape[1])
    return n**2 * (1 - m / n) * values.var(axis=0, ddof=1) / m
