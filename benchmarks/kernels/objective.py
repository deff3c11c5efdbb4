"""The dual objective of a classifier of two classes, from its kernel matrix."""

import numpy as np


def dual_objective(K, model):
    support, z = model.support_, model.dual_coef_[0]
    return abs(z).sum() - 0.5 * z @ K[np.ix_(support, support)] @ z
