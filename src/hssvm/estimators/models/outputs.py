"""The outputs of a model that are linear in the values of its columns."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.inputs.parameters import check_parameter, word
from hssvm.kernels.indexed import IndexedKernel
from hssvm.kernels.wide import MAX_TABLE
from hssvm.messages import api, value_error

if TYPE_CHECKING:
    from hssvm.estimators.models.model import KernelModel

OUTPUTS = ("decision", "log_odds", "pairs")


class Output(NamedTuple):
    """The map from the values of the columns to the outputs: ``factor * (f @ mixing) + constant``.

    Attributes
    ----------
    names : list of str or None
        None if there is one output.
    mixing : (k, n_outputs) or None
        None if every column is an output.
    factor, constant : float
    """

    names: list[str] | None
    mixing: NDArray[np.float64] | None = None
    factor: float = 1.0
    constant: float = 0.0


def outputs_of(model: KernelModel, output: str) -> Output:
    """Return the map to an output of `explain`; ValueError if the model does not have it."""
    check_parameter("output", output, [word(name) for name in OUTPUTS])
    classes = getattr(model, "classes_", None)
    if output == "log_odds":
        return Output(None, None, *_log_odds(model, classes))
    first: Any = model._averaged[0]  # noqa: SLF001
    pairwise = classes is not None and classes.size > 2 and first.multi_class_ == "ovo"
    if output == "pairs":
        if not pairwise:
            raise value_error(
                "output='pairs' is for more than two classes that are trained one-vs-one; "
                "leave it out, or fit with multi_class='ovo'"
            )
        assert classes is not None
        return Output([f"{one} against {other}" for one, other in combinations(classes, 2)])
    if classes is None or classes.size == 2:
        return Output(model._output_names)  # noqa: SLF001
    names = list(map(str, classes.tolist()))
    return Output(names, _sums_of_pairs(classes.size) if pairwise else None)


def require_features(model: KernelModel, what: str) -> None:
    """Raise ValueError if points have no features, or too many for an array of them."""
    kernel = model._averaged[0].kernel_  # noqa: SLF001
    if isinstance(kernel, IndexedKernel):
        raise ValueError(f"{what} needs features, and the points of {kernel!r} have none")
    if (n_features := model.n_features_in_) > MAX_TABLE:
        raise value_error(
            f"{what} returns a number for every column, and X has {n_features} columns; hash the "
            "features to fewer columns"
        )


def _sums_of_pairs(n_classes: int) -> NDArray[np.float64]:
    """The matrix that sums the values of pairs by class, (n_pairs, n_classes)."""
    mixing = np.zeros((n_classes * (n_classes - 1) // 2, n_classes))
    for pair, (one, other) in enumerate(combinations(range(n_classes), 2)):
        mixing[pair, one], mixing[pair, other] = 1.0, -1.0
    return mixing


def _log_odds(model: Any, classes: NDArray[Any] | None) -> tuple[float, float]:
    """Factor and constant from the decision value to the logarithm of the odds."""
    if classes is None:
        raise value_error(
            f"{type(model).__name__} has no probabilities; leave out {api:output='log_odds'}"
        )
    if classes.size > 2:
        raise value_error(
            f"{api:output='log_odds'} is for two classes, and the model has {classes.size}; leave "
            "it out to explain the decision values of each class"
        )
    if model.calibration_ is None:
        raise value_error(
            f"{api:output='log_odds'} needs probabilities; fit with {api:probability='sigmoid'}"
        )
    method, curves = model.calibration_
    if method == "isotonic":
        raise value_error(
            f"{api:probability='isotonic'} is a step function, whose log-odds have no Shapley "
            f"values that follow from decision values; fit with {api:probability='sigmoid'}"
        )
    if method == "temperature":  # softmax of -beta f and beta f
        return 2 * float(curves[0][0]), 0.0
    slope, intercept = curves[0]
    return -float(slope), -float(intercept)
