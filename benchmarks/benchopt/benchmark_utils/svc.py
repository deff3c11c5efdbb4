"""A solver by an estimator with the API of `sklearn.svm.SVC`."""

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion


class SVCSolver(BaseSolver):
    """Fits from the beginning for each tolerance; a curve has one point per tolerance."""

    sampling_strategy = "tolerance"
    stopping_criterion = SufficientProgressCriterion(strategy="tolerance", patience=8)

    def set_objective(self, X, y, C, gamma):
        self.X, self.y, self.options = X, y, {"C": C, "gamma": gamma}

    def estimator(self):
        """Return the class, and arguments that it needs."""
        raise NotImplementedError

    def run(self, tol):
        cls, options = self.estimator()
        self.model = cls(**self.options, **options, tol=min(tol, 1.0)).fit(self.X, self.y)

    def get_result(self):
        z = np.zeros(len(self.y))
        z[self.model.support_] = np.ravel(self.model.dual_coef_)
        return {"z": z, "intercept": float(np.ravel(self.model.intercept_)[0])}
