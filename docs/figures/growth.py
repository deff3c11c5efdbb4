"""Time and accuracy against rows, beside other tools, from the runs of ``benchmarks.peers.choose``.

The pages name the function that draws their chart. A run that was stopped is an arrow at its limit.
"""

import json
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

plt.style.use("chart.mplstyle")

RUNS = json.loads(Path("../results/choose.json").read_text())["runs"]
STYLES = {
    "hssvm": ("hssvm", {"color": "#0f9ab5", "linewidth": 5}),
    "HSS(n_trees=1)": ("HSS(n_trees=1)", {"color": "#0f9ab5", "linestyle": "--"}),
    "SVC of scikit-learn": ("LIBSVM", {"color": "#e0762b"}),
    "SVC of scikit-learn-intelex": ("scikit-learn-intelex", {"color": "#a36fd6"}),
    "gradient boosting": ("gradient boosting", {"color": "#5b9e3e"}),
    "300 Nystroem features": ("300 Nystroem features", {"color": "#d3669f", "linestyle": ":"}),
    "1,000 Nystroem features": ("1,000 Nystroem features", {"color": "#b3922c", "linestyle": ":"}),
}
MAIN = list(STYLES)[:5]


def series(name, method, figure):
    """Rows and figures of the runs that ended, and rows and limit of those that were stopped."""
    ended, stopped = [], []
    for key, run in RUNS.items():
        of, _, n_rows = key.rpartition(", ")
        if of == f"{name}: {method}":
            if "stopped" in run:
                stopped.append((int(n_rows), run["stopped"]))
            elif figure in run:  # not one that failed
                ended.append((int(n_rows), run[figure]))
    return ended, stopped


def draw(name, figure, methods, title):
    """Draw one figure of the runs on a data set, a line for each method."""
    chart, ax = plt.subplots()
    limit = None
    for method in methods:
        label, style = STYLES[method]
        ended, stopped = series(name, method, figure)
        ax.plot(*zip(*ended, strict=True), marker="o", label=label, **style)
        if stopped and figure == "fit":
            limit = stopped[0][1]
            ax.plot(*zip(ended[-1], *stopped, strict=True), color=style["color"], linewidth=1)
            ax.plot(*stopped[0], marker="^", color=style["color"], markersize=9)
    if limit:
        ax.plot([], [], "^", color="#757d86", markersize=9, label=f"stopped after {limit:g} s")
    ax.set(title=title, xlabel="training rows", xscale="log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    chart.legend(loc="outside lower center", ncols=2, fontsize=10)
    return ax


def seconds(name, methods=tuple(STYLES)):
    """Draw the seconds to fit, on two logarithmic axes."""
    ax = draw(name, "fit", methods, f"{name}: seconds to fit")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def accuracy(name, methods=tuple(STYLES)):
    """Draw the accuracy on test rows."""
    draw(name, "accuracy", methods, f"{name}: accuracy on test rows, %")


def main_seconds():
    """Draw the seconds on covtype.binary, of the main methods."""
    seconds("covtype.binary", MAIN)


def main_accuracy():
    """Draw the accuracy on covtype.binary, of the main methods."""
    accuracy("covtype.binary", MAIN)


def covtype_seconds():
    """Draw the seconds on covtype.binary."""
    seconds("covtype.binary")


def covtype_accuracy():
    """Draw the accuracy on covtype.binary."""
    accuracy("covtype.binary")


def cod_rna_seconds():
    """Draw the seconds on cod-rna."""
    seconds("cod-rna")


def cod_rna_accuracy():
    """Draw the accuracy on cod-rna."""
    accuracy("cod-rna")
