"""
A path over C
=============

Train models for many values of C together with ``svc_path``.
"""

# %%
# One label in ten is wrong, and a large C fits this noise.

import matplotlib.pyplot as plt
import numpy as np

from hssvm import svc_path

rng = np.random.default_rng(0)
X = rng.standard_normal((12_000, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
y ^= rng.random(y.size) < 0.1

train, test = slice(0, 6000), slice(6000, None)
Cs = np.logspace(-3, 3, 13)
path = svc_path(X[train], y[train], Cs, gamma=0.5, random_state=0)

# %%
# With more than 2,000 rows, a path is an approximation unless you pass ``refine=True``: exact
# models of cells, averaged over four trees. All values of C share the trees and kernel values.

for name, seconds in path.fit_report_.seconds.items():
    print(f"{name:9s}{seconds:6.2f} s")

# %%
# Plot the accuracy on test rows, and the fraction of support vectors. With a small C, the model is
# smooth and nearly all rows are support vectors; with a large C, it fits the noise.

accuracy = np.mean(path.predict(X[test]) == y[test, None], axis=0)
support = np.count_nonzero(path.dual_coef_, axis=1) / path.fit_report_.n_rows
best = accuracy.argmax()

_, ax = plt.subplots(figsize=(5.6, 3.6), layout="compressed")
ax.semilogx(Cs, accuracy, "C0o-")
ax.semilogx(Cs[best], accuracy[best], "C0*", ms=14)
ax.set(xlabel="C", title=f"best accuracy {accuracy[best]:.3f} at C = {Cs[best]:.3g}")
ax.set_ylabel("accuracy", color="C0")
ax.grid(alpha=0.3)
right = ax.twinx()
right.plot(Cs, support, "C1s--")
right.set_ylabel("fraction of support vectors", color="C1")
right.set_ylim(0, 1)
