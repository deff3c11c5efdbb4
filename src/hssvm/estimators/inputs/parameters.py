"""Validation of the parameters of the estimators.

A rule is a list of alternatives. The error for a value that none of them accepts names the
parameter, the accepted values, and the value. Scalars may be Python or NumPy scalars, or
zero-dimensional arrays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hssvm.messages import Message, api
from hssvm.training.approximation import HSS, Cells
from hssvm.training.data.scaling import SCALINGS
from hssvm.training.scales.scaling import LEARNED


class InvalidParameterError(ValueError, TypeError):
    """A parameter has an invalid value; like scikit-learn's error of the same name.

    Examples
    --------
    >>> from hssvm import SVC
    >>> SVC(C="1").fit([[0.0], [1.0]], [0, 1])
    Traceback (most recent call last):
        ...
    hssvm.estimators.inputs.parameters.InvalidParameterError: C must be a positive number, got '1'
    """

    def __init__(self, text: str) -> None:
        super().__init__(Message(text))


class Alternative(NamedTuple):
    """A kind of value that a parameter accepts: its description and a test."""

    text: str
    accepts: Callable[[Any], bool]


Rule = Sequence[Alternative]


def as_scalar(value: Any) -> Any:
    """Convert NumPy scalars and zero-dimensional arrays to Python values."""
    is_numpy = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if is_numpy else value


def number(text: str, holds: Callable[[Any], bool]) -> Alternative:
    """Return an alternative that accepts finite numbers for which `holds` is true."""

    def accepts(value: Any) -> bool:
        value = as_scalar(value)
        is_number = isinstance(value, int | float | np.floating)
        try:
            return is_number and math.isfinite(value) and holds(value)
        except OverflowError:  # an integer beyond float64
            return False

    return Alternative(text, accepts)


def integer(least: int) -> Alternative:
    """Return an alternative that accepts integers of at least `least`."""

    def accepts(value: Any) -> bool:
        value = as_scalar(value)
        return isinstance(value, int) and value >= least

    return Alternative(f"an integer of at least {least}", accepts)


def word(known: str) -> Alternative:
    """Return an alternative that accepts only this string."""

    def accepts(value: Any) -> bool:
        value = as_scalar(value)
        return isinstance(value, str) and value == known

    return Alternative(repr(known), accepts)


def sequence(text: str, item: Rule) -> Alternative:
    """Return an alternative that accepts non-empty sequences whose items all follow a rule."""

    def accepts(value: Any) -> bool:
        if isinstance(value, str) or np.ndim(value) != 1 or len(value) == 0:
            return False
        return all(follows(one, item) for one in value)

    return Alternative(text, accepts)


def follows(value: Any, rule: Rule) -> bool:
    """Whether an alternative of the rule accepts the value."""
    return any(alternative.accepts(value) for alternative in rule)


def is_class_weight(value: Any) -> bool:
    """Whether `value` maps classes to weights."""
    return isinstance(value, dict) and all(
        follows(weight, [AT_LEAST_0]) for weight in value.values()
    )


UNITS = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
UNITS |= {unit[0] + "iB": 2.0 ** (10 * i) for i, unit in enumerate(UNITS) if i}
SIZE = re.compile(r"\s*(\d+\.?\d*)\s*([KMGT]i?)?B\s*", re.IGNORECASE)


def as_bytes(value: Any) -> float | None:
    """Convert a memory size, a number of bytes or a string such as "4GB", to bytes.

    Examples
    --------
    >>> from hssvm.estimators.inputs.parameters import as_bytes
    >>> as_bytes("4GB"), as_bytes("1.5 GiB"), as_bytes(2e9), as_bytes(None)
    (4000000000.0, 1610612736.0, 2000000000.0, None)
    """
    value = as_scalar(value)
    if value is None:
        return None
    if isinstance(value, str):
        match = SIZE.fullmatch(value)
        assert match is not None  # checked by the rules
        prefix = (match[2] or "").upper().replace("I", "i")
        return float(match[1]) * UNITS[f"{prefix}B"]
    return float(value)


def as_calibrator(probability: Any) -> str | None:
    """Convert the parameter `probability` to the name of a calibrator; None if there is none.

    Examples
    --------
    >>> from hssvm.estimators.inputs.parameters import as_calibrator
    >>> as_calibrator(True), as_calibrator(False), as_calibrator("isotonic")
    ('sigmoid', None, 'isotonic')
    """
    value = as_scalar(probability)
    if isinstance(value, bool):
        return "sigmoid" if value else None
    return None if value is None else str(value)


def is_size(value: Any) -> bool:
    """Whether `value` is a positive memory size such as "4GB"."""
    value = as_scalar(value)
    match = SIZE.fullmatch(value) if isinstance(value, str) else None
    return match is not None and float(match[1]) > 0


NONE = Alternative("None", lambda value: value is None)
BOOL = Alternative("a bool", lambda value: isinstance(as_scalar(value), bool))
POSITIVE = number("a positive number", lambda value: value > 0)
FRACTION = number("a number between 0 and 1", lambda value: 0 < value < 1)
AT_LEAST_0 = number("a number of at least 0", lambda value: value >= 0)
CELLS = Alternative("hssvm.Cells()", lambda value: isinstance(value, Cells))
COMPRESSED = Alternative("hssvm.HSS()", lambda value: isinstance(value, HSS))
CLASS_WEIGHTS = Alternative("a dict from classes to numbers of at least 0", is_class_weight)
RANDOM_STATE = Alternative(
    "a RandomState",
    lambda value: value is np.random or isinstance(value, np.random.RandomState),
)
BYTES = Alternative("a size such as '4GB'", is_size)
POSITIVES = sequence("a non-empty sequence of positive numbers", [POSITIVE])

GAMMA = [word("scale"), word("auto"), POSITIVE]

GAMMAS = sequence("a non-empty sequence of 'scale', 'auto' or positive numbers", GAMMA)

RULES: Mapping[str, Rule] = {
    "C": [POSITIVE],
    "alpha": [POSITIVE],
    "nu": [number("a number above 0 and at most 1", lambda value: 0 < value <= 1)],
    "epsilon": [AT_LEAST_0],
    "quantile": [FRACTION, sequence("a non-empty sequence of such numbers", [FRACTION])],
    "degree": [integer(1)],
    "gamma": GAMMA,
    "coef0": [number("a number of at least 0 (the kernel is indefinite below)", lambda v: v >= 0)],
    "class_weight": [NONE, word("balanced"), CLASS_WEIGHTS],
    "multi_class": [word("auto"), word("ovo"), word("ovr")],
    "probability": [NONE, BOOL, word("sigmoid"), word("isotonic"), word("temperature")],
    "tol": [NONE, POSITIVE],
    "solver": [word("admm"), word("paper")],
    "max_iter": [NONE, integer(1)],
    "refine": [BOOL, word("auto")],
    "max_time": [NONE, POSITIVE],
    "prediction": [word("auto"), word("compressed"), word("exact")],
    "scaling": [NONE, *map(word, filter(None, SCALINGS)), *map(word, LEARNED)],
    "approximation": [NONE, CELLS, COMPRESSED],
    "out_of_fold": [BOOL],
    "memory_limit": [NONE, POSITIVE, BYTES],
    "warm_start": [BOOL],
    "random_state": [NONE, integer(0), RANDOM_STATE],
    "verbose": [BOOL, integer(0)],
}
"""Accepted values of the parameters common to the estimators."""


def check_parameter(name: str, value: Any, rule: Rule) -> None:
    """Raise an error if no alternative of the rule accepts the value."""
    if not follows(value, rule):
        *others, last = (alternative.text for alternative in rule)
        accepted = f"{', '.join(others)} or {last}" if others else last
        raise InvalidParameterError(f"{api:{name}} must be {accepted}, got {value!r}")


def check_parameters(parameters: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise an error for the first parameter that does not follow its rule."""
    for name, value in parameters.items():
        if name in rules:
            check_parameter(name, value, rules[name])


INSTEAD = {
    "n_jobs": "leave it out, fits use all cores; the environment variable OMP_NUM_THREADS, or "
    "threadpoolctl.threadpool_limits, sets the number of threads",
    "cache_size": "use memory_limit='4GB', which limits the memory of all stages",
    "shrinking": "leave it out, the solvers do not need it",
    "beta": "leave it out, the solver chooses the penalty of its iterations",
    "decision_function_shape": "leave it out, it is a parameter of classifiers",
    "break_ties": "leave it out, it is a parameter of classifiers",
}
"""What to do instead of passing parameters that an estimator does not have."""

CLASSIFIER_INSTEAD = {
    **INSTEAD,
    "decision_function_shape": "leave it out, decision values always have the shape of 'ovr'",
    "break_ties": "leave it out, and use decision_function(X).argmax(axis=1) to break ties",
}
"""The same for classifiers."""


def refuse_parameters(owner: str, given: Iterable[str], instead: Mapping[str, str]) -> None:
    """Raise TypeError for the first parameter that has an alternative.

    Examples
    --------
    >>> from hssvm import SVC
    >>> SVC(shrinking=False)
    Traceback (most recent call last):
        ...
    TypeError: SVC has no parameter 'shrinking': leave it out, the solvers do not need it
    """
    for name in given:
        if name in instead:
            raise TypeError(f"{owner} has no parameter {name!r}: {instead[name]}")
