"""Certificates: the duality gap of a model on the exact kernel.

For a feasible z and any intercept b, the primal minus the dual value is a sum over the rows,

    P(z, b) - D(z) = sum_i  z_i (f_i + b - linear_i) + h_i(z_i) + loss_i(f_i + b),   f = Kz,

of nonnegative terms; a term is 0 if z_i is optimal for (f_i + b). Each term needs one row of K, so
the sum can be estimated from a sample of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm._display import ShownAsText
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import BaseProblem, Objective, Part, Problem

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

    @classmethod
    def joined(cls, certificates: Sequence[Certificate]) -> Certificate:
        """Join the certificates of several models of the same rows, their columns side by side."""
        columns = {
            name: np.concatenate([getattr(one, name) for one in certificates])
            for name in ("primal", "dual", "gap", "low", "high")
        }
        return cls(**columns, n_rows=certificates[0].n_rows)

    def __str__(self) -> str:
        """One line per column."""
        lines = [f"on the exact kernel, from {self.n_rows:,} rows:"]
        for P, D, gap, low, high in zip(
            self.primal, self.dual, self.gap, self.low, self.high, strict=True
        ):
            interval = f" (95 %: {low:.2g} to {high:.2g})" if high > low else ""
            lines.append(f"primal {P:.8g}, dual {D:.8g}, relative gap {gap:.2g}{interval}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class CertificateSums:
    """Sums over rows that determine a certificate; sums over different rows can be added.

    Attributes
    ----------
    sums : (4, k)
        Linear part of the dual value, ``z f``, terms of the gap, and floor, each summed over rows.
    covariance : (3, k)
        Variance of the sum of ``z f``, its covariance with the sum of the terms of the gap, and
        the variance of the latter.
    n_rows : int
        Number of rows that were evaluated.
    """

    sums: NDArray[np.float64]
    covariance: NDArray[np.float64]
    n_rows: int

    def __add__(self, other: CertificateSums) -> CertificateSums:
        covariance = self.covariance + other.covariance
        return CertificateSums(self.sums + other.sums, covariance, self.n_rows + other.n_rows)

    def certificate(self, intercept: NDArray[np.float64]) -> Certificate:
        """Return the certificate of a model with the given intercept."""
        linear, quadratic, gap, floor = self.sums
        dual = linear - quadratic / 2
        values = Objective(dual + gap, dual, intercept, floor)
        relative = values.gap
        # variance of gap / primal to first order, with primal = linear - quadratic / 2 + gap
        a, b = relative / 2, 1 - relative
        variance = a**2 * self.covariance[0] + 2 * a * b * self.covariance[1]
        variance += b**2 * self.covariance[2]
        margin = CONFIDENCE * np.sqrt(np.maximum(variance, 0)) / values.size
        low, high = np.maximum(relative - margin, 0), relative + margin
        return Certificate(dual + gap, dual, relative, low, high, self.n_rows)


def certify(
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    Z: Floats,
    intercept: NDArray[np.float64],
    n_rows: int | None,
    seed: int,
) -> Certificate:
    """Evaluate (Z, intercept) on the exact kernel.

    Parameters
    ----------
    problem : BaseProblem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    Z : (n, k)
        Feasible.
    intercept : (n_columns,)
    n_rows : int or None
        Number of rows to evaluate, half of them support vectors; None evaluates all rows. It is
        divided among the parts of the problem by their sizes.
    seed : int

    Returns
    -------
    Certificate
    """
    found = [
        _certify_part(part, kernel, X, Z, intercept, _share_of(part, problem, n_rows), seed)
        for part in problem.parts()
    ]
    names = ("primal", "dual", "gap", "low", "high")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in found]) for name in names
    }
    evaluated, in_parts = sum(one.n_rows for one in found), int(problem.part_sizes.sum())
    return Certificate(**arrays, n_rows=evaluated * problem.n // in_parts)


def _share_of(part: Part, problem: BaseProblem, n_rows: int | None) -> int | None:
    return None if n_rows is None else max(4, round(n_rows / problem.n * part.problem.n))


def _certify_part(
    part: Part,
    kernel: Kernel,
    X: Rows,
    Z: Floats,
    intercept: NDArray[np.float64],
    n_rows: int | None,
    seed: int,
) -> Certificate:
    K, z, b = LazyKernelMatrix(kernel, part.take(X)), part.pick(Z), intercept[part.columns]
    support = np.flatnonzero(z.any(axis=1))

    def decisions(rows: NDArray[np.int64]) -> Floats:
        return K.product(rows, support, z[support])

    return certificate_sums(part.problem, decisions, z, b, n_rows, seed).certificate(b)


def certificate_sums(
    problem: Problem,
    decisions: Callable[[NDArray[np.int64]], Floats],
    Z: Floats,
    intercept: NDArray[np.float64],
    n_rows: int | None,
    seed: int,
) -> CertificateSums:
    """Sum over the rows of a problem, or estimate the sums; see `certify`.

    Parameters
    ----------
    problem : Problem
    decisions : callable
        Returns decision values on the exact kernel, without the intercept, at rows of the problem.
    Z, intercept, n_rows, seed
        As in `certify`; Z at the rows of the problem.
    """
    rng = np.random.default_rng(seed)
    has_coefficient = Z.any(axis=1)
    if n_rows is not None and n_rows >= problem.n:
        n_rows = None
    linear = np.einsum("ij,ij->j", problem.linear, Z, dtype=np.float64)
    linear -= problem.penalty(np.arange(problem.n), Z).sum(axis=0, dtype=np.float64)
    floor = np.array([problem.floor(j, Z[:, j].astype(np.float64)) for j in range(problem.k)])
    zero = np.zeros(problem.k)
    result = CertificateSums(np.stack([linear, zero, zero, floor]), np.zeros((3, problem.k)), 0)
    for stratum in (np.flatnonzero(has_coefficient), np.flatnonzero(~has_coefficient)):
        size = stratum.size if n_rows is None else min(stratum.size, max(2, n_rows // 2))
        rows = np.sort(rng.choice(stratum, size, replace=False))
        F = decisions(rows).astype(np.float64)
        z = Z[rows].astype(np.float64)
        terms = z * (F + intercept - problem.linear[rows]) + problem.penalty(rows, z)
        terms += problem.losses(rows, F, intercept)
        sums = np.stack([zero, total(z * F, stratum.size), total(terms, stratum.size), zero])
        covariance = covariance_of_totals(z * F, terms, stratum.size)
        result += CertificateSums(sums, covariance, size)
    return result


def total(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Estimate the sum over n rows from a sample."""
    return n * values.mean(axis=0) if values.shape[0] else np.zeros(values.shape[1])


def covariance_of_totals(
    first: NDArray[np.float64], second: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Variance, covariance, variance, (3, k), of two `total`s of a sample without replacement."""
    m, k = first.shape
    if m in (0, n):
        return np.zeros((3, k))
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    products = np.stack([first * first, first * second, second * second]).sum(axis=1) / (m - 1)
    covariance: NDArray[np.float64] = n**2 * (1 - m / n) * products / m
    return covariance
