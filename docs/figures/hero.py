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
    "SVC of scikit-learn": ("scikit-learn", "#e0762b", "right", (-12, -4)),
    "SVC of scikit-learn-intelex": ("scikit-learn-intelex", "#a36fd6", "left", (12, -4)),
    OURS: ("hssvm", "#0f9ab5", "right", (0, -26)),
}
"""Label, color, and where the label is, beside the last point."""


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
    figure, ax = plt.subplots(figsize=(8.0, 3.9))
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
    ax.margins(y=0.12)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())
    return figure


if __name__ == "__main__":
    matplotlib.use("Agg")
    plt.style.use(DOCS / "figures" / "chart.mplstyle")
    figures = seconds()
    draw(figures).savefig(PICTURE, dpi=160, metadata={"Comment": digest(figures)})
