"""Folds that cannot be trained."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from hssvm.estimators.monitoring.warn import warn
from hssvm.model_selection.fold_models import FoldTask
from hssvm.model_selection.folds import Folds


def find_failed_folds(
    folds: Folds, task: FoldTask, error_score: Any, *, allow_nan: bool
) -> frozenset[int]:
    """Return the folds that cannot be trained, with a warning, or raise ValueError.

    Parameters
    ----------
    folds : Folds
    task : FoldTask
    error_score : float or 'raise'
        The score of such folds.
    allow_nan : bool
        Whether a candidate whose score in some folds is NaN can be chosen.
    """
    reasons = {f: task.why_untrainable(train) for f, (train, _) in enumerate(folds.splits)}
    failed = {f: reason for f, reason in reasons.items() if reason is not None}
    if not failed:
        return frozenset()
    first, reason = next(iter(failed.items()))
    message = (
        f"fold {first} of cv cannot be trained, as its training rows {reason}; pass fewer folds, "
        "or another cv, such as StratifiedKFold for classes"
    )
    if isinstance(error_score, str) or len(failed) == len(reasons):
        raise ValueError(message)
    if np.isnan(error_score) and not allow_nan:
        raise ValueError(f"{message}, or set error_score to a number")
    count = f"{len(failed)} of {len(reasons)} folds failed"
    warn(f"{count}, and the score is {error_score}: {message}.", FitFailedWarning)
    return frozenset(failed)


def warn_about_missing_classes(
    folds: Folds,
    failed_folds: frozenset[int],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
) -> None:
    """Warn if a fold trains without rows of a class; rows without a class have the code -1."""
    for f, (train, _) in enumerate(folds.splits):
        missing = np.setdiff1d(np.arange(classes.size), codes[train])
        if missing.size and f not in failed_folds:
            warn(
                f"A fold trains without rows of class {classes.tolist()[missing[0]]!r}, and cannot "
                "predict it; pass fewer folds, or a splitter that distributes the classes, such as "
                "StratifiedKFold.",
                UserWarning,
            )
            return
