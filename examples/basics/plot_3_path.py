"""
A path over C
=============

Train models for many values of C on one compressed kernel matrix with ``svc_path``.
"""

# %%
# One label in ten is wrong, and a large C fits this noise.

import numpy as np

from hssvm import svc_path
from hssvm.plotting import PathDisplay

rng = np.random.default_rng(0)
X = rng.standard_normal((12_000, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
y ^= rng.random(y.size) < 0.1

train, test = slice(0, 6000), slice(6000, None)
Cs = np.logspace(-3, 3, 13)
path = svc_path(X[train], y[train], Cs, gamma=0.5, random_state=0)

# %%
# The thirteen models share the matrix. They also share factors and solves until each of them
# needs weights of its own.

for name, seconds in path.fit_report_.seconds.items():
    print(f"{name:9s}{seconds:6.2f} s")

# %%
# Plot the accuracy on test rows, and the number of support vectors. With a small C, the model is
# smooth and nearly all rows are support vectors; with a large C, it fits the noise.

PathDisplay.from_path(path, X[test], y[test]).plot()
