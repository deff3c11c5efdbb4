"""Access to the final estimator of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


def final_step(estimator: Any) -> Any:
    """Return the last step of a scikit-learn pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def step_before(estimator: Any) -> Any:
    """Return the last but one step of a pipeline; None if there is none."""
    steps: Any = getattr(estimator, "steps", ())
    return steps[-2][1] if len(steps) > 1 else None


def transformed(estimator: Any, X: Any) -> Any:
    """Return the input of the last step of a pipeline, as an array or sparse matrix."""
    if len(getattr(estimator, "steps", ())) > 1:
        X = estimator[:-1].transform(X)
    return X if scipy.sparse.issparse(X) else np.asarray(X)
