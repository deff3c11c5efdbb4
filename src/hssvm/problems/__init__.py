"""Support vector machines as data for a solver.

Every problem here is, column by column, the dual of a regularised loss::

    minimise    1/2 z' K z - linear' z + h(z)     over z in R^n
    subject to  sum z = total

with a separable h: a box that holds 0, and a multiple ``kink`` of the absolute value. z holds
*signed* coefficients, so that ``f = K z`` are the decision values without intercept, and labels
never meet K: one factor of ``K + beta I`` serves all columns. The intercept b is the multiplier of
the constraint; the primal value at (z, b) is ``1/2 z' K z + b total + loss(K z + b)``, for any z,
and never below the dual value ``linear' z - 1/2 z' K z - h(z)`` of a feasible z. Their difference
is the duality gap.

`svc` classifies, `svr` is for regression, `one_class` for novelty; `quantile` finds their b. The
rows of a problem may be one part of all, the rest being elsewhere: see `parts`.

A column is a class, a value of C or nu, a fold of cross-validation, or any combination.
"""

from hssvm.problems.base import Problem, Sums, Values
from hssvm.problems.one_class import OneClassProblem
from hssvm.problems.svc import SVCProblem
from hssvm.problems.svr import SVRProblem

__all__ = ["OneClassProblem", "Problem", "SVCProblem", "SVRProblem", "Sums", "Values"]
