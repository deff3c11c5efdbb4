"""Solvers of `hssvm.problems` on a `hssvm.systems.System`.

`admm` is the loop and `iterate` its steps; `equality` keeps ``sum z = total`` in both of them;
`penalty` chooses the weights beta; `stopping` says when a column is done; `polish` finishes on the
free variables; `solution` is what comes out.

`refine` takes a solution to the true kernel, on a `hssvm.kernels.rows.KernelRows`; `working_set` is
the part of the matrix it holds, `lazy_product` the gradient it keeps.
"""

from hssvm.solvers.admm import ADMM, PaperADMM
from hssvm.solvers.penalty import initial_beta, paper_beta
from hssvm.solvers.polish import polish
from hssvm.solvers.refine import Refine
from hssvm.solvers.solution import Solution, Status

__all__ = [
    "ADMM",
    "PaperADMM",
    "Refine",
    "Solution",
    "Status",
    "initial_beta",
    "paper_beta",
    "polish",
]
