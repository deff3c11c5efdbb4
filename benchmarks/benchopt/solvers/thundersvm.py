"""ThunderSVM on the CPU."""

import numpy as np
from benchmark_utils.svc import SVCSolver
from thundersvm import SVC


class Solver(SVCSolver):
    """`tol` is the violation of the optimality conditions."""

    name = "ThunderSVM"
    requirements = ["pip::thundersvm-cpu"]

    def estimator(self):
        return SVC, {}

    def get_result(self):
        found = super().get_result()
        sign = np.sign(self.y @ found["z"])  # positive is the class of the first row
        return {"z": sign * found["z"], "intercept": -sign * found["intercept"]}
