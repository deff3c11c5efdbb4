"""The text of a fit report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hssvm.training.reports.report import FitReport


SCORES = {
    "regression": "R^2",
    "Gaussian process regression": "R^2",
    "quantile regression": "D^2",
    "censored regression": "concordance index",
}
"""What regressions are scored by, by the name of the task."""

UNKNOWN = "unknown: the model comes from LIBSVM, whose files have no report"


def summarize(report: FitReport) -> str:
    """Return the report as text of a few lines."""
    lines = [f"data       {_data(report)}"]
    if report.task:
        lines.append(f"model      {_model(report)}")
    if report.reduced_from:
        before = counted(report.reduced_from, "support vector")
        return "\n".join([*lines, f"reduced    from {before}; not a solution, so without a gap"])
    if _has_no_rows(report):
        return "\n".join([*lines, f"training   {UNKNOWN}"])
    if report.n_scale_rows:
        lines.append(f"scales     {_scales(report)}")
    if report.gap.size:
        lines += _solution(report)
    if report.matrix_bytes:
        lines.append(
            f"memory     {report.matrix_bytes / 1e6:,.1f} MB matrix, "
            f"{report.factor_bytes / 1e6:,.1f} MB factor"
        )
    lines += [
        f"seconds    {sum(report.seconds.values()):.2f} in all: "
        + ", ".join(f"{name} {value:.2f}" for name, value in report.seconds.items()),
    ]
    return "\n".join(lines)


def _model(report: FitReport) -> str:
    support = counted(report.n_support, "support vector")
    if report.n_members > 1:
        return f"mean of {report.n_members} models with {support} in all"
    share = f" ({report.n_support / report.n_rows:.1%} of the rows)" if report.n_rows else ""
    return f"{support}{share}"


def _has_no_rows(report: FitReport) -> bool:
    """Whether the model is reduced or from LIBSVM; the report of an unfinished fit has no gap."""
    return report.n_rows == 0 and report.gap.size > 0


def _data(report: FitReport) -> str:
    unknown = _has_no_rows(report)
    parts = ["unknown number of rows" if unknown else counted(report.n_rows, "row")]
    if report.n_features:
        parts.append(counted(report.n_features, "feature"))
    if report.n_classes:
        parts.append(counted(report.n_classes, "class", "classes"))
    elif report.task:
        parts.append(report.task)
    return ", ".join(parts)


def _scales(report: FitReport) -> str:
    """What the learned scales have gained."""
    source, errors = f"from {counted(report.n_scale_rows, 'row')}", report.scale_errors
    if not errors:
        return f"not learned {source}, which are too few: all features count equally"
    if report.n_scale_steps == 0:
        return f"not learned {source}: no gain on held-out rows, so all features count equally"
    learned, standard = errors[report.n_scale_steps], errors[0]
    return (
        f"learned {source} in {counted(report.n_scale_steps, 'step')}; error on held-out rows "
        f"{learned:.3g} of the variance, {standard:.3g} without"
    )


def _solution(report: FitReport) -> list[str]:
    """Lines about the solution, its kernel, and the solver."""
    compressed = len(report.ranks) > 1
    which = "the exact kernel" if report.exact_kernel else "the compressed kernel"
    if report.n_trees > 1:
        which = f"{report.n_trees} compressed kernels"
    if report.n_members > 1 and not report.exact_kernel:
        which = "approximations"
    if report.n_cells:
        which = f"{counted(report.n_cells, 'cell')} of each of {counted(report.n_trees, 'tree')}"
    lines = [f"solved     on {which}, relative duality gap {_range(report.gap)}"]
    if report.n_cells:
        lines.append(f"           cells of about {report.n_rows // report.n_cells:,} rows")
    elif not report.exact_kernel and report.n_members == 1:
        lines.append(
            f"           compression changes the objective by {_range(report.objective_error)} "
            "(estimate; certify measures the gap on the exact kernel)"
        )
    lines += [f"           {advice}" for advice in report.advice]
    if not math.isnan(report.out_of_fold_score):
        name = SCORES.get(report.task, "accuracy")
        lines.append(f"           out-of-fold {name} {report.out_of_fold_score:.4g}")
    if report.n_trees > 1:
        differ = f"forest     decision values of the trees differ by {_range(report.spread)}"
        if report.task not in SCORES:
            differ += f", in sign for {_range(100 * report.disagreement)}% of the rows"
        lines.append(differ)
    solver = []
    if report.n_factors:
        solver.append(
            f"{_range(report.n_iter)} {'iteration' if report.n_iter.max() == 1 else 'iterations'}, "
            f"{counted(report.n_factors, 'factorization')}"
            f" on the {'compressed' if compressed else 'exact'} kernel"
        )
    if report.n_rounds.any():
        each = f" for each of {report.n_columns} binary problems" if report.n_classes > 2 else ""
        noun = "round" if report.n_rounds.max() == 1 else "rounds"
        solver.append(f"{_range(report.n_rounds)} {noun} on the exact kernel{each}")
    if solver:
        lines.append(f"solver     {'; '.join(solver)}")
    if compressed:
        lines += [
            ("start" if report.exact_kernel else "kernel").ljust(11)
            + f"compressed kernel, relative error {report.kernel_error:.2g}"
            + (" (of one tree)" if report.n_trees > 1 else ""),
            f"           ranks {' '.join(map(str, report.ranks[1:]))} from the top to the leaves",
        ]
    return lines


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 row``, ``3,000 rows``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _range(values: NDArray[np.float64] | NDArray[np.int64]) -> str:
    form = "d" if values.dtype.kind == "i" else ".2g"
    low, high = f"{values.min():{form}}", f"{values.max():{form}}"
    return low if low == high else f"{low} to {high}"
