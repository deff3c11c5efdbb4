"""
First fit
=========

Train a classifier on two features, read its report, and plot its decision boundary.
"""

# %%
# The data are 20,000 rows on two spirals. scikit-learn's ``SVC`` could train on these too; with
# more rows, the code below stays the same.

import numpy as np

from hssvm import SVC
from hssvm.plotting import BoundaryDisplay

rng = np.random.default_rng(0)
turn = rng.uniform(0.5, 3, 20_000)
arm = rng.integers(0, 2, 20_000)
angle = np.pi * (turn + arm)
X = turn[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
X += 0.15 * rng.standard_normal(X.shape)
y = np.where(arm == 1, "red", "blue")

# %%
# Train on half of the rows, and score on the other half. ``gamma`` is the inverse width of the
# kernel, ``C`` the penalty for rows on the wrong side.

model = SVC(C=10, gamma=1.0, random_state=0).fit(X[::2], y[::2])
print(f"accuracy {model.score(X[1::2], y[1::2]):.4f}")

# %%
# In the report of the fit, *solved* is the line that matters: the duality gap bounds how far the
# objective is from the optimum, and *on the exact kernel* means that LIBSVM solves the same
# problem.

print(model.summary())

# %%
# Plot the decision boundary, and the margins on either side of it.

BoundaryDisplay.from_estimator(model, X[1::2], y[1::2]).plot()
