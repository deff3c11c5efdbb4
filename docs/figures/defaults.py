"""Accuracy without arguments, from the runs of ``benchmarks.peers.defaults``."""

import json
from pathlib import Path

from matplotlib import pyplot as plt

plt.style.use("chart.mplstyle")

RUNS = json.loads(Path("../results/defaults.json").read_text())["runs"]
STYLES = {
    "SVC()": ("o", "#7fb8c4"),
    "SVCCV()": ("D", "#0f9ab5"),
    "sklearn.svm.SVC()": ("x", "#e0762b"),
    "HistGradientBoosting()": ("s", "#5b9e3e"),
    "10 x 10 grid": ("|", "#a36fd6"),
}

names = list(dict.fromkeys(key.split(": ")[0] for key in RUNS if key.endswith(": SVC()")))[::-1]
figure, ax = plt.subplots(figsize=(6.2, 4.6))
for method, (marker, color) in STYLES.items():
    scores = [RUNS[f"{name}: {method}"]["score"] for name in names]
    size = 14 if marker == "|" else 7
    ax.plot(scores, names, marker, color=color, markersize=size, markeredgewidth=2, label=method)
ax.set(title="Accuracy on test rows, %")
figure.legend(loc="outside lower center", ncols=2)
