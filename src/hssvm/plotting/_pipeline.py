"""Access to the final estimator of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


def final_step(estimator: Any) -> Any:
    """Return the last step of a scikit-learn pipeline, or the estimator itself."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def transformed(estimator: Any, X: Any) -> Any:
    """Return the input of the last step of a pipeline, as an array or sparse matrix."""
    if len(getattr(estimator, "steps", ())) > 1:
        X = estimator[:-1].transform(X)
    return X if scipy.sparse.issparse(X) else np.asarray(X)
