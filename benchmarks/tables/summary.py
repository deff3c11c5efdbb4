"""Mean ranks, ratios of errors and wins, from the runs of all tools.

Errors are means over the splits of a table. A tool that lacks a split of a table, because it was
stopped or failed, has none there: it ranks last, and ratios leave the table out. Where no test row
is wrong, half a row counts as wrong, so that ratios exist.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, studentized_range

from benchmarks.results import Results
from benchmarks.tables.data import CLASSIFICATION
from benchmarks.tables.tools import ALL_TOOLS, OURS


@dataclass(frozen=True)
class Errors:
    """Errors, or other figures, of tools on tables.

    Attributes
    ----------
    tables, tools : list of str
    values : (n_tables, n_tools)
        NaN where a tool has none.
    """

    tables: list
    tools: list
    values: np.ndarray

    def of(self, tool):
        """By table."""
        return self.values[:, self.tools.index(tool)]

    def share(self, tool):
        """Share of the tables on which a tool has a figure."""
        return np.isfinite(self.of(tool)).mean() if self.tables else 0.0

    def of_tools(self, tools):
        """The same for some of the tools."""
        return Errors(self.tables, tools, self.values[:, [self.tools.index(t) for t in tools]])

    def mean_ranks(self):
        """By tool; the best has rank 1."""
        ranks = rankdata(np.nan_to_num(self.values, nan=np.inf), axis=1)
        return dict(zip(self.tools, ranks.sum(axis=0) / max(1, len(ranks)), strict=True))

    def ratios(self, tool, base):
        """By table, where both have errors."""
        ratios = self.of(tool) / self.of(base)
        return {t: r for t, r in zip(self.tables, ratios, strict=True) if np.isfinite(r)}

    def mean_ratio(self, tool, base):
        """Geometric mean of the ratios; None without any."""
        ratios = list(self.ratios(tool, base).values())
        return float(np.exp(np.mean(np.log(ratios)))) if ratios else None

    def wins(self, tool, other):
        """Tables with a smaller and with a larger error than that of another tool."""
        ratios = np.array(list(self.ratios(tool, other).values()))
        return int(np.sum(ratios < 1)), int(np.sum(ratios > 1))

    def critical_difference(self, level=0.05):
        """Of mean ranks, by the test of Nemenyi (Demsar, 2006)."""
        n, k = self.values.shape
        return studentized_range.ppf(1 - level, k, np.inf) * np.sqrt(k * (k + 1) / (12 * n))


def all_runs(results):
    """Runs of hssvm and, from the file beside theirs, of the other tools."""
    rivals = results.path.parent / "table_rivals.json"
    return results.runs | (Results.read(rivals).runs if rivals.exists() else {})


def errors(results, task, which="test error", ours=OURS):
    """Errors of all tools with any, on the splits of tables that `ours` has run on."""
    by_table = {}
    for key, run in all_runs(results).items():
        table, _, tool_and_split = key.partition(": ")
        tool, _, split = tool_and_split.rpartition(", ")
        if run.get("task") == task and which in run:
            by_table.setdefault(table, {}).setdefault(tool, {})[split] = run
    tables = sorted((table for table in by_table if ours in by_table[table]), key=str.lower)
    tools = [tool for tool in ALL_TOOLS if any(tool in by_table[table] for table in tables)]
    values = np.full((len(tables), len(tools)), np.nan)
    for i, table in enumerate(tables):
        splits = by_table[table][ours]
        for j, tool in enumerate(tools):
            runs = by_table[table].get(tool, {})
            if runs.keys() >= splits.keys():
                values[i, j] = mean_of([runs[split] for split in splits], which, task)
    return Errors(tables, tools, values)


def mean_of(runs, which, task):
    mean = np.mean([run[which] for run in runs])
    if which == "test error" and task == CLASSIFICATION:
        return max(mean, 0.5 / sum(run["test rows"] for run in runs))
    return mean
