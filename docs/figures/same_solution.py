"""Seconds to the solution of LIBSVM on the sets of the paper, from ``benchmarks.paper``.

A run that was stopped is an arrow at its limit.
"""

import json
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

plt.style.use("chart.mplstyle")

RUNS = json.loads(Path("../results/paper.json").read_text())["runs"]
pairs = []
for key, theirs in RUNS.items():
    name, method, h, C = (*key.split(), "")[:4]
    if method == "libsvm":
        pairs.append((RUNS[f"{name} refined {h} {C}"]["seconds"], theirs, f"{name}, C = {C}"))
pairs.sort(key=lambda pair: pair[0], reverse=True)

figure, ax = plt.subplots(figsize=(6.2, 5.6))
for i, (ours, theirs, _) in enumerate(pairs):
    end = theirs.get("seconds", theirs.get("stopped"))
    ax.plot([ours, end], [i, i], color="#757d86", alpha=0.5, linewidth=1.5, zorder=1)
    ax.plot(end, i, "o" if "seconds" in theirs else ">", color="#e0762b", markersize=8)
    ax.plot(ours, i, "o", color="#0f9ab5", markersize=8)
    text = "over " * ("stopped" in theirs) + f"{end / ours:.2g} x"
    ax.annotate(text, (end, i), (9, 0), textcoords="offset points", va="center")
ax.plot([], [], "o", color="#0f9ab5", markersize=8, label="hssvm, refined")
ax.plot([], [], "o", color="#e0762b", markersize=8, label="LIBSVM")
ax.plot([], [], ">", color="#e0762b", markersize=8, label="LIBSVM, stopped")
ax.set(title="Seconds to the same solution", xlabel="seconds", xscale="log", xlim=(None, 700))
ax.set_yticks(range(len(pairs)), [label for *_, label in pairs])
ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
ax.grid(axis="y", visible=False)
figure.legend(loc="outside lower center", ncols=3)
