"""Successive halving: many candidates on few rows, then the best of them on more rows.

Every round has about three times the rows of the last one, and a third of its candidates. The first
round finds out which orders of magnitude matter, and the last one decides. With all candidates on
all rows, 50 values of C in 10 folds would take 160 s on ijcnn1, and the result is the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hssvm import costs
from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.kernels.lazy import LazyKernelMatrix

FACTOR = 3
"""Ratio of the numbers of rows of two rounds, and of the numbers of candidates."""

FIRST_ROWS = 2000
"""Minimum number of rows of the first round."""

SEARCH_ROUNDS, SEARCH_SHARE, SEARCH_ROWS = 3, 0.5, 5000
"""Number of rounds of a search without given candidates. The last one has SEARCH_SHARE of the rows,
but at least SEARCH_ROWS: on all rows, the folds would take longer than the rest of the fit."""


EXACT_ROWS, CELL_ROWS = 60_000, 120_000
"""Maximum number of rows of a search on the exact kernel, and of a search of cells, of which the
last round has SEARCH_SHARE: more hardly change the choice, and a candidate would take minutes."""


def round_sizes(n_rows: int, n_candidates: int | None) -> list[int]:
    """Numbers of rows of the rounds, ascending.

    Parameters
    ----------
    n_rows : int
        Maximum.
    n_candidates : int or None
        None if they are searched.

    Examples
    --------
    >>> from hssvm.model_selection.rounds import round_sizes
    >>> round_sizes(54_000, 50)
    [2000, 6000, 18000, 54000]
    >>> round_sizes(54_000, 3)
    [54000]
    """
    if n_candidates is None:
        last = max(round(SEARCH_SHARE * n_rows), min(n_rows, SEARCH_ROWS))
        first = min(last, FIRST_ROWS)
        n_rounds = min(SEARCH_ROUNDS, 1 + round(math.log(last / first, FACTOR)))
        ratios = np.linspace(1, 0, n_rounds) if n_rounds > 1 else np.zeros(1)
        return [round(last * (first / last) ** ratio) for ratio in ratios]
    n_rounds, last = max(1, math.ceil(math.log(n_candidates, FACTOR) - 1e-9)), n_rows
    first, sizes = min(n_rows, FIRST_ROWS), [last]
    while len(sizes) < n_rounds and sizes[0] > 1.5 * first:
        sizes.insert(0, max(first, sizes[0] // FACTOR))
    return sizes


def fold_rows(kernels: Sequence[Kernel], X: Rows, *, cells: bool, searched: bool) -> int:
    """Return the maximum number of rows of the folds.

    Parameters
    ----------
    kernels : sequence of Kernel
    X : (n, p) array or CSR matrix
        All rows.
    cells : bool
        Whether the folds may be trained in cells.
    searched : bool
        Whether the candidates are searched; otherwise, they are given.
    """
    n_rows = min(affordable_rows(kernel, X) for kernel in kernels)
    if cells:
        return max(n_rows, min(int(X.shape[0]), CELL_ROWS))
    return min(n_rows, EXACT_ROWS) if searched else n_rows


def affordable_rows(kernel: Kernel, X: Rows) -> int:
    """Return the number of rows that the folds can have on the exact kernel."""
    cost = LazyKernelMatrix(kernel, X).value_cost
    return min(int(X.shape[0]), max(FIRST_ROWS, int(math.sqrt(costs.LAST_ROUND_PASS / cost))))
