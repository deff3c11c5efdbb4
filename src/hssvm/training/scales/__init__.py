r"""Scales of the features, learned from the targets.

Distances give all features of the same size the same weight, relevant or not. Learned scales s give
a feature weight where the targets depend on it. They are the diagonal of the average gradient outer
product of kernel ridge regression (Radhakrishnan et al., Science 383, 2024), iterated::

    s = 1
    repeat   gamma = 1 / median distance of the rows x * s
             (K + 0.03 I) w = y                                  K of the rows x * s
             s_j <- s_j sqrt(mean over the rows of (df/dx_j)^2)  f = sum_i w_i k(., x_i)

with s normalized to a mean square of 1 (L1: a mean of 1), and at least 1e-3 of the largest. Several
columns y, one per class, contribute the sum of their squares.

::

    ridge      one step on a block of rows: the solution, its gradients and its predictions
    learn      the iteration on a sample; rows that are held out decide how many steps to keep
    scaling    the scaling of a fit: standardized features, or normal scores, times learned scales

The sample has at most 10,000 rows, so that the cost does not grow with n.
"""
