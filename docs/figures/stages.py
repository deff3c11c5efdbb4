"""Seconds of a fit by stage, from the runs of ``benchmarks.scaling.cluster``."""

import json
from pathlib import Path

from matplotlib import pyplot as plt

plt.style.use("chart.mplstyle")

RUNS = json.loads(Path("../results/scaling.json").read_text())["runs"]
COLORS = {
    "describe": "#d3669f",
    "shuffle": "#b3922c",
    "compress": "#0f9ab5",
    "factor": "#e0762b",
    "solve": "#a36fd6",
    "finish": "#5b9e3e",
}

figure, ax = plt.subplots()
fits = [run for key, run in RUNS.items() if key.startswith("fit ")]
labels = [f"{run['workers']} x {run['rows']:,}" for run in fits]
bottom = [0.0] * len(fits)
for stage, color in COLORS.items():
    heights = [run["seconds"][stage] for run in fits]
    ax.bar(labels, heights, bottom=bottom, width=0.55, color=color, label=stage)
    bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
ax.set(title="Seconds of a fit by stage", xlabel="workers x rows")
ax.grid(axis="x", visible=False)
figure.legend(loc="outside lower center", ncols=3)
