"""
How exact is it?
================

The compressed kernel is an approximation. What it costs is measured, and refinement undoes it.
"""

# %%
# Ten features and a narrow kernel: not easy to compress.

import numpy as np

from hssvm import SVC
from hssvm.plotting import ConvergenceDisplay

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 10))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(6000) > 0
parameters = {"C": 10, "gamma": 0.1, "random_state": 0}

# %%
# On the compressed kernel alone. The gap of the report is below ``tol``, but it is that of the
# compressed problem. ``certify`` evaluates the same coefficients on the true kernel, and says how
# far they are from its solution.

compressed = SVC(**parameters, refine=False).fit(X[:4000], y[:4000])
report = compressed.fit_report_
print(f"gap on the compressed kernel {report.gap[0]:.1e}, kernel error {report.kernel_error:.2f}")
print(compressed.certify(X[:4000], y[:4000]))

# %%
# Refined, which is the default for so few rows: the same start, then a working-set method on the
# true kernel. Now the gap is one on the true kernel.

refined = SVC(**parameters).fit(X[:4000], y[:4000])
print(refined.certify(X[:4000], y[:4000]))

# %%
# What it means for new rows:

for name, model in {"compressed": compressed, "refined": refined}.items():
    print(f"{name:11s} accuracy {model.score(X[4000:], y[4000:]):.3f}")

# %%
# The gap over the iterations. At the dashed line the start on the compressed kernel ends and
# refinement begins, on another kernel: so the gap jumps up before it falls.

ConvergenceDisplay.from_estimator(refined).plot()
