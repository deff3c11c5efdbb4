"""The options of the commands, without what parses them, so that ``--help`` imports little."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Task(StrEnum):
    """Kind of model to train."""

    svc = "svc"
    svr = "svr"
    quantile = "quantile"
    one_class = "one-class"


class SearchTask(StrEnum):
    """Kind of model whose parameters are searched."""

    svc = "svc"
    svr = "svr"
    quantile = "quantile"


class Refine(StrEnum):
    """Whether to continue on the exact kernel."""

    auto = "auto"
    yes = "yes"
    no = "no"


class Approximation(StrEnum):
    """What to train if the solution is not exact."""

    cells = "cells"
    hss = "hss"


class Scaling(StrEnum):
    """Scaling of the features."""

    none = "none"
    standard = "standard"
    minmax = "minmax"
    quantiles = "quantiles"
    learned = "learned"
    learned_quantiles = "learned-quantiles"


class Kernel(StrEnum):
    """Kernels by name."""

    rbf = "rbf"
    laplacian = "laplacian"
    exponential = "exponential"
    matern32 = "matern32"
    matern52 = "matern52"
    poly = "poly"
    linear = "linear"
    cosine = "cosine"
    tanimoto = "tanimoto"
    minmax = "minmax"
    intersection = "intersection"


class Loss(StrEnum):
    """Loss of a row."""

    hinge = "hinge"
    squared_hinge = "squared_hinge"
    epsilon_insensitive = "epsilon_insensitive"
    squared_epsilon_insensitive = "squared_epsilon_insensitive"
    huber = "huber"


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
Separator = Annotated[
    str | None, typer.Option(help="Separator of a CSV file.  [default: comma, or tab in .tsv]")
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of labels of a table, by name or index; required if the columns have names."
        "  [default: the first]",
    ),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column of labels, by name or index.  [default: as in training]"
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of a table that is not a feature, by name or index; may be repeated."
        "  [default: none]",
        show_default=False,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of a table whose values are levels, although they look like numbers or dates; "
        "may be repeated.  [default: none]",
        show_default=False,
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of a table of numbers, whose other values count as missing; may be repeated."
        "  [default: none]",
        show_default=False,
    ),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column of sample weights, factors on C.  [default: all are 1]"
    ),
]
TaskName = Annotated[
    Task | None,
    typer.Option(
        help="Classification, regression, its quantiles, or novelty detection.  [default: svc]"
    ),
]
C = Annotated[float | None, typer.Option("--C", "-C", help="Weight of the loss.  [default: 1]")]
Gamma = Annotated[
    str | None,
    typer.Option(help="Inverse width of the kernel: scale, auto or a number.  [default: scale]"),
]
KernelName = Annotated[Kernel | None, typer.Option(help="Kernel.  [default: rbf]")]
SearchKernel = Annotated[
    Kernel | None,
    typer.Option(help="Kernel; several are compared on tables by default.  [default: auto]"),
]
Degree = Annotated[int | None, typer.Option(help="Degree of the poly kernel.  [default: 3]")]
Coef0 = Annotated[
    float | None, typer.Option(help="Constant term of the poly kernel.  [default: 0]")
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="Half-width of the tube of svr, or the error at which --loss huber becomes linear.  "
        "[default: 0.1]"
    ),
]
LossName = Annotated[
    Loss | None,
    typer.Option(
        "--loss",
        help="Loss of a row: the first two are for svc, the others for svr.  [default: hinge or "
        "epsilon_insensitive]",
    ),
]
Quantile = Annotated[
    str | None,
    typer.Option(help="Quantiles to predict, such as 0.05,0.5,0.95.  [default: 0.5]"),
]
SearchEpsilon = Annotated[
    float | None, typer.Option(help="Half-width of the tube of svr.  [default: auto]")
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="Factors on C by class: balanced, or label=factor,label=factor,...  "
        "[default: all are 1]"
    ),
]
MultiClassName = Annotated[
    MultiClass | None,
    typer.Option(help="More than two classes: one-vs-one or one-vs-rest.  [default: auto]"),
]
ProbabilityName = Annotated[
    Probability | None,
    typer.Option(
        "--probability",
        help="Calibrate probabilities, for predict --probability.  [default: none]",
    ),
]
ScalingName = Annotated[
    Scaling | None, typer.Option("--scale", help="Scaling of the features.  [default: none]")
]
SearchScaling = Annotated[
    Scaling | None,
    typer.Option(
        "--scale",
        help="Scaling of the features; several are compared by default.  [default: auto]",
    ),
]
MaxTime = Annotated[float | None, typer.Option(help="Time limit in seconds.  [default: no limit]")]
MemoryLimit = Annotated[
    str | None, typer.Option(help="Memory limit of training, such as 4GB.  [default: no limit]")
]
ApproximationName = Annotated[
    Approximation | None,
    typer.Option(
        help="Train exact models of small cells, or on compressed kernels (hss).  "
        "[default: exact if affordable, else cells]"
    ),
]
CellSize = Annotated[
    int | None,
    typer.Option(min=20, help="Maximum number of rows of a cell.  [default: 2000 to 8000]"),
]
NTrees = Annotated[
    int | None,
    typer.Option("--trees", min=1, help="Number of trees of an approximation.  [default: 4]"),
]
MaxRank = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Maximum rank of a leaf of hss.  [default: 24 to 72, by number of rows and trees]",
    ),
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Number of threads.  [default: OMP_NUM_THREADS, or all]")
]
Seed = Annotated[int | None, typer.Option(help="Random seed.  [default: 0]")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
Double = Annotated[
    bool, typer.Option("--double", help="Compute in float64, which takes twice the time.")
]
