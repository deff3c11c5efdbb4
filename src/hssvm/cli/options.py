"""The options of the commands."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hssvm.estimators.parameters import is_size


class Task(StrEnum):
    """Kind of model to train."""

    svc = "svc"
    svr = "svr"
    one_class = "one-class"


class SearchTask(StrEnum):
    """Kind of model whose parameters are searched."""

    svc = "svc"
    svr = "svr"


class Refine(StrEnum):
    """Whether to continue on the exact kernel."""

    auto = "auto"
    yes = "yes"
    no = "no"


class Scaling(StrEnum):
    """Scaling of the features."""

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
    cosine = "cosine"
    tanimoto = "tanimoto"
    minmax = "minmax"
    intersection = "intersection"


class MultiClass(StrEnum):
    """How more than two classes are trained."""

    auto = "auto"
    ovo = "ovo"
    ovr = "ovr"


class Probability(StrEnum):
    """Calibrators of probabilities."""

    sigmoid = "sigmoid"
    isotonic = "isotonic"
    temperature = "temperature"


Data = Annotated[
    Path,
    typer.Argument(
        help="LIBSVM text, CSV (both also .gz, .bz2, .xz), Parquet or NumPy file; - is stdin."
    ),
]
Model = Annotated[Path, typer.Argument(help="Model file; - is stdin.")]
Format = Annotated[
    str | None,
    typer.Option(help="libsvm, csv, parquet or numpy.  [default: by file extension]"),
]
Separator = Annotated[str | None, typer.Option(help="Separator of a CSV file.  [default: ,]")]
Target = Annotated[
    str | None,
    typer.Option(help="Target column of a table, by name or index.  [default: the first]"),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(help="Target column, by name or index.  [default: as in training]"),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of sample weights (factors on C)."),
]
TaskName = Annotated[
    Task | None,
    typer.Option(help="Classification, regression or novelty detection.  [default: svc]"),
]
C = Annotated[float | None, typer.Option("--C", "-C", help="Weight of the loss.  [default: 1]")]
Gamma = Annotated[
    str | None,
    typer.Option(help="Inverse width of the kernel: scale, auto or a number.  [default: scale]"),
]
KernelName = Annotated[Kernel | None, typer.Option(help="Kernel.  [default: rbf]")]
Degree = Annotated[int | None, typer.Option(help="Degree of the poly kernel.  [default: 3]")]
Coef0 = Annotated[
    float | None, typer.Option(help="Constant term of the poly kernel.  [default: 0]")
]
Epsilon = Annotated[
    float | None, typer.Option(help="Half-width of the tube of svr.  [default: 0.1]")
]
ClassWeight = Annotated[
    str | None,
    typer.Option(help="Factors on C by class: balanced, or label=factor,label=factor,..."),
]
MultiClassName = Annotated[
    MultiClass | None,
    typer.Option(help="More than two classes: one-vs-one or one-vs-rest.  [default: auto]"),
]
ProbabilityName = Annotated[
    Probability | None,
    typer.Option("--probability", help="Calibrate probabilities, for predict --probability."),
]
ScalingName = Annotated[Scaling | None, typer.Option("--scale", help="Scaling of the features.")]
MemoryLimit = Annotated[str | None, typer.Option(help="Memory limit of training, such as 4GB.")]
NTrees = Annotated[
    int | None,
    typer.Option("--trees", help="Number of trees of a forest, without refinement.  [default: 4]"),
]
MaxRank = Annotated[int | None, typer.Option(help="Maximum rank of a leaf.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Number of threads.  [default: OMP_NUM_THREADS, or all]")
]
Seed = Annotated[int | None, typer.Option(help="Random seed.  [default: 0]")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
Double = Annotated[
    bool, typer.Option("--double", help="Compute in float64, which takes twice the time.")
]


def given(**parameters: Any) -> dict[str, Any]:
    """Convert the options that were given to parameters of an estimator."""
    translate: dict[str, Callable[[Any], Any]] = {
        "gamma": parse_gamma,
        "memory_limit": _parse_memory,
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


def parse_separator(separator: str | None) -> str | None:
    r"""Parse a separator; a tab may be written as ``\t`` or ``tab``."""
    return "\t" if separator in ("\\t", "tab") else separator
