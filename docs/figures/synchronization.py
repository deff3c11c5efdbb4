"""Time of a synchronization against parts, from the runs of ``benchmarks.scaling.cluster``."""

import json
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

plt.style.use("chart.mplstyle")

RUNS = json.loads(Path("../results/scaling.json").read_text())["runs"]
KINDS = {
    "tree": ("solve", "tiers of coordinators", "#0f9ab5"),
    "crowd": ("round", "one coordinator", "#e0762b"),
}

figure, ax = plt.subplots()
for kind, (measured, label, color) in KINDS.items():
    runs = [run for key, run in RUNS.items() if key.split()[0] == kind]
    parts, times = [run["parts"] for run in runs], [1000 * run[measured] for run in runs]
    ax.plot(parts, times, "o-", color=color, label=label, markersize=7)
ax.set(title="Milliseconds of a synchronization", xlabel="parts", xscale="log", yscale="log")
for axis in (ax.xaxis, ax.yaxis):
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
figure.legend(loc="outside lower center", ncols=2)
