"""The choice of a start for exact classifiers: 0, or the solution on the compressed kernel.

From 0, every support vector has to enter the working set, so the cost grows with the square of
their number; the cost of a compressed kernel grows with the number of rows. Seconds from 0, divided
by seconds with a compressed start, on two cores::

                      5,000    10,000    20,000    50,000 rows    support vectors of the last
    ijcnn1             0.36      0.51      0.41      0.5           6 %
    w8a                                              0.5           7 %
    cod-rna            0.51      0.72      0.69      0.75         12 %
    five features      0.56      0.74      0.8       1.1-1.2      19 %   (example of the README)
    a9a                                              1.0          36 %   (32,561 rows)
    covtype.50k                                      1.1          38 %
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hssvm import costs
from hssvm.kernels.base import Kernel, Rows
from hssvm.problems import Problem
from hssvm.solvers import Solution, solve_small

SAMPLE_ROWS = 1000, 2000
"""Sample sizes from which the number of support vectors is extrapolated."""

SAMPLE_TOL = 1e-2
"""Gap of a fit to a sample."""

MANY_SUPPORT_VECTORS = 0.16
"""Fraction of support vectors above which a compressed start pays off."""


def compressed_start_pays(problem: Problem, kernel: Kernel, X: Rows, seed: int) -> bool:
    """Whether to start on the compressed kernel, decided by fits to samples of the rows.

    The middle column decides.

    Parameters
    ----------
    problem : Problem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    seed : int
    """
    column = problem.columns(np.array([problem.k // 2]))
    order = np.random.default_rng(seed).permutation(problem.n)
    counts = []
    for size in SAMPLE_ROWS:
        rows = np.sort(order[:size])
        sample = column.rows(rows)
        solution = Solution.empty(np.zeros_like(sample.linear))
        budget = costs.START_SAMPLE_BUDGET
        solve_small(sample, kernel, X[rows], solution, SAMPLE_TOL, max_work=budget)
        counts.append(float(np.count_nonzero(solution.Z)))
    return many_support_vectors(counts, SAMPLE_ROWS, problem.n)


def many_support_vectors(counts: Sequence[float], sizes: tuple[int, int], n: int) -> bool:
    """Extrapolate the support vector counts of two samples to n rows, by a power law."""
    small, large = (max(1.0, count) for count in counts)
    power = np.clip(np.log(large / small) / np.log(sizes[1] / sizes[0]), 0, 1)
    return bool(large * (n / sizes[1]) ** power > MANY_SUPPORT_VECTORS * n)
