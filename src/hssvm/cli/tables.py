"""Results formatted for a terminal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table as RichTable

from hssvm.cli.messages import ADVICE
from hssvm.cli.parsing import as_text
from hssvm.io.table import Table

MAX_NAMES, MAX_WIDTH = 5, 6
"""Maximum number of names in a list, and of columns in a grid of scores."""


def summary(
    estimator: Any, table: Table, encoder: Any, target: str, path: Path, n_bytes: int
) -> RichTable:
    """Return a table that summarizes the data, the model and the fit."""
    report = estimator.fit_report_
    kernel = "exact" if report.exact_kernel else f"compressed, error {report.kernel_error:.2g}"
    if report.n_cells:
        kernel = f"exact, within {report.n_cells} cells of {report.n_trees} trees"
    elif report.n_trees > 1:
        kernel = f"{report.n_trees} compressed, error of each {report.kernel_error:.2g}"
    lines = RichTable(show_header=False, title=type(estimator).__name__)
    if table.y is not None:
        lines.add_row("labels", escape(target))
    if encoder is not None:
        lines.add_row("columns", escape(_kinds(encoder)))
    lines.add_row("features", escape(_features(table.X.shape[1], table.feature_names)))
    if table.unused:
        lines.add_row("ignored", escape(_listed(table.unused)))
    lines.add_row("rows", f"{report.n_rows:,}")
    if hasattr(estimator, "classes_"):
        lines.add_row("classes", escape(_classes(estimator)))
    lines.add_row("support vectors", f"{len(estimator.support_):,}")
    lines.add_row("kernel", kernel)
    gap, tol = report.gap.max(), report.tol
    side = "below" if gap <= tol else "above"
    lines.add_row("relative duality gap", f"{gap:.2g}, {side} --tol {tol:g}")
    for advice in advice_of(report.status):
        lines.add_row("", advice)
    lines.add_row("seconds", f"{sum(report.seconds.values()):.1f}")
    lines.add_row("model", f"{escape(str(path))}, {size_of(n_bytes)}")
    return lines


def advice_of(status: list[str]) -> list[str]:
    """Advice on the statuses of a fit, without repetitions."""
    return [ADVICE[name] for name in dict.fromkeys(status) if name in ADVICE]


def where_labels_are(table: Table, named: bool) -> str:
    """Describe which column has the labels."""
    if table.target is None:
        return "as given in the file"
    column = f"column {table.target!r}"
    return column if named else f"{column}, the first; --target chooses another"


def _kinds(encoder: Any) -> str:
    """How many columns of a table were read as numbers, dates and categories."""
    counts = Counter(column.kind for column in encoder.columns_)
    return f"{counts.total():,}: " + ", ".join(f"{n:,} {kind}" for kind, n in counts.items())


def _features(n: int, names: Any) -> str:
    if names is None:
        return f"{n:,}"
    return f"{n:,}: {_listed(names)}"


def _classes(model: Any) -> str:
    return f"{len(model.classes_):,}: {_listed([as_text(label) for label in model.classes_])}"


def size_of(n_bytes: int) -> str:
    """Format a size in kilobytes or megabytes."""
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


def _listed(items: Any) -> str:
    shown = ", ".join(str(item) for item in items[:MAX_NAMES])
    return shown + (", ..." if len(items) > MAX_NAMES else "")


def describe(model: Any, encoder: Any = None) -> str:
    """Describe a model, without its report, and the columns that it encodes."""
    names = feature_names(model) if encoder is None else list(encoder.feature_names_in_)
    lines = [] if encoder is None else [*_columns(encoder), ""]
    lines += [f"features         {_features(model.n_features_in_, feature_names(model))}"]
    if hasattr(model, "classes_"):
        lines.append(f"classes          {_classes(model)}")
    if model.target_name_ is not None:
        lines.append(f"label column     {model.target_name_}")
    importances = getattr(model, "feature_importances_", None)
    if importances is not None:
        if encoder is not None:
            importances = encoder.sum_by_column(importances)
        lines.append(f"importances      {_importances(importances, names)}")
    members = getattr(model, "members_", [model])
    for i, member in enumerate(members):
        if len(members) > 1:
            lines += ["", f"model            {i + 1} of {len(members)}, of which this is the mean"]
        lines += _describe_kernel(member)
    return "\n".join(lines)


def _columns(encoder: Any) -> list[str]:
    """How each column of a table is read, under a heading."""
    return [f"columns          {_kinds(encoder)}", *indent(encoder.describe(), "  ").splitlines()]


def _describe_kernel(model: Any) -> list[str]:
    lines = [f"support vectors  {_n_support(model)}"]
    C = getattr(model, "C_", getattr(model, "C", None))
    if C is not None:
        lines.append(f"C                {C:g}")
    if model.feature_quantiles_ is not None:
        lines.append("scaling          features are replaced by normal scores before the kernel")
    elif model.feature_factor_ is not None:
        lines.append("scaling          features are scaled before the kernel")
    lines.append(f"kernel           {type(model.kernel_).__name__}")
    if hasattr(model.kernel_, "gamma"):
        lines.append(f"gamma            {model.kernel_.gamma:.6g}")
    return lines


def _importances(importances: Any, names: list[str] | None) -> str:
    """The largest importances, in percent."""
    largest = importances.argsort(kind="stable")[::-1]
    labels = [str(j) if names is None else names[j] for j in largest]
    return _listed(
        [f"{label} {importances[j]:.1%}" for label, j in zip(labels, largest, strict=True)]
    )


def feature_names(model: Any) -> list[str] | None:
    """Names of the features, if a model has them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(names)


def _n_support(model: Any) -> str:
    if hasattr(model, "dual_coef_"):
        return f"{model.dual_coef_.shape[1]:,}"
    if hasattr(model, "n_support_"):
        return f"{model.n_support_.sum():,}"
    return "not stored (approximation)"


def scores(search: Any) -> RichTable:
    """Table of mean scores by C and gamma: a grid if it is complete and fits, else a list."""
    mean, best = search.scores_.mean(axis=2), search.best_position()
    gammas, Cs = (list(map(as_text, values)) for values in (search.gammas_, search.Cs_))

    def cell(g: int, c: int) -> str:
        return f"[bold]{mean[g, c]:.4f}[/bold]" if (g, c) == best else f"{mean[g, c]:.4f}"

    if min(mean.shape) > MAX_WIDTH or np.isnan(mean).any():
        table = RichTable("C", "gamma", "score")
        tried = [(int(g), int(c)) for g, c in np.argwhere(~np.isnan(mean))]
        for g, c in sorted(tried, key=lambda pair: (pair != best, -mean[pair])):
            table.add_row(Cs[c], gammas[g], cell(g, c))
        return table
    if len(Cs) <= len(gammas):
        table = RichTable("gamma", *(f"C = {value}" for value in Cs))
        for g, gamma in enumerate(gammas):
            table.add_row(gamma, *(cell(g, c) for c in range(len(Cs))))
    else:
        table = RichTable("C", *(f"gamma = {value}" for value in gammas))
        for c, C in enumerate(Cs):
            table.add_row(C, *(cell(g, c) for g in range(len(gammas))))
    return table
