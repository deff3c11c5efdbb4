"""The tables of the page."""

import numpy as np

from benchmarks.frames.data import FRAMES
from benchmarks.frames.tools import CATBOOST, GRADIENT_BOOSTING, OURS, TOOLS
from benchmarks.markdown import ABSENT, number, setup, table
from benchmarks.tables.summary import Errors


def errors(results, which="test error"):
    """Means over the splits; a tool without all splits of ours has none."""
    runs = {}
    for key, found in results.runs.items():
        name, _, rest = key.partition(": ")
        tool, _, split = rest.rpartition(", ")
        if which in found:
            runs.setdefault((name, tool), {})[split] = found[which]
    names = [name for name in FRAMES if (name, OURS) in runs]
    tools = [tool for tool in TOOLS if any((name, tool) in runs for name in names)]
    values = np.full((len(names), len(tools)), np.nan)
    for i, name in enumerate(names):
        for j, tool in enumerate(tools):
            found, splits = runs.get((name, tool), {}), runs[name, OURS]
            if found.keys() >= splits.keys():
                values[i, j] = np.mean([found[split] for split in splits])
    return Errors(names, tools, values)


def summary(results):
    """Ranks, ratios of errors, wins and times of every tool."""
    found, fits = errors(results), errors(results, "fit")
    ranks, lines = found.mean_ranks(), []
    for tool in sorted(found.tools, key=ranks.get):
        ratios = [
            number(found.mean_ratio(tool, base)) if base in found.tools else ABSENT
            for base in (GRADIENT_BOOSTING, CATBOOST)
        ]
        wins, losses = found.wins(OURS, tool)
        lines.append([tool, number(ranks[tool]), *ratios,
                      ABSENT if tool == OURS else f"{wins} : {losses}",
                      number(np.nanmedian(fits.of(tool)), 2)])  # fmt: skip
    head = ["tool", "mean rank", "error / HistGradientBoosting's", "error / CatBoost's",
            "hssvm wins : loses", "fit, s"]  # fmt: skip
    return table(head, lines)


def all_errors(results):
    """The error of every tool on every frame."""
    found = errors(results)
    rows, columns, text = (errors(results, which).of(OURS) for which in ("rows", "columns", "text"))
    lines = [
        [name, f"{n:,.0f} x {p:.0f}", f"{t:.0f}",
         *(number(v) if np.isfinite(v) else ABSENT for v in row)]
        for name, n, p, t, row in zip(found.tables, rows, columns, text, found.values, strict=True)
    ]  # fmt: skip
    return table(["frame", "rows x columns", "text", *found.tools], lines)


TABLES = {"setup": setup, "summary": summary, "errors": all_errors}
