"""Dual problems of support vector machines, as data for a solver.

Every column of a problem is the dual of a regularized loss::

    minimize    1/2 z' K z - linear' z + h(z)     over z in R^n
    subject to  sum z = equality_rhs

where h is separable: the indicator of a box ``lower <= z <= upper`` that contains 0, plus
``l1_weight |z|_1 + 1/2 sum_i ridge_i z_i^2``. z holds *signed* coefficients, so that ``f = K z``
are the decision values without the intercept. Labels do not enter K, so one factor of
``K + beta I`` serves all columns. The intercept b is the multiplier of the constraint. With
``r = equality_rhs``, the primal value at (z, b) is ``1/2 z' K z + b r + loss(K z + b)`` for any z,
where the loss of a row is the conjugate of its part of ``h - linear' z``. It is never below the
dual value ``linear' z - 1/2 z' K z - h(z)`` of a feasible z. Their difference is the duality gap.

A column is a class, a value of C or nu, a fold of cross-validation, or any combination of them.

`base` has this dual, and others have what is special about its instances: `svc` for classification,
`svr`, `quantile`, `censored` and `least_squares` (without bounds and an intercept) for
`regression`, `one_class` for novelty detection. `pairs` has a problem for every pair of classes, on
their rows only, and `cells` for every cell of a partition; `parts` has what they have in common;
`intercepts` computes the best intercept, by `weighted_quantiles` or `shift`. The rows of a problem
may be distributed over several ranks; see `hssvm.comm`.
"""

from hssvm.problems.base import Problem
from hssvm.problems.cells import CellProblems
from hssvm.problems.censored import CensoredProblem
from hssvm.problems.least_squares import LeastSquaresProblem
from hssvm.problems.objective import Objective
from hssvm.problems.one_class import OneClassProblem
from hssvm.problems.pairs import PairsProblem
from hssvm.problems.parts import BaseProblem, Part, PartedProblem
from hssvm.problems.quantile import QuantileProblem
from hssvm.problems.regression import RegressionProblem
from hssvm.problems.shift import ProxSums
from hssvm.problems.svc import SquaredHingeProblem, SVCProblem
from hssvm.problems.svr import HuberProblem, SquaredSVRProblem, SVRProblem

__all__ = [
    "BaseProblem",
    "CellProblems",
    "CensoredProblem",
    "HuberProblem",
    "LeastSquaresProblem",
    "Objective",
    "OneClassProblem",
    "PairsProblem",
    "Part",
    "PartedProblem",
    "Problem",
    "ProxSums",
    "QuantileProblem",
    "RegressionProblem",
    "SVCProblem",
    "SVRProblem",
    "SquaredHingeProblem",
    "SquaredSVRProblem",
]
