"""
Probabilities and prediction sets
=================================

Predict how likely a class is, or which classes are possible, and check both on new points.
"""

# %%
# The data are elevations of land and sea floor around Vancouver Island, on a grid of 10,920 points.
# Train on 2,000 of them, and predict whether the others are land or sea from their coordinates. At
# this latitude, a degree of longitude is 0.66 times as long as a degree of latitude.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook
from matplotlib.colors import ListedColormap

from hssvm import SVCCV
from hssvm.plotting import CalibrationDisplay

grid = cbook.get_sample_data("topobathy.npz")
longitude, latitude = grid["longitude"] - 360, grid["latitude"]
X = np.stack(np.meshgrid(0.66 * longitude, latitude), axis=-1).reshape(-1, 2)
y = np.where(grid["topo"].ravel() > 0, "land", "sea")
order = np.random.default_rng(0).permutation(y.size)
train, test = order[:2000], order[2000:]

# %%
# ``SVCCV`` chooses C and gamma on the training points. With ``probability``, it also trains models
# that leave out a part of these points, and fits a logistic function to their decision values
# there.

model = SVCCV(probability="sigmoid", random_state=0).fit(X[train], y[train])
print("C {C:.3g}, gamma {gamma:.3g}".format(**model.best_params_))
print(f"accuracy {model.score(X[test], y[test]):.3f}")
for row, (land, sea) in zip(X[test[:3]], model.predict_proba(X[test[:3]]), strict=True):
    print(f"{row[0] / 0.66:.2f}, {row[1]:.2f}: land {land:.2f}, sea {sea:.2f}")

# %%
# A prediction set makes a weaker statement that needs fewer assumptions: it contains the true class
# with a given probability. Where the model cannot tell, it has both classes.

for coverage in (0.98, 0.95):
    sets = model.predict_set(X, coverage=coverage)
    covered = np.mean(sets[test, np.searchsorted(model.classes_, y[test])])
    both = np.mean(sets[test].all(axis=1))
    print(f"coverage {coverage}: {covered:.3f} contain the class, {both:.2f} have both classes")

# %%
# Check the probabilities: of the points with a probability of 70 %, about 70 % should be sea. The
# histogram shows how many points have each probability. On the map, the sets with both classes
# follow the coast.

figure, axes = plt.subplot_mosaic(
    [["curve", "map"], ["histogram", "map"]],
    figsize=(8.4, 4.4),
    height_ratios=(3, 1),
    width_ratios=(2, 3),
    layout="constrained",
)
CalibrationDisplay.from_estimator(model, X[test], y[test]).plot((axes["curve"], axes["histogram"]))
kind = np.where(sets.all(axis=1), 1, np.where(sets[:, 0], 0, 2)).reshape(grid["topo"].shape)
colors = ListedColormap(["#8cb369", "#f4a259", "#5b8fb9"])
image = axes["map"].pcolormesh(longitude, latitude, kind, cmap=colors)
axes["map"].set(title="sets with a coverage of 0.95", aspect=1 / 0.66, xticks=[-125, -124, -123])
bar = figure.colorbar(image, ax=axes["map"], location="bottom", aspect=40, ticks=[1 / 3, 1, 5 / 3])
bar.set_ticklabels(["land", "both", "sea"])
