"""
Compressed and exact
====================

The compressed kernel is an approximation. ``certify`` measures its effect; refinement removes it.
"""

# %%
# With ten features and a narrow kernel, the matrix is hard to compress.

import matplotlib.pyplot as plt
import numpy as np

from hssvm import HSS, SVC, SVR

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 10))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(6000) > 0
parameters = {"C": 10, "gamma": 0.1, "random_state": 0}

# %%
# First train on the compressed kernel alone. The gap in the report is below ``tol``, but it
# belongs to the compressed problem. ``certify`` evaluates the same coefficients on the exact
# kernel, and bounds how far they are from its solution.

compressed = SVC(**parameters, approximation=HSS(n_trees=1)).fit(X[:4000], y[:4000])
report = compressed.fit_report_
print(f"gap on the compressed kernel {report.gap[0]:.1e}, kernel error {report.kernel_error:.2f}")
print(compressed.certify(X[:4000], y[:4000]))

# %%
# The default for 4,000 rows is a working-set method on the exact kernel. The gap now belongs to the
# exact kernel.

exact = SVC(**parameters).fit(X[:4000], y[:4000])
print(exact.certify(X[:4000], y[:4000]))

# %%
# Compare the accuracy on new rows:

for name, model in {"compressed": compressed, "exact": exact}.items():
    print(f"{name:11s} accuracy {model.score(X[4000:], y[4000:]):.3f}")

# %%
# Regression with more than 2,000 rows, and classification with many more, start on the compressed
# kernel. Plot the gap over the iterations of such a fit: at the dashed line, refinement begins. The
# kernel changes there, so the gap jumps up before it falls again.

refined = SVR(**parameters).fit(X[:4000], y[:4000].astype(float))
history = refined.fit_report_.history

_, ax = plt.subplots(figsize=(5.6, 3.6), layout="compressed")
iterations, gaps = zip(*history["solve"], strict=True)
rounds, exact_gaps = zip(*history["refine"], strict=True)
ax.semilogy(iterations, gaps, "C0o-", ms=3, label="compressed kernel")
ax.semilogy(np.add(iterations[-1], rounds), exact_gaps, "C1s-", ms=3, label="exact kernel")
ax.axvline(iterations[-1], color="0.6", linestyle="--", linewidth=1)
ax.set(xlabel="iteration, then round", ylabel="relative duality gap")
ax.grid(alpha=0.3)
ax.legend(frameon=False)
