"""hssvm on the exact kernel."""

from benchmark_utils.svc import SVCSolver

from hssvm import SVC


class Solver(SVCSolver):
    """`tol` is the relative duality gap."""

    name = "hssvm"
    requirements = ["pip::hssvm"]

    def estimator(self):
        return SVC, {"refine": True}
