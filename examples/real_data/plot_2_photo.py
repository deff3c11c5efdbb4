"""
A photograph, pixel by pixel
============================

Label a few areas of an image, train on their pixels, and predict a class for all others, as in
remote sensing.
"""

# %%
# The photograph has 273,280 pixels. Color alone is not enough: shadows are dark everywhere.
# Describe each pixel by its color, and by the mean and the standard deviation of the colors in two
# squares around it.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch, Rectangle
from scipy.ndimage import uniform_filter
from sklearn.datasets import load_sample_image

from hssvm import SVC

photo = load_sample_image("china.jpg").astype(np.float32) / 255
layers = [photo]
for size in (5, 11):
    mean = uniform_filter(photo, (size, size, 0))
    variance = uniform_filter(photo**2, (size, size, 0)) - mean**2
    layers += [mean, np.sqrt(np.maximum(variance, 0))]
pixels = np.concatenate(layers, axis=2)
print(pixels.shape)

# %%
# The labeled areas are rectangles, drawn by hand: top, bottom, left and right. Some are for
# testing. Do not test on random pixels of the training areas: neighboring pixels are nearly copies
# of each other, and the test would be too easy.

training = {
    "sky": [(0, 60, 20, 180), (90, 190, 360, 540), (140, 180, 50, 85)],
    "water": [(260, 300, 380, 500), (285, 310, 5, 60)],
    "trees": [(340, 420, 420, 540), (370, 420, 60, 140), (180, 260, 575, 615), (200, 240, 5, 35)],
    "building": [(75, 110, 190, 250), (165, 235, 120, 310)],
}
testing = {
    "sky": [(10, 60, 400, 630)],
    "water": [(240, 256, 370, 540)],
    "trees": [(280, 420, 570, 640), (260, 280, 5, 25), (350, 390, 145, 170)],
    "building": [(255, 280, 180, 300), (290, 330, 100, 320)],
}


def labeled(areas, step):
    """Every `step`-th pixel of the areas in both directions, and their classes."""
    parts = [
        (pixels[top:bottom:step, left:right:step].reshape(-1, pixels.shape[2]), name)
        for name, rectangles in areas.items()
        for top, bottom, left, right in rectangles
    ]
    X = np.concatenate([part for part, _ in parts])
    return X, np.repeat([name for _, name in parts], [len(part) for part, _ in parts])


X, y = labeled(training, step=2)
model = SVC(C=10, scaling="standard", random_state=0).fit(X, y)
print(model.summary())

# %%
# Predict all pixels with one call, and measure the accuracy in the test areas.

X_test, y_test = labeled(testing, step=1)
for name in testing:
    print(f"{name:9s}{np.mean(model.predict(X_test[y_test == name]) == name):4.0%} correct")
predicted = model.predict(pixels.reshape(-1, pixels.shape[2])).reshape(photo.shape[:2])

# %%
# Solid frames are training areas, dotted frames test areas. The model takes bright water for sky,
# as the training areas have none, and the shade below the roofs for trees. To improve the map,
# label such places, and choose new test areas.

colors = dict(zip(training, ["#a6cee3", "#1f78b4", "#33803b", "#e66101"], strict=True))
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained")
axes[0].imshow(photo)
for areas, style in ((training, "-"), (testing, ":")):
    for name, rectangles in areas.items():
        for top, bottom, left, right in rectangles:
            frame = (left, top), right - left, bottom - top
            axes[0].add_patch(Rectangle(*frame, fill=False, ec=colors[name], ls=style, lw=2))
shades = np.array([to_rgb(colors[name]) for name in model.classes_])
axes[1].imshow(shades[np.searchsorted(model.classes_, predicted)])
for ax in axes:
    ax.axis("off")
handles = [Patch(color=color, label=name) for name, color in colors.items()]
figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
