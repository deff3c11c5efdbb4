"""scikit-learn-intelex."""

from benchmark_utils.svc import SVCSolver
from sklearnex.svm import SVC


class Solver(SVCSolver):
    """`tol` is the violation of the optimality conditions."""

    name = "scikit-learn-intelex"
    requirements = ["pip::scikit-learn-intelex"]

    def estimator(self):
        return SVC, {"cache_size": 2000}
