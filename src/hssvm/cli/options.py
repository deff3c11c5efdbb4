"""What the commands accept."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer


class Task(StrEnum):
    """What to train."""

    svc = "svc"
    svr = "svr"
    one_class = "one-class"


class SearchTask(StrEnum):
    """What to choose parameters for."""

    svc = "svc"
    svr = "svr"


class Refine(StrEnum):
    """Whether to continue on the exact kernel."""

    auto = "auto"
    yes = "yes"
    no = "no"


class Scaling(StrEnum):
    """Of the features."""

    none = "none"
    standard = "standard"
    minmax = "minmax"


class Kernel(StrEnum):
    """Kernels by name."""

    rbf = "rbf"
    laplacian = "laplacian"
    matern32 = "matern32"
    matern52 = "matern52"
    poly = "poly"
    linear = "linear"


Data = Annotated[
    Path,
    typer.Argument(help="LIBSVM text, CSV, Parquet or NumPy; .gz .bz2 .xz too; - is stdin."),
]
Model = Annotated[Path, typer.Argument(help="File of a model; - is stdin.")]
Format = Annotated[
    str | None, typer.Option(help="libsvm, csv, parquet or numpy; by default from the ending.")
]
Separator = Annotated[
    str | None, typer.Option(help="Character between the values of a CSV file.  [default: ,]")
]
Target = Annotated[
    str | None,
    typer.Option(help="Column of the labels in a table, by name or number.  [default: the first]"),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(help="Column of the labels, by name or number.  [default: as in training]"),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of a table with factors on C by row."),
]
TaskName = Annotated[
    Task | None, typer.Option(help="Classification, regression or novelty.  [default: svc]")
]
C = Annotated[float | None, typer.Option("--C", "-C", help="Penalty of the loss.  [default: 1]")]
Gamma = Annotated[
    str | None,
    typer.Option(help="Inverse width of the kernel: scale, auto or a number.  [default: scale]"),
]
KernelName = Annotated[Kernel | None, typer.Option(help="Kernel.  [default: rbf]")]
Degree = Annotated[int | None, typer.Option(help="Of the kernel poly.  [default: 3]")]
Coef0 = Annotated[float | None, typer.Option(help="Of the kernel poly.  [default: 0]")]
Epsilon = Annotated[
    float | None, typer.Option(help="Half the width of the tube of svr.  [default: 0.1]")
]
ClassWeight = Annotated[
    str | None,
    typer.Option(help="Factors on C by class: balanced, or label=factor,label=factor,..."),
]
ScalingName = Annotated[Scaling | None, typer.Option("--scale", help="Scaling of the features.")]
MaxRank = Annotated[int | None, typer.Option(help="Largest rank of a leaf.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Threads to use.  [default: OMP_NUM_THREADS, or all]")
]
Seed = Annotated[int | None, typer.Option(help="Seed of all random choices.  [default: 0]")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Double = Annotated[bool, typer.Option("--double", help="Compute in float64: twice the time.")]


def given(**parameters: Any) -> dict[str, Any]:
    """Parameters of an estimator from options; the estimator has the defaults of the others."""
    translate: dict[str, Callable[[Any], Any]] = {
        "gamma": parse_gamma,
        "refine": _parse_refine,
        "scaling": _parse_scaling,
    }
    return {
        name: translate.get(name, _plain)(value)
        for name, value in parameters.items()
        if value is not None
    }


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def _parse_refine(refine: Refine) -> bool | str:
    return "auto" if refine is Refine.auto else refine is Refine.yes


def _parse_scaling(scaling: Scaling) -> str | None:
    return None if scaling is Scaling.none else scaling.value


def parse_gamma(text: str, option: str = "--gamma") -> float | str:
    """A width: a word that the estimators know, or a positive number."""
    if text in ("scale", "auto"):
        return text
    return _positive(text, option, "scale, auto or a positive number")


def parse_numbers(text: str, option: str) -> list[float] | None:
    """Positive numbers between commas; None for auto."""
    return (
        None
        if text == "auto"
        else [_positive(part, option, "a positive number") for part in text.split(",")]
    )


def parse_gammas(text: str) -> list[float | str] | None:
    """Widths between commas; None for auto."""
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
    """``balanced``, or factors by the labels in `y`."""
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
                f"{label!r} is not a label of the data, which has {', '.join(labels)}.",
                param_hint="--class-weight",
            )
        weights[labels[label]] = _positive(factor, "--class-weight", "a positive factor")
    return weights


def as_text(value: Any) -> str:
    """A label or a parameter as people write it."""
    return value if isinstance(value, str) else f"{value:g}"


def parse_column(column: str | None) -> str | int | None:
    """A column by number if it is one."""
    return column if column is None or not column.lstrip("-").isdigit() else int(column)


def parse_separator(separator: str | None) -> str | None:
    """One character; a tab may be written as it is in most languages."""
    return "\t" if separator in ("\\t", "tab") else separator
