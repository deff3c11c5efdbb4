"""Which values the parameters of the estimators accept.

A rule is a list of alternatives. The error for a value that none of them accepts names the
parameter, what it accepts, and the value. Scalars may be Python's, NumPy's or arrays of no
dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import numpy as np

from hssvm.estimators.scaling import SCALINGS
from hssvm.hss import Strategy

P = ParamSpec("P")


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a value that it does not accept; scikit-learn's error of this name is alike.

    Examples
    --------
    >>> from hssvm import SVC
    >>> SVC(C="1").fit([[0.0], [1.0]], [0, 1])
    Traceback (most recent call last):
        ...
    hssvm.estimators.parameters.InvalidParameterError: C must be a positive number, got '1'
    """


class Alternative(NamedTuple):
    """A kind of value that a parameter accepts, in words and as a test."""

    text: str
    accepts: Callable[[Any], bool]


Rule = Sequence[Alternative]


def as_scalar(value: Any) -> Any:
    """Return NumPy's scalars, and arrays of no dimension, as values of Python."""
    is_numpy = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if is_numpy else value


def number(text: str, holds: Callable[[Any], bool]) -> Alternative:
    """Return the alternative of finite numbers for which `holds` is true."""

    def accepts(value: Any) -> bool:
        value = as_scalar(value)
        is_number = isinstance(value, int | float | np.floating)
        try:
            return is_number and math.isfinite(value) and holds(value)
        except OverflowError:  # an integer beyond float64
            return False

    return Alternative(text, accepts)


def integer(least: int) -> Alternative:
    """Return the alternative of integers that are not below `least`."""

    def accepts(value: Any) -> bool:
        value = as_scalar(value)
        return isinstance(value, int) and value >= least

    return Alternative(f"an integer of at least {least}", accepts)


def word(known: str) -> Alternative:
    """Return the alternative of this string."""

    def accepts(value: Any) -> bool:
        value = as_scalar(value)
        return isinstance(value, str) and value == known

    return Alternative(repr(known), accepts)


def sequence(text: str, item: Rule) -> Alternative:
    """Return the alternative of sequences of at least one item, which all follow a rule."""

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


NONE = Alternative("None", lambda value: value is None)
BOOL = Alternative("a bool", lambda value: isinstance(as_scalar(value), bool))
POSITIVE = number("a positive number", lambda value: value > 0)
AT_LEAST_0 = number("a number of at least 0", lambda value: value >= 0)
STRATEGY = Alternative(
    "a strategy of hssvm.hss such as NeighbourInterpolation()",
    lambda value: isinstance(value, Strategy),
)
CLASS_WEIGHTS = Alternative("a dict from classes to numbers of at least 0", is_class_weight)
RANDOM_STATE = Alternative(
    "a RandomState",
    lambda value: value is np.random or isinstance(value, np.random.RandomState),
)
POSITIVES = sequence("a non-empty sequence of positive numbers", [POSITIVE])

GAMMA = [word("scale"), word("auto"), POSITIVE]

RULES: Mapping[str, Rule] = {
    "C": [POSITIVE],
    "nu": [number("a number above 0 and at most 1", lambda value: 0 < value <= 1)],
    "epsilon": [AT_LEAST_0],
    "degree": [integer(1)],
    "gamma": GAMMA,
    "coef0": [number("a number of at least 0 (the kernel is indefinite below)", lambda v: v >= 0)],
    "class_weight": [NONE, word("balanced"), CLASS_WEIGHTS],
    "tol": [NONE, POSITIVE],
    "max_iter": [integer(1)],
    "beta": [NONE, word("paper"), POSITIVE],
    "refine": [BOOL, word("auto")],
    "max_time": [NONE, POSITIVE],
    "cache_size": [POSITIVE],
    "prediction": [word("auto"), word("leafwise"), word("exact")],
    "scaling": [NONE, *map(word, filter(None, SCALINGS))],
    "leaf_size": [integer(2)],
    "max_rank": [NONE, integer(1)],
    "rtol": [number("a number of at least 0 and below 1", lambda value: 0 <= value < 1)],
    "surplus": [AT_LEAST_0],
    "compression": [NONE, STRATEGY],
    "memory_limit": [NONE, POSITIVE],
    "warm_start": [BOOL],
    "random_state": [NONE, integer(0), RANDOM_STATE],
    "verbose": [BOOL, integer(0)],
}
"""What the parameters that estimators share accept."""


def check_parameter(name: str, value: Any, rule: Rule) -> None:
    """Raise an error if no alternative of the rule accepts the value."""
    if not follows(value, rule):
        *others, last = (alternative.text for alternative in rule)
        accepted = f"{', '.join(others)} or {last}" if others else last
        raise InvalidParameterError(f"{name} must be {accepted}, got {value!r}")


def check_parameters(parameters: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise an error for the first of the parameters that has a rule and does not follow it."""
    for name, value in parameters.items():
        if name in rules:
            check_parameter(name, value, rules[name])


INSTEAD = {
    "probability": "calibrate the classifier: CalibratedClassifierCV(SVC()), or "
    "CalibratedClassifierCV(FrozenEstimator(model)) for a fitted one, both of scikit-learn",
    "shrinking": "leave it out, the solvers do not need it",
    "decision_function_shape": "leave it out, decision values are always those of 'ovr'; for 'ovo' "
    "use OneVsOneClassifier(SVC()) of scikit-learn",
    "break_ties": "leave it out, the class with the largest decision value always wins",
}
"""What to do without a parameter of `sklearn.svm`."""


def without(*names: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Decorate an `__init__`: parameters of `sklearn.svm` that it lacks raise a helpful error.

    The signature, which scikit-learn reads, stays that of the decorated function.

    Examples
    --------
    >>> from hssvm import SVC
    >>> SVC(shrinking=False)
    Traceback (most recent call last):
        ...
    TypeError: SVC has no parameter 'shrinking': leave it out, the solvers do not need it
    """

    def decorate(init: Callable[P, None]) -> Callable[P, None]:
        @wraps(init)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
            for name in names:
                if name in kwargs:
                    kind = type(args[0]).__name__
                    raise TypeError(f"{kind} has no parameter {name!r}: {INSTEAD[name]}")
            init(*args, **kwargs)

        return wrapped

    return decorate
