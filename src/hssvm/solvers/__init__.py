"""Solvers for `hssvm.problems`.

With an operator (`hssvm.operators`), dense or compressed: `admm` is the loop and `iterate` has its
steps; `equality` enforces the constraint on the sum in both steps; `penalty` chooses the weights
beta; `stopping` decides when a column is done.

With the exact kernel, which is never stored (`hssvm.kernels.lazy`): `working_set` is the loop,
`working_kernel` the dense kernel matrix of the working set, `subproblem` a column at its rows,
`lazy_product` the gradient, and `optimality` the violations by which rows are selected;
`working_set_state` is what a run needs to be resumed. `small` is for few rows, `polish` solves for
their free variables, and `interior_point` is for problems on which SMO does not converge.
`conjugate_gradients` is for least squares.

`solution` defines what solvers return.
"""

from hssvm.solvers.admm import ADMM, FixedIterationADMM
from hssvm.solvers.conjugate_gradients import ConjugateGradients
from hssvm.solvers.interior_point import solve_interior
from hssvm.solvers.penalty import initial_beta, paper_beta
from hssvm.solvers.polish import polish, polish_rounded
from hssvm.solvers.small import solve_small
from hssvm.solvers.solution import Checkpoint, Solution, Status
from hssvm.solvers.working_set import WorkingSet
from hssvm.solvers.working_set_state import WorkingSetState

__all__ = [
    "ADMM",
    "Checkpoint",
    "ConjugateGradients",
    "FixedIterationADMM",
    "Solution",
    "Status",
    "WorkingSet",
    "WorkingSetState",
    "initial_beta",
    "paper_beta",
    "polish",
    "polish_rounded",
    "solve_interior",
    "solve_small",
]
