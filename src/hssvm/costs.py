"""The cost model: what operations cost, and how much a fit may spend.

Costs are *nominal seconds*: counted operations times their time on the two cores of the benchmarks,
in float32. As no clock is involved, the same seed gives the same model on a busy machine.
"""

from __future__ import annotations

# Operations

SECONDS_PER_VALUE, SECONDS_PER_FEATURE, SECONDS_PER_NONZERO = 0.3e-9, 0.0078e-9, 0.05e-9
"""A kernel value: a constant, plus a term per feature, or per nonzero of a sparse row. The sum is
accurate to about 25% between 8 features (cod-rna) and 780 (MNIST)."""

SECONDS_PER_L1_FEATURE, SECONDS_PER_L1_NONZERO = 0.0155e-9, 0.07e-9
"""The same terms of a kernel of the L1 distance, which no product of matrices computes."""

PYTHON_SLOWDOWN = 10.0
"""Assumed slowdown of kernels that are Python functions of rows."""

SECONDS_PER_OBJECT_VALUE = 1e-7
"""Assumed cost of a kernel value of two Python objects."""

FILE_SLOWDOWN = 30.0
"""Assumed slowdown of reading a precomputed matrix from a file instead of from memory."""

SECONDS_PER_READ = 0.2e-9
"""Reading a kernel value from memory."""

SECONDS_PER_SMO_STEP, SECONDS_PER_SMO_ROW = 1e-7, 0.65e-9
"""A step of sequential minimal optimization: a constant, plus a term per row."""

SECONDS_PER_INTERIOR_POINT, SECONDS_PER_INTERIOR_CUBE = 0.05, 2e-9
"""A solution by the interior-point method: a constant, and a factor on the cube of the number of
rows."""

CELL_SLOWDOWN = 4.0
"""Time of a fit of cells relative to their kernel values: rows of the kernel are computed when the
solver needs them, and the steps of the solver take as long."""

CELL_FOLD_SHARE = 0.3
"""Time of a model of a cell without a fold, relative to the model of all of its rows: they share
kernel values."""

# Budgets

CELL_BUDGET = 50.0
"""Kernel values of all cells of a fit whose size is chosen from the data; less than an exact fit
may spend. The fit takes about CELL_SLOWDOWN times as long."""

AFFORDABLE_PASS = 60.0
"""Pass over the kernel matrix up to which refine='auto' solves on the exact kernel."""

MAX_PASSES = 5.0
"""Work limit of such a fit, in passes of `AFFORDABLE_PASS`. On the data sets of the benchmarks,
refinement cost between a tenth of a pass over the kernel matrix and five passes."""

RIDGE_PASSES = 20
"""Passes that an exact solution of least squares is assumed to need: each of its iterations is one,
while others need the columns of the support vectors only."""

ONE_LEAF_BUDGET = 10.0
"""Work limit of an exact fit whose rows form one leaf."""

MIN_PART_BUDGET = 1.0
"""Smallest work limit of a part of a problem, such as a pair of classes."""

START_SAMPLE_BUDGET = 0.1
"""Work limit of a fit to a sample that decides on the start of an exact fit."""

FOLD_BUDGET, FOLD_BUDGET_ROWS = 0.03, 2000
"""Work limit of a column of a cross-validation with FOLD_BUDGET_ROWS rows; it grows with their
square."""

LAST_ROUND_PASS = 6.0
"""The last round of a search has as many rows as a pass over their kernel matrix affords in this
time."""

DROPIN_BUDGET, DROPIN_BUDGET_PER_SQUARE = 1.0, 7e-6
"""Work limit of a drop-in: a constant, and a factor on the square of the number of rows. It is ten
times the work of the hardest data set of the benchmarks; a fit that needs more fails because of
rounding errors."""
