"""
Novelty detection
=================

``OneClassSVM`` learns the region that contains most rows, without labels.
"""

# %%
# The data are two moons with noise. ``nu`` is the share of the training rows that may lie outside
# of the region.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from hssvm import OneClassSVM

X, _ = make_moons(10_000, noise=0.08, random_state=0)
nus = (0.01, 0.1, 0.4)
models = [OneClassSVM(nu=nu, gamma=10.0, random_state=0).fit(X) for nu in nus]
for nu, model in zip(nus, models, strict=True):
    print(f"nu {nu:4}: {np.mean(model.predict(X) == -1):.3f} of the rows are outside")

# %%
# The decision value is 0 on the black line. With a small nu, the line encloses nearly all rows;
# with a large nu, it encloses the densest regions.

x, y = np.meshgrid(np.linspace(-1.6, 2.6, 150), np.linspace(-1.1, 1.6, 100))
grid = np.stack([x.ravel(), y.ravel()], axis=1)
figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.4), layout="constrained", sharey=True)
for ax, nu, model in zip(axes, nus, models, strict=True):
    values = model.decision_function(grid).reshape(x.shape)
    outside = model.predict(X) == -1
    ax.contourf(x, y, values > 0, levels=[0.5, 1.5], colors=["#cfe2f3"])
    ax.plot(*X[~outside][::10].T, ".", color="0.5", ms=2)
    ax.plot(*X[outside][:: 1 + int(nu * 20)].T, ".", color="C3", ms=3)
    ax.contour(x, y, values, levels=[0], colors="black", linewidths=1.5)
    ax.set_title(f"nu = {nu}")
