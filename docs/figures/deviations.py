"""Share of the test targets in intervals, against their probability."""

import json
from pathlib import Path

from matplotlib import pyplot as plt

plt.style.use("chart.mplstyle")

LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
STYLES = {"hssvm": "#0f9ab5", "GPyTorch": "#e0762b"}
RUNS = json.loads(Path("../results/gaussian_processes.json").read_text())["runs"]

names = list(dict.fromkeys(key.partition(": ")[0] for key in RUNS))
fig, axes = plt.subplots(1, len(names), figsize=(2.4 * len(names), 2.8), sharey=True)
for ax, name in zip(axes, names, strict=True):
    ax.plot([0, 1], [0, 1], color="#757d86", linewidth=1)
    for method, color in STYLES.items():
        ax.plot(LEVELS, RUNS[f"{name}: {method}"]["coverage"], color=color, label=method)
    ax.set(title=name, xlabel="probability", xlim=(0, 1), ylim=(0, 1))
axes[0].set_ylabel("share of targets")
axes[0].legend(frameon=False, loc="upper left")
