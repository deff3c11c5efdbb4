"""Conversion of the values of options to parameters of the library."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
import typer

from hssvm.cli.options import Approximation, Refine, Scaling, Task
from hssvm.estimators.inputs.parameters import FRACTION, is_size
from hssvm.training import HSS, Cells


def given(**parameters: Any) -> dict[str, Any]:
    """Convert the options that were given to parameters of an estimator."""
    translate: dict[str, Callable[[Any], Any]] = {
        "gamma": parse_gamma,
        "memory_limit": _parse_memory,
        "quantile": _parse_quantiles,
        "refine": _parse_refine,
        "scaling": _parse_scaling,
    }
    return {
        name: translate.get(name, _plain)(value)
        for name, value in parameters.items()
        if value is not None
    }


def parse_approximation(
    kind: Approximation | None,
    cell_size: int | None,
    trees: int | None,
    max_rank: int | None,
    task: Task | None = None,
    last: Cells | HSS | None = None,
) -> Cells | HSS | None:
    """Return the approximation of options; a fit that is resumed may have more trees."""
    if kind is None and cell_size is None and trees is None and max_rank is None:
        return last
    if kind is None and cell_size is None and max_rank is None and last is not None:
        return replace(last, n_trees=trees)
    if kind is None:
        compressed = max_rank is not None or task is Task.one_class
        kind = Approximation.hss if compressed else Approximation.cells
    if kind is Approximation.cells and max_rank is not None:
        raise typer.BadParameter("applies to --approximation hss only.", param_hint="--max-rank")
    if kind is Approximation.hss and cell_size is not None:
        raise typer.BadParameter("applies to --approximation cells only.", param_hint="--cell-size")
    if kind is Approximation.cells:
        return Cells(cell_size, trees)
    return HSS(trees, max_rank=max_rank)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def _parse_refine(refine: Refine) -> bool | str:
    return "auto" if refine is Refine.auto else refine is Refine.yes


def _parse_quantiles(text: str) -> list[float]:
    return [_parse_quantile(part) for part in text.split(",")]


def _parse_quantile(text: str) -> float:
    quantile = _positive(text, "--quantile", FRACTION.text)
    if not FRACTION.accepts(quantile):
        raise typer.BadParameter(f"{text!r} is not {FRACTION.text}.", param_hint="--quantile")
    return quantile


def _parse_memory(size: str) -> str:
    if not is_size(size):
        raise typer.BadParameter(
            f"{size!r} is not a size with a unit, such as 4GB.", param_hint="--memory-limit"
        )
    return size


def _parse_scaling(scaling: Scaling) -> str | None:
    return None if scaling is Scaling.none else scaling.value


def parse_gamma(text: str, option: str = "--gamma") -> float | str:
    """Parse gamma: 'scale', 'auto' or a positive number."""
    if text in ("scale", "auto"):
        return text
    return _positive(text, option, "scale, auto or a positive number")


def parse_numbers(text: str, option: str) -> list[float] | None:
    """Parse positive numbers separated by commas; None for auto."""
    return (
        None
        if text == "auto"
        else [_positive(part, option, "a positive number") for part in text.split(",")]
    )


def parse_gammas(text: str) -> list[float | str] | None:
    """Parse values of gamma separated by commas; None for auto."""
    return None if text == "auto" else [parse_gamma(part, "--gammas") for part in text.split(",")]


def _positive(text: str, option: str, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise typer.BadParameter(f"{text!r} is not {expected}.", param_hint=option)
    return value


def parse_class_weight(text: str, y: Any) -> str | dict[Any, float]:
    """Parse ``balanced``, or factors for the labels in `y`."""
    if text == "balanced":
        return text
    labels = {as_text(label): label for label in np.unique(y).tolist()}
    weights: dict[Any, float] = {}
    for part in text.split(","):
        label, equals, factor = part.rpartition("=")
        if not equals:
            raise typer.BadParameter(
                f"{part!r} is neither balanced nor label=factor.", param_hint="--class-weight"
            )
        if label not in labels:
            raise typer.BadParameter(
                f"{label!r} is not a label of the data; its labels are {', '.join(labels)}.",
                param_hint="--class-weight",
            )
        weights[labels[label]] = _positive(factor, "--class-weight", "a positive factor")
    return weights


def as_text(value: Any) -> str:
    """Format a label or a parameter."""
    return value if isinstance(value, str) else f"{value:g}"


def parse_column(column: str | None) -> str | int | None:
    """Parse a column, an index or a name."""
    return column if column is None or not column.lstrip("-").isdigit() else int(column)


def parse_columns(columns: list[str] | None) -> list[str | int]:
    """Parse several columns."""
    return [parsed for column in columns or [] if (parsed := parse_column(column)) is not None]


def parse_separator(separator: str | None) -> str | None:
    r"""Parse a separator; a tab may be written as ``\t`` or ``tab``."""
    return "\t" if separator in ("\\t", "tab") else separator
