"""
First fit
=========

A classifier of two features, what it says about its fit, and where it draws the line.
"""

# %%
# Two spirals, and 20,000 rows of them. scikit-learn's ``SVC`` would take these too; nothing below
# changes when there are more.

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
# Half of the rows to train on, half to score on. ``gamma`` is the inverse width of the kernel,
# ``C`` the price of a row on the wrong side.

model = SVC(C=10, gamma=1.0, random_state=0).fit(X[::2], y[::2])
print(f"accuracy {model.score(X[1::2], y[1::2]):.4f}")

# %%
# The report of the fit. *solved* is the line that matters: the duality gap bounds how far the model
# is from the best one, and *on the exact kernel* says that this is the model LIBSVM looks for.

print(model.summary())

# %%
# The boundary, and the margins on either side of it.

BoundaryDisplay.from_estimator(model, X[1::2], y[1::2]).plot()
