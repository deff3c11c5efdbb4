"""Dual objectives of support vector machines on the exact kernel, in float64."""

from itertools import combinations

import numpy as np
import scipy.sparse


def dual_objective(kernel, X, z, linear=None):
    """``linear - 1/2 z'Kz`` of the rows with a coefficient; a classifier has ``|z|_1``."""
    X, z = X.astype(np.float64), np.ravel(z).astype(np.float64)
    linear = np.abs(z).sum() if linear is None else linear
    return float(linear - 0.5 * np.vdot(z, kernel.product(X, X, z[:, None])))


def dual_of(model, kernel, X, y, epsilon=None):
    """Dual objective of a fitted model, ours or a rival's; with `epsilon`, of a regression.

    More than two classes are one-vs-one, and the sum over all pairs.
    """
    coefficients, support = model.dual_coef_, np.asarray(model.support_)
    if scipy.sparse.issparse(coefficients):
        coefficients = coefficients.toarray()
    if epsilon is not None:
        z = np.ravel(coefficients).astype(np.float64)
        return dual_objective(kernel, X[support], z, z @ y[support] - epsilon * np.abs(z).sum())
    classes = np.unique(y)
    if classes.size == 2:
        return dual_objective(kernel, X[support], coefficients)
    codes, total = np.searchsorted(classes, y[support]), 0.0
    for i, j in combinations(range(classes.size), 2):
        z = np.where(codes == i, coefficients[j - 1], coefficients[i])
        own = np.flatnonzero(((codes == i) | (codes == j)) & (z != 0))
        total += dual_objective(kernel, X[support[own]], z[own])
    return total


def exactly(dual):
    """As text: the files of results keep six digits of numbers, too few to compare."""
    return f"{dual:.15g}"


def below(dual, best):
    """By how much a dual objective is below the best, relative to it."""
    return (float(best) - float(dual)) / abs(float(best))
