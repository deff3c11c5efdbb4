"""Estimators at the end of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


def final_step(estimator: Any) -> Any:
    """The last step of a scikit-learn pipeline; any other estimator itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def transformed(estimator: Any, X: Any) -> Any:
    """`X` as the last step of a pipeline sees it, as an array or sparse matrix."""
    if len(getattr(estimator, "steps", ())) > 1:
        X = estimator[:-1].transform(X)
    return X if scipy.sparse.issparse(X) else np.asarray(X)
