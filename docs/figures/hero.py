"""The chart of the first page: seconds to fit covtype.binary, for hssvm and two exact SVMs.

``python docs/figures/hero.py`` draws it from the runs of ``benchmarks.peers.choose``.
"""

import hashlib
import json
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

DOCS = Path(__file__).parents[1]
PICTURE = DOCS / "_static" / "hero.png"
NAME, OURS = "covtype.binary", "hssvm"
LINES = {
    "SVC of scikit-learn": ("scikit-learn", "#e0762b", "right", (-14, -2)),
    "SVC of scikit-learn-intelex": ("scikit-learn-intelex", "#a36fd6", "left", (4, -96)),
    OURS: ("hssvm", "#0f9ab5", "right", (0, 14)),
}
"""Label, color, and where the label is, beside the last point."""

LETTERS = {"font.size": 16, "axes.titlesize": 16}
"""Large enough for a phone."""


def seconds():
    """Seconds by number of rows, for each method; None where a run was stopped."""
    runs = json.loads((DOCS / "results" / "choose.json").read_text())["runs"]
    found = {method: {} for method in LINES}
    for key, run in runs.items():
        method, _, n_rows = key.removeprefix(f"{NAME}: ").rpartition(", ")
        if key.startswith(NAME) and method in found:
            found[method][int(n_rows)] = run.get("fit")
    return found


def digest(found):
    """What identifies the figures that a picture shows."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def draw(found):
    """Draw a line per method, with its name and how many times longer it takes than hssvm."""
    figure, ax = plt.subplots(figsize=(6.4, 4.2))
    for method, (label, color, side, offset) in LINES.items():
        points = [(n, value) for n, value in sorted(found[method].items()) if value is not None]
        width = 4 if method == OURS else 2
        ax.plot(*zip(*points, strict=True), marker="o", color=color, linewidth=width)
        n, last = points[-1]
        if method != OURS:
            label += f"\n{last / found[OURS][n]:.0f} times as long\nwith {n:,} rows"
        place = {"xytext": offset, "textcoords": "offset points", "ha": side}
        ax.annotate(label, (n, last), **place, color=color, weight="bold")
    ax.set(xlabel="training rows", xscale="log", yscale="log", title="seconds to fit covtype")
    ax.set_ylim(top=30 * ax.get_ylim()[1])  # room for the labels
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())
    return figure


if __name__ == "__main__":
    matplotlib.use("Agg")
    plt.style.use([DOCS / "figures" / "chart.mplstyle", LETTERS])
    figures = seconds()
    draw(figures).savefig(PICTURE, dpi=200, metadata={"Comment": digest(figures)})
