"""
Regression
==========

``SVR`` fits a function with a tube around it. Rows inside the tube add nothing to the loss.
"""

# %%
# The data follow a curve whose frequency increases, with noise.

import matplotlib.pyplot as plt
import numpy as np

from hssvm import SVR

rng = np.random.default_rng(0)
X = rng.uniform(0, 3, (10_000, 1))
y = np.sin(X[:, 0] ** 2 * 2) + 0.15 * rng.standard_normal(10_000)

# %%
# ``epsilon`` is half the width of the tube. Rows strictly inside the tube have a coefficient of
# 0: the wider the tube, the fewer support vectors.

for epsilon in (0.05, 0.15, 0.3):
    model = SVR(C=10, gamma=5.0, epsilon=epsilon, random_state=0).fit(X, y)
    share = model.support_.size / y.size
    print(f"epsilon {epsilon:4}: R^2 {model.score(X, y):.3f}, {share:4.0%} support vectors")

# %%
# Plot the last model. The colored rows are its support vectors, on the tube or outside of it.

line = np.linspace(0, 3, 500)
f = model.predict(line[:, None])
some = rng.permutation(y.size)[:1500]
outside = np.isin(some, model.support_)
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.plot(X[some[~outside]], y[some[~outside]], ".", color="0.8", ms=3)
ax.plot(X[some[outside]], y[some[outside]], ".", color="C1", ms=4, label="support vectors")
ax.plot(line, f, "C0", lw=2, label="prediction")
ax.fill_between(line, f - epsilon, f + epsilon, color="C0", alpha=0.2, label="tube")
ax.set(xlabel="x", ylabel="y")
ax.legend(frameon=False, ncols=3, loc="lower left")
ax.set_ylim(-2)
