"""Cells and forests beside the exact kernel, on rows of two features.

The page names the function that draws its figure. Very small cells, small leaves and a very small
rank make the errors visible.
"""

import numpy as np
from matplotlib import pyplot as plt

from hssvm import HSS, SVC, Cells
from hssvm.plotting import BoundaryDisplay


def draw(approximation, one_tree, all_trees):
    """Draw one tree of an approximation, the mean of all its trees, and the exact kernel."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (6000, 2))
    signal = np.sin(2.2 * np.hypot(*X.T) - np.arctan2(*X.T))
    y = signal + 0.5 * rng.standard_normal(len(X)) > 0
    exact = SVC(C=5, gamma=1.0, random_state=0).fit(X, y)
    mean = SVC(C=5, gamma=1.0, approximation=approximation, random_state=0).fit(X, y)
    displays = {
        one_tree: BoundaryDisplay.from_estimator(mean, X[:300], y[:300], tree=0),
        all_trees: BoundaryDisplay.from_estimator(mean, X[:300], y[:300]),
        "exact kernel": BoundaryDisplay.from_estimator(exact, X[:300], y[:300]),
    }
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained")
    for ax, (name, display) in zip(axes, displays.items(), strict=True):
        display.plot(ax)
        ax.set(title=name, xlabel="", ylabel="", xticks=[], yticks=[], aspect="equal")
        ax.get_legend().remove()
    for colorbar in figure.axes[3:]:
        colorbar.remove()


def cells():
    """Draw cells."""
    draw(Cells(size=100, n_trees=10), "cells of one tree", "cells of ten trees")


def forest():
    """Draw a forest."""
    draw(HSS(n_trees=10, leaf_size=64, max_rank=4), "one tree", "forest of ten trees")
