"""What the library says, in the words of the command line."""

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
    "memory_limit": "--memory-limit", "nu": "--nu", "random_state": "--seed",
    "refine": "--refine", "sample_weight": "--sample-weight", "scaling": "--scale",
    "scoring": "--scoring", "separator": "--separator", "target": "--target", "tol": "--tol",
    "warm_start": "--resume",
}  # fmt: skip
"""Options by the parameters of the library."""

WORDS = {"C", "cv", "format", "kernel", "nu", "refine", "separator", "scaling", "target"}
"""Parameters that are also words: options only where something is said of their value."""

PHRASES = {
    ", or pass target=False if it is a feature": "",
    "read with dtype=np.float64": "use --double",
    "give X in float64": "use --double",
    "give X in float32": "leave out --double",
    "refine=True": "--refine yes",
    "refine=False": "--refine no",
    "warm_start=True": "--resume",
    "use SVR for regression": "use --task svr for regression",
    "use SVC for classification": "use --task svc for classification",
    "column of labels by target": "column of labels by --target",
    "lower max_rank or leaf_size": "lower --max-rank",
    ", or standardize y (sklearn.compose.TransformedTargetRegressor)": "",
}

ADVICE = {
    "MAX_ITER": "--resume continues; raise --tol if the gap will do.",
    "MAX_TIME": "--resume continues; raise --max-time, or --tol if the gap will do.",
    "STOPPED": "--resume continues.",
    "MAX_WORK": "Refinement has taken long enough: --refine yes lets it finish, or raise --tol.",
    "PRECISION": "Rounding errors keep the gap from falling: raise --tol, or use --double.",
    "STALLED": "The gap no longer falls: raise --tol, try --scale standard, or lower --C.",
    "CACHE_SIZE": "Too many rows for the memory of refinement: raise --tol, or use --refine no.",
}
"""What to do about the status of a fit."""

_NAME = re.compile(
    r"(?<![\w./\\'-])(" + "|".join(sorted(OPTIONS, key=len, reverse=True)) + r")"
    r"(?:=(?P<value>'[^']*'|\"[^\"]*\"|None|[\w.]+)|(?P<said> must )|(?![\w/\\'-]|\.\w))"
)


def in_options(message: str) -> str:
    """Replace the parameters in a message by options.

    Examples
    --------
    >>> from hssvm.cli.messages import in_options
    >>> in_options("lower max_rank, or try scaling='standard'")
    'lower --max-rank, or try --scale standard'
    """
    for phrase, ours in PHRASES.items():
        message = message.replace(phrase, ours)

    def option(match: re.Match[str]) -> str:
        name, value = match[1], match["value"]
        if value is not None:
            bare = value.strip("'\"") if re.fullmatch(r"['\"]?[\w.-]+['\"]?", value) else value
            return f"{OPTIONS[name]} {'none' if value == 'None' else bare}"
        if match["said"]:
            return f"{OPTIONS[name]} must "
        return name if name in WORDS else OPTIONS[name]

    return _NAME.sub(option, message)


def tell(console: Console, message: str) -> None:
    """Write one line, as it is."""
    line = Text.assemble(("hssvm: ", "bold"), message)
    console.print(line, soft_wrap=True, highlight=False)


@contextmanager
def warnings_as_lines(console: Console) -> Iterator[None]:
    """Context in which a warning is one line; how a fit ended is left to the summary."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        tell(console, in_options(str(message)))

    with warnings.catch_warnings():
        for status in Status:
            warnings.filterwarnings("ignore", re.escape(status.value), ConvergenceWarning)
        # columns are matched by name before the estimator sees them
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.showwarning = show
        yield
