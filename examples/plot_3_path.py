"""
All values of C
===============

``svc_path`` trains a model for every C on one compression.
"""

# %%
# Noisy labels: one row in ten has the wrong one. A large C then follows the noise.

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
# Thirteen models; as columns they share the matrix, and factors and solves while they go together.

for name, seconds in path.report.seconds.items():
    print(f"{name:9s}{seconds:6.2f} s")

# %%
# Accuracy on rows that were not trained on, and how many rows have a coefficient. A small C is
# smooth and keeps nearly all rows as support vectors; a large one fits the noise.

PathDisplay.from_path(path, X[test], y[test]).plot()
