"""What a fitted model consists of, as plain arrays from which both exports are made.

A model is the mean of its members, usually one. A member on the exact kernel is a forest of one
tree with one leaf, so there is only one form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels import Exponential, Gaussian, Laplacian, Linear, Matern32, Matern52, Polynomial
from hssvm.kernels.base import Floats, Kernel
from hssvm.messages import api, value_error
from hssvm.predictors import Predictor
from hssvm.problems.pairs import pair_offsets

Arrays = dict[str, NDArray[Any]]

EXPORTED_KERNELS = {
    Gaussian: "gaussian",
    Laplacian: "laplacian",
    Exponential: "exponential",
    Matern32: "matern32",
    Matern52: "matern52",
    Polynomial: "polynomial",
    Linear: "linear",
}
"""The kernels that other programs can evaluate, and their names."""

MAX_EXPORTED_FEATURES = 2**24
"""Number of features with which a dense row in float64 needs 128 MB."""


class Contents(NamedTuple):
    """The arrays of a fitted model.

    Attributes
    ----------
    common : dict
        ``task``, ``n_features``, ``classes``, ``one_vs_one``, ``calibration`` and its ``curve_0``,
        ...; ``n_outputs``, of regressions; ``quantile_ranks``, if predictions are several
        quantiles.
    members : list of dict
        Of each member ``kernel`` and its parameters; ``shift`` and ``factor`` of the features, and
        ``quantiles`` if these are normal scores; ``X``, or ``X_data``, ``X_indices`` and
        ``X_indptr``; for each of ``n_trees`` trees ``rows_0``, ``ends_0``, ``weights_0``,
        ``constants_0``, ``directions_0`` and ``thresholds_0`` as in
        `hssvm.predictors.LeafExpansions`; ``clip`` and ``intercept``.
    """

    common: Arrays
    members: list[Arrays]


def contents_of(model: Any, members: Sequence[tuple[Any, Predictor]]) -> Contents:
    """Return the arrays of a fitted model; ValueError if they cannot express it.

    Parameters
    ----------
    model : SVC, SVCCV, SVR, SVRCV, QuantileSVR, QuantileSVRCV, CensoredSVR, KernelRidge, \
GaussianProcessRegressor or OneClassSVM
    members : sequence of (estimator, predictor)
        The models of which this one is the mean, and what they predict with.
    """
    common = {
        "n_features": np.array(model.n_features_in_),
        "task": np.array(_task(model)),
        "one_vs_one": np.array(getattr(members[0][0], "_one_vs_one", False)),
        "calibration": np.array("none"),
        "n_outputs": np.array(members[0][0].intercept_.size),
    }
    if (ranks := quantile_ranks(model)) is not None:
        common["quantile_ranks"] = ranks
    if hasattr(model, "classes_"):
        common["classes"] = labels_of(model)
        if model.calibration_ is not None:
            method, curves = model.calibration_
            common["calibration"] = np.array(method)
            common.update({f"curve_{j}": curve for j, curve in enumerate(curves)})
    return Contents(common, [_member_arrays(*member) for member in members])


def _member_arrays(model: Any, predictor: Predictor) -> Arrays:
    n_features = model.n_features_in_
    if n_features > MAX_EXPORTED_FEATURES:
        raise ValueError(
            f"exported models predict dense rows, and this model has {n_features} features; hash "
            f"the features to at most {MAX_EXPORTED_FEATURES} columns before fitting"
        )
    shift, factor = model.feature_shift_, model.feature_factor_
    arrays = {
        **_kernel_arrays(predictor.kernel),
        **_point_arrays(predictor.X),
        "clip": np.array(predictor.clip),
        "shift": np.zeros(n_features) if shift is None else shift,
        "factor": np.ones(n_features) if factor is None else factor,
        "intercept": model.intercept_,
    }
    if model.feature_quantiles_ is not None:
        arrays["quantiles"] = model.feature_quantiles_
    trees = list(predictor.leaf_arrays())
    arrays["n_trees"] = np.array(len(trees))
    for index, tree in enumerate(trees):
        _require_all_columns(tree.directions, n_features)
        weights = tree.weights
        if predictor.exact is not None and predictor.exact.counts is not None:
            weights = pair_weights(weights, predictor.exact.counts)
        constants = np.zeros((tree.ends.size - 1, weights.shape[1]), weights.dtype)
        arrays[f"rows_{index}"] = tree.rows.astype(np.int64)
        arrays[f"ends_{index}"] = tree.ends
        arrays[f"weights_{index}"] = weights
        arrays[f"constants_{index}"] = constants if tree.constants is None else tree.constants
        arrays[f"directions_{index}"] = tree.directions
        arrays[f"thresholds_{index}"] = tree.thresholds
    return arrays


def pair_weights(Z: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return the weights of all pairs, (n, n_pairs), from the packed ones of each row's class."""
    n_classes = counts.size
    offsets, ends = pair_offsets(n_classes), np.cumsum(counts)
    weights: Floats = np.zeros((Z.shape[0], n_classes * (n_classes - 1) // 2), Z.dtype)
    for c in range(n_classes):
        own = slice(ends[c] - counts[c], ends[c])
        weights[own, offsets[c] : offsets[c + 1]] = Z[own, c:]
        weights[own, offsets[:c] + np.arange(c - 1, -1, -1)] = Z[own, :c]
    return weights


def _task(model: Any) -> str:
    if hasattr(model, "classes_"):
        return "classification"
    return "novelty" if hasattr(model, "offset_") else "regression"


def _kernel_arrays(kernel: Kernel) -> Arrays:
    if type(kernel) not in EXPORTED_KERNELS:
        names = ", ".join(cls.__name__ for cls in EXPORTED_KERNELS)
        raise ValueError(f"{kernel!r} cannot be exported; fit with one of {names}")
    return {
        "kernel": np.array(EXPORTED_KERNELS[type(kernel)]),
        "gamma": np.array(float(getattr(kernel, "gamma", 1.0))),
        "coef0": np.array(float(getattr(kernel, "coef0", 0.0))),
        "degree": np.array(int(getattr(kernel, "degree", 1))),
    }


def _point_arrays(X: Any) -> Arrays:
    if not scipy.sparse.issparse(X):
        return {"X": X}
    return {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr.astype(np.int64)}


def quantile_ranks(model: Any) -> NDArray[np.int64] | None:
    """The ranks of several quantiles; None if the model predicts anything else."""
    return getattr(model, "_quantile_ranks", None)


def labels_of(model: Any) -> NDArray[Any]:
    """Return the classes as an array of numbers or strings; ValueError if they are neither."""
    classes = model.classes_
    labels = np.array(classes.tolist()) if classes.dtype == object else classes
    if labels.dtype.kind not in "biufU" or labels.tolist() != classes.tolist():
        raise ValueError(
            "labels must be numbers or strings that do not end with a NUL character to be "
            "exported; convert the labels before fitting"
        )
    return labels


def _require_all_columns(directions: Floats, n_features: int) -> None:
    if directions.shape[1] != n_features:
        raise value_error(
            "compressed models of sparse rows with this many columns cannot be exported; fit "
            f"with {api:refine=True}"
        )
