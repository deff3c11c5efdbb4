"""The tables of the page, from the runs of hssvm and of the other tools."""

import numpy as np

from benchmarks.markdown import ABSENT, number, setup, table
from benchmarks.tables.data import CLASSIFICATION, REGRESSION
from benchmarks.tables.summary import errors
from benchmarks.tables.tools import ALL_TOOLS, OURS, SEARCHED, WITH_PROBABILITIES

BASES = ["HistGradientBoosting", "CatBoost"]
LOSS, RANKED_SHARE = 0.9, 0.5


def ranked(found):
    """The errors of the tools that are compared, without those that lack many tables."""
    complete = [tool for tool in found.tools if found.share(tool) >= RANKED_SHARE]
    return found.of_tools([tool for tool in complete if ALL_TOOLS[tool].ranked])


def summary(task):
    """Ranks, ratios, wins and times of every tool."""

    def render(results):
        found = errors(results, task)
        ranks = ranked(found).mean_ranks()
        fits, predicts, n_test = (errors(results, task, w) for w in ("fit", "predict", "test rows"))
        lines = []
        for tool in sorted(found.tools, key=lambda tool: ranks.get(tool, np.inf)):
            wins, losses = found.wins(OURS, tool)
            per_row = 1e6 * predicts.of(tool) / n_test.of(tool)
            lines.append(
                [
                    tool,
                    number(ranks.get(tool)),
                    *(ratio_to(found, tool, base) for base in BASES),
                    ABSENT if tool == OURS else f"{wins} : {losses}",
                    f"{np.isfinite(found.of(tool)).sum()} of {len(found.tables)}",
                    number(np.nanmedian(fits.of(tool)), 2),
                    number(np.nanmedian(per_row), 2),
                ]
            )
        head = ["tool", "mean rank", *(f"error / {base}'s" for base in BASES), "hssvm wins : loses",
                "tables", "fit, s", "predict, µs per row"]  # fmt: skip
        return table(head, lines)

    return render


def ratio_to(found, tool, base):
    return number(found.mean_ratio(tool, base)) if base in found.tools else ABSENT


def log_losses(results):
    """Mean ranks and ratios of the tools with probabilities."""
    found = errors(results, CLASSIFICATION, "log loss", WITH_PROBABILITIES)
    ranks = found.of_tools([tool for tool in found.tools if tool != SEARCHED]).mean_ranks()
    lines = [
        [tool, number(ranks.get(tool)), *(ratio_to(found, tool, base) for base in BASES)]
        for tool in sorted(found.tools, key=lambda tool: ranks.get(tool, np.inf))
    ]
    return table(["tool", "mean rank", *(f"log loss / {base}'s" for base in BASES)], lines)


def lost(results):
    """Tables on which an untuned tool has at most `LOSS` of our error."""
    lines = []
    for task in (REGRESSION, CLASSIFICATION):
        found = ranked(errors(results, task))
        for name, row in zip(found.tables, found.values, strict=True):
            best, ours = int(np.nanargmin(row)), row[found.tools.index(OURS)]
            if row[best] <= LOSS * ours:
                ratio = ours / row[best]
                lines.append((ratio, [name, task, number(ours), found.tools[best],
                                      number(row[best]), number(ratio)]))  # fmt: skip
    lines = [line for _, line in sorted(lines, reverse=True)]
    return table(["table", "task", "hssvm", "best tool", "its error", "ratio"], lines, left=2)


def all_errors(task):
    """The error of every tool on every table."""

    def render(results):
        found = errors(results, task)
        lines = []
        for name, row in zip(found.tables, found.values, strict=True):
            lines.append([name, *(number(v) if np.isfinite(v) else ABSENT for v in row)])
        return table(["table", *found.tools], lines)

    return render


TABLES = {
    "setup": setup,
    "regression": summary(REGRESSION),
    "classification": summary(CLASSIFICATION),
    "log loss": log_losses,
    "lost": lost,
    "errors of regression": all_errors(REGRESSION),
    "errors of classification": all_errors(CLASSIFICATION),
}
