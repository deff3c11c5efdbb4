"""Score against seconds, by tool, from the runs of ``benchmarks.peers.compare``.

The page names the function that draws its chart. A tool that was stopped has no point.
"""

import json
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

plt.style.use("chart.mplstyle")

RUNS = json.loads(Path("../results/compare.json").read_text())["runs"]
STYLES = {
    "hssvm": ("o", "#0f9ab5"),
    "scikit-learn SVM": ("x", "#e0762b"),
    "scikit-learn-intelex": ("+", "#a36fd6"),
    "ThunderSVM, CPU": ("v", "#c2504b"),
    "TorchKM, low rank": ("<", "#b3922c"),
    "Nystroem + ridge": ("D", "#d3669f"),
    "xRFM": ("*", "#757d86"),
    "HistGradientBoosting": ("s", "#5b9e3e"),
    "LightGBM": ("^", "#8fbf5a"),
}


def points(name, tool):
    """Seconds and scores of the runs that ended, by number of rows."""
    found = []
    for key, run in RUNS.items():
        of, _, n_rows = key.rpartition(", ")
        if of == f"{name}: {tool}" and "fit" in run:
            found.append((int(n_rows), run["fit"], run["score"]))
    return [(seconds, score) for _, seconds, score in sorted(found)]


def draw(name, title):
    """Draw a line from the smallest number of rows to the largest, for each tool."""
    chart, ax = plt.subplots(figsize=(5.0, 4.6))
    for tool, (marker, color) in STYLES.items():
        found = points(name, tool)
        if found:
            style = {"color": color, "markersize": 8, "markeredgewidth": 2}
            ax.plot(*zip(*found, strict=True), color=color, linewidth=1)
            ax.plot(*zip(*found, strict=True), marker, label=tool, **style)
    ax.set(title=title, xlabel="seconds to fit", xscale="log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    chart.legend(loc="outside lower center", ncols=2, fontsize=10)


def ijcnn1():
    """Draw ijcnn1."""
    draw("ijcnn1", "ijcnn1: accuracy, %")


def cod_rna():
    """Draw cod-rna."""
    draw("cod-rna", "cod-rna: accuracy, %")


def a9a():
    """Draw a9a."""
    draw("a9a", "a9a: accuracy, %")


def covtype():
    """Draw covtype."""
    draw("covtype.50k", "covtype: accuracy, %")
