"""The cells of one tree, of ten trees, and the exact kernel, on rows of two features.

Very small cells make their errors visible. Sphinx runs this file for the pages that show the
figure.
"""

import numpy as np
from matplotlib import pyplot as plt

from hssvm import SVC, Cells
from hssvm.plotting import BoundaryDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (6000, 2))
signal = np.sin(2.2 * np.hypot(*X.T) - np.arctan2(*X.T))
y = signal + 0.5 * rng.standard_normal(len(X)) > 0

exact = SVC(C=5, gamma=1.0, random_state=0).fit(X, y)
cells = SVC(C=5, gamma=1.0, approximation=Cells(size=100, n_trees=10), random_state=0).fit(X, y)

displays = {
    "cells of one tree": BoundaryDisplay.from_estimator(cells, X[:300], y[:300], tree=0),
    "cells of ten trees": BoundaryDisplay.from_estimator(cells, X[:300], y[:300]),
    "exact kernel": BoundaryDisplay.from_estimator(exact, X[:300], y[:300]),
}
figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained")
for ax, (name, display) in zip(axes, displays.items(), strict=True):
    display.plot(ax)
    ax.set(title=name, xlabel="", ylabel="", xticks=[], yticks=[], aspect="equal")
    ax.get_legend().remove()
for colorbar in figure.axes[3:]:
    colorbar.remove()
