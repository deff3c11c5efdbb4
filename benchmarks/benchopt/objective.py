"""The dual of a two-class SVM with the Gaussian kernel, and its duality gap, by definition."""

import numpy as np
from benchopt import BaseObjective
from sklearn.metrics.pairwise import rbf_kernel

BLOCK = 1000
"""Rows of the kernel matrix that are in memory at a time."""


class Objective(BaseObjective):
    """The curves show -D, which solvers minimize, and (P - D) / P.

    With z = y alpha, K(i, j) = exp(-gamma |x_i - x_j|^2) and the decision values f = K z + b,

    dual D = sum |z| - 1/2 z'Kz  where  0 <= y z <= C and sum z = 0
    primal P = 1/2 z'Kz + C sum max(0, 1 - y f)
    """

    name = "Gaussian SVM"
    min_benchopt_version = "1.7"
    parameters = {"C": [1.0]}

    def set_data(self, X, y, gamma):
        self.X, self.y, self.gamma = X, y, gamma

    def get_one_result(self):
        return {"z": np.zeros(len(self.y)), "intercept": 0.0}

    def evaluate_result(self, z, intercept):
        support = np.flatnonzero(z)
        rows, weights = self.X[support].astype(np.float64), z[support]
        product = np.zeros(len(z))
        for start in range(0, len(z) if support.size else 0, BLOCK):
            block = self.X[start : start + BLOCK].astype(np.float64)
            product[start : start + BLOCK] = rbf_kernel(block, rows, gamma=self.gamma) @ weights
        square = z @ product
        slack = np.maximum(0, 1 - self.y * (product + intercept)).sum()
        dual, primal = np.abs(z).sum() - square / 2, square / 2 + self.C * slack
        outside = np.maximum(-self.y * z, self.y * z - self.C).max()
        return {
            "value": -dual,
            "relative_gap": (primal - dual) / primal,
            "violation": max(outside, abs(z.sum()), 0.0),
        }

    def get_objective(self):
        return {"X": self.X, "y": self.y, "C": self.C, "gamma": self.gamma}
