"""Messages of the library, with parameters replaced by command-line options."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text
from sklearn.exceptions import ConvergenceWarning

from hssvm.solvers import Status

OPTIONS = {
    "C": "--C", "Cs": "--Cs", "class_weight": "--class-weight", "coef0": "--coef0", "cv": "--folds",
    "degree": "--degree", "epsilon": "--epsilon", "format": "--format", "gamma": "--gamma",
    "gammas": "--gammas", "kernel": "--kernel", "max_rank": "--max-rank", "max_time": "--max-time",
    "multi_class": "--multi-class", "n_trees": "--trees",
    "memory_limit": "--memory-limit", "nu": "--nu", "probability": "--probability",
    "random_state": "--seed", "range_path": "--range",
    "refine": "--refine", "sample_weight": "--sample-weight", "scaling": "--scale",
    "scoring": "--scoring", "separator": "--separator", "target": "--target", "tol": "--tol",
    "warm_start": "--resume",
}  # fmt: skip
"""Options by parameter of the library."""

WORDS = {
    "C", "cv", "format", "kernel", "nu", "probability", "refine", "separator", "scaling", "target",
}  # fmt: skip
"""Parameters that are also words: replaced only if followed by a value or by "must"."""

PHRASES = {
    ", or pass target=False if it is a feature": "",
    "pass n_features": "pass --features",
    "n_features must be": "--features must be",
    "read with dtype=np.float64": "use --double",
    "pass X in float64": "use --double",
    "pass X in float32": "leave out --double",
    "refine=True": "--refine yes",
    "refine=False": "--refine no",
    "warm_start=True": "--resume",
    "use SVR for regression": "use --task svr for regression",
    "use SVC for classification": "use --task svc for classification",
    "convert it to a number, or name the column of labels by target": (
        "convert it to a number, leave out the column by --ignore, or name the column of labels by "
        "--target"
    ),
    "column of labels by target": "column of labels by --target",
    "lower max_rank or leaf_size": "lower --max-rank",
    ", or standardize y (sklearn.compose.TransformedTargetRegressor)": "",
}
"""Other replacements."""

ADVICE = {
    "MAX_ITER": "--resume continues; raise --tol if the gap is acceptable.",
    "MAX_TIME": "--resume continues; raise --max-time, or --tol if the gap is acceptable.",
    "STOPPED": "--resume continues.",
    "FEWER_TREES": "--resume adds the missing trees.",
    "MAX_WORK": "Refinement reached its work limit; use --refine yes, or raise --tol.",
    "PRECISION": "float32 is not precise enough for a smaller gap; raise --tol, or use --double.",
    "STALLED": "The gap no longer decreases; raise --tol, use --scale standard, or lower --C.",
    "MEMORY_LIMIT": "Refinement needs more memory; raise --memory-limit or --tol.",
}
"""What to do about the status of a fit."""

_NAME = re.compile(
    r"(?<![\w./\\'-])(" + "|".join(sorted(OPTIONS, key=len, reverse=True)) + r")"
    r"(?:=(?P<value>'[^']*'|\"[^\"]*\"|None|[\w.]+)|(?P<must> must )|(?![\w/\\'-]|\.\w))"
)


def in_options(message: str) -> str:
    """Replace the parameters in a message by options.

    Examples
    --------
    >>> from hssvm.cli.messages import in_options
    >>> in_options("lower max_rank, or try scaling='standard'")
    'lower --max-rank, or try --scale standard'
    """
    for phrase, replacement in PHRASES.items():
        message = message.replace(phrase, replacement)

    def option(match: re.Match[str]) -> str:
        name, value = match[1], match["value"]
        if value is not None:
            bare = value.strip("'\"") if re.fullmatch(r"['\"]?[\w.-]+['\"]?", value) else value
            return f"{OPTIONS[name]} {'none' if value == 'None' else bare}"
        if match["must"]:
            return f"{OPTIONS[name]} must "
        return name if name in WORDS else OPTIONS[name]

    return _NAME.sub(option, message)


def print_line(console: Console, message: str) -> None:
    """Print one line without wrapping or highlighting."""
    line = Text.assemble(("hssvm: ", "bold"), message)
    console.print(line, soft_wrap=True, highlight=False)


@contextmanager
def warnings_as_lines(console: Console) -> Iterator[None]:
    """Context that prints warnings as single lines, except those that the summary shows."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        print_line(console, in_options(str(message)))

    with warnings.catch_warnings():
        for status in Status:
            warnings.filterwarnings("ignore", re.escape(status.value), ConvergenceWarning)
        # columns have already been matched by name
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.showwarning = show
        yield
