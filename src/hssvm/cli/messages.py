"""Messages of the library in words of the command line."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text
from sklearn.exceptions import ConvergenceWarning

from hssvm.messages import Message
from hssvm.solvers import Status
from hssvm.training.data import checks

OPTIONS = {
    "C": "--C", "Cs": "--Cs", "categorical": "--categorical", "class_weight": "--class-weight",
    "coef0": "--coef0", "cv": "--folds", "degree": "--degree", "epsilon": "--epsilon",
    "format": "--format", "gamma": "--gamma", "gammas": "--gammas", "ignored": "--ignore",
    "kernel": "--kernel", "loss": "--loss", "max_members": "--max-members",
    "max_rank": "--max-rank", "max_time": "--max-time", "multi_class": "--multi-class",
    "n_trees": "--trees", "size": "--cell-size", "memory_limit": "--memory-limit", "nu": "--nu",
    "numeric": "--numeric", "probability": "--probability", "quantile": "--quantile",
    "random_state": "--seed", "n_features": "--features", "range_path": "--range",
    "refine": "--refine", "sample_weight": "--sample-weight", "scaling": "--scale",
    "scoring": "--scoring", "separator": "--separator", "target": "--target", "tol": "--tol",
    "warm_start": "--resume",
}  # fmt: skip
"""Options by parameter of the library."""

PHRASES = {
    "SVC": "--task svc",
    "SVR": "--task svr",
    "max_rank or leaf_size": "--max-rank",
    "n_trees=None": "leave out --trees",
    "pass X.toarray()": "pass a CSV file",
    "pass X in float32": "leave out --double",
    "pass X in float64": "use --double",
    "read with dtype=np.float64": "use --double",
    "set probability=None": "leave out --probability",
    "with probability=None": "without --probability",
    "output='log_odds'": "--log-odds",
    "warm_start=False": "leave out --resume",
    "or name the column of labels by target": (
        "leave out the column by --ignore, or name the column of labels by --target"
    ),
    ", or pass target=False if it is a feature": "",
    ", or standardize y (sklearn.compose.TransformedTargetRegressor)": "",
}
"""Other replacements of marked words."""

VALUES = {"True": "yes", "False": "no", "None": "none"}

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


def as_option(words: str) -> str:
    """Return the option for words of the Python API; unknown words are returned unchanged.

    Examples
    --------
    >>> from hssvm.cli.messages import as_option
    >>> as_option("max_rank"), as_option("scaling='standard'"), as_option("leaf_size")
    ('--max-rank', '--scale standard', 'leaf_size')
    """
    if words in PHRASES:
        return PHRASES[words]
    name, _, value = words.partition("=")
    if name not in OPTIONS or not value:
        return OPTIONS.get(name, words)
    shown = VALUES.get(value) or shlex.quote(value.strip("[]\"'"))
    return f"{OPTIONS[name]} {shown}"


def in_options(said: str | Exception) -> str:
    """Return a message, or the message of an error or a warning, in words of the command line."""
    message = said.args[0] if isinstance(said, Exception) and said.args else said
    return message.reworded(as_option) if isinstance(message, Message) else str(said)


ADVICE_BY_TEXT = {status.value: ADVICE[status.name] for status in Status if status.name in ADVICE}
ADVICE_BY_TEXT |= {
    text: in_options(text) for text in vars(checks).values() if isinstance(text, Message)
}
"""Advice by its text in model files, which has no marks."""


def print_line(console: Console, message: str) -> None:
    """Print one line without wrapping or highlighting."""
    line = Text.assemble(("hssvm: ", "bold"), message)
    console.print(line, soft_wrap=True, highlight=False)


@contextmanager
def warnings_as_lines(console: Console) -> Iterator[None]:
    """Context that prints warnings as single lines, except those that the summary shows."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        print_line(console, in_options(message))

    with warnings.catch_warnings():
        for status in Status:
            warnings.filterwarnings("ignore", re.escape(status.value), ConvergenceWarning)
        # columns have already been matched by name
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.showwarning = show
        yield
