"""Mean ranks of tools, and errors by table, from the runs of ``benchmarks.tables``.

The pages name the function that draws their chart.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.results import RESULTS, Results
from benchmarks.tables.data import CLASSIFICATION, REGRESSION
from benchmarks.tables.show import ranked
from benchmarks.tables.summary import errors
from benchmarks.tables.tools import OURS

plt.style.use("chart.mplstyle")

OURS_COLOR, OTHERS_COLOR = "#0f9ab5", "#757d86"
BASE = "HistGradientBoosting"
SHOWN = {
    "CatBoost": ("s", "#e0762b", 5),
    "TabM": ("^", "#a36fd6", 5),
    "xRFM": ("x", "#757d86", 5),
    OURS: ("o", OURS_COLOR, 8),
}


def found(task):
    """Errors of the untuned tools."""
    return ranked(errors(Results.read(RESULTS / "tables.json"), task))


def ranks(task):
    """Draw a dot for each mean rank, and a line as long as the critical difference around it."""
    compared = found(task)
    ranks = compared.mean_ranks()
    half = compared.critical_difference() / 2
    names = sorted(ranks, key=ranks.get, reverse=True)
    ax = plt.subplots(figsize=(5.0, 1.3 + 0.29 * len(names)))[1]
    for place, name in enumerate(names):
        color = OURS_COLOR if name == OURS else OTHERS_COLOR
        ax.plot([ranks[name] - half, ranks[name] + half], [place, place], color=color, linewidth=3,
                alpha=0.4, solid_capstyle="butt")  # fmt: skip
        ax.plot(ranks[name], place, "o", color=color, markersize=8)
        ax.annotate(f"{ranks[name]:.1f}", (ranks[name], place), (0, 7), ha="center", fontsize=9,
                    textcoords="offset points", color=color)  # fmt: skip
    ax.set(
        title=f"mean rank, {len(compared.tables)} tables of {task}", ylim=(-0.6, len(names) - 0.2)
    )
    ax.set_yticks(range(len(names)), names)
    ax.grid(axis="y", visible=False)


def ratios(task):
    """Draw the errors on each table, relative to those of gradient boosting."""
    compared = found(task)
    base = compared.of(BASE)
    ours = np.nan_to_num(compared.of(OURS) / base, nan=np.inf)
    order = np.argsort(-ours, kind="stable")
    places = np.arange(len(order))
    figure, ax = plt.subplots(figsize=(7.0, 1.4 + 0.2 * len(order)))
    ax.axvline(1, color=OTHERS_COLOR, linewidth=1.5)
    for tool, (marker, color, size) in SHOWN.items():
        if tool in compared.tools:
            values = (compared.of(tool) / base)[order]
            ax.plot(values, places, marker, color=color, markersize=size, label=tool)
    ax.set(title=f"error relative to that of {BASE}", xscale="log", ylim=(-1, len(order)))
    ax.set_yticks(places, [compared.tables[i] for i in order], fontsize=9)
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=[1, 2, 5] if high < 100 * low else [1]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(loc="outside lower center", ncols=len(SHOWN))


def ranks_of_regression():
    """Draw the ranks on tables of regression."""
    ranks(REGRESSION)


def ranks_of_classification():
    """Draw the ranks on tables of classification."""
    ranks(CLASSIFICATION)


def ratios_of_regression():
    """Draw the errors on tables of regression."""
    ratios(REGRESSION)


def ratios_of_classification():
    """Draw the errors on tables of classification."""
    ratios(CLASSIFICATION)
