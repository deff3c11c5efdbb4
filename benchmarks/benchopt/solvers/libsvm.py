"""LIBSVM, by scikit-learn."""

from benchmark_utils.svc import SVCSolver
from sklearn.svm import SVC


class Solver(SVCSolver):
    """`tol` is the violation of the optimality conditions."""

    name = "LIBSVM"
    requirements = ["pip::scikit-learn"]

    def estimator(self):
        return SVC, {"cache_size": 2000}
