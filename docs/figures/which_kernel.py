"""What each kernel can see: accuracy by rows on two problems, with standard and learned scales.

Stripes across five features are hard for L1 kernels, and one relevant feature of ten is hard for
kernels of Euclidean distances, unless the scales are learned.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from hssvm import SVC

plt.style.use("chart.mplstyle")

KERNELS = {
    "Gaussian": ("rbf", "#0f9ab5"),
    "exponential": ("exponential", "#e0762b"),
    "L1": ("laplacian", "#a36fd6"),
}
SCALINGS = {"standard": "-", "learned": "--"}
ROWS = [100, 200, 400, 800, 1600]
TEST_ROWS, DRAWS = 4000, 2
REGIONS = ["#0f9ab5", "#757d86"]


def stripes(X):
    """Classes that depend on the sum of all features."""
    return np.sin(5 * X.sum(axis=1) / np.sqrt(X.shape[1])) > 0


def one_feature(X):
    """Classes that depend on the first feature."""
    return np.sin(6 * X[:, 0]) > 0


def accuracy(problem, n_features, n_rows, **options):
    """Mean percentage of correct labels over a few draws."""
    scores = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        X, X_test = (rng.uniform(-1, 1, (n, n_features)) for n in (n_rows, TEST_ROWS))
        model = SVC(C=10, random_state=seed, **options).fit(X, problem(X))
        scores.append(100 * model.score(X_test, problem(X_test)))
    return np.mean(scores)


def regions(ax, problem, n_features):
    """Color the classes over two features, at 0 in the others."""
    ticks = np.linspace(-1, 1, 201)
    grid = np.zeros((ticks.size**2, n_features))
    grid[:, :2] = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    classes = problem(grid).reshape(ticks.size, -1)
    ax.contourf(ticks, ticks, classes, levels=[-0.5, 0.5, 1.5], colors=REGIONS, alpha=0.45)
    ax.set(xlabel="feature 1", ylabel="feature 2", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    ax.set_box_aspect(1)
    ax.grid(False)


def curves(ax, problem, n_features):
    """Draw a line for each kernel and scaling."""
    for kernel, color in KERNELS.values():
        for scaling, line in SCALINGS.items():
            options = {"kernel": kernel, "scaling": scaling}
            found = [accuracy(problem, n_features, n_rows, **options) for n_rows in ROWS]
            ax.plot(ROWS, found, line, marker="o", color=color)
    ax.set(xlabel="training rows", xscale="log", xticks=ROWS, ylim=(48, 101))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


figure, axes = plt.subplots(2, 2, figsize=(7.6, 6.6), height_ratios=[0.8, 1])
for column, (title, problem, n_features) in enumerate(
    [("stripes across five features", stripes, 5), ("one relevant feature of ten", one_feature, 10)]
):
    regions(axes[0, column], problem, n_features)
    axes[0, column].set_title(title)
    curves(axes[1, column], problem, n_features)
axes[1, 0].set_title("accuracy on test rows, %")
handles = [Line2D([], [], color=color, label=name) for name, (_, color) in KERNELS.items()]
handles += [
    Line2D([], [], color="#757d86", linestyle=line, label=f"{scaling} scales")
    for scaling, line in SCALINGS.items()
]
figure.legend(handles=handles, loc="outside lower center", ncols=5)
