"""Predictors as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.hss import ClusterTree
from hssvm.hss.hashing import cut_width
from hssvm.kernels import Kernel, Polynomial
from hssvm.kernels.base import Rows, as_rows, require_finite
from hssvm.persistence.archive import require
from hssvm.predict import ExpansionPredictor, LeafwisePredictor

MAX_DEGREE = 1000
"""Of a polynomial kernel. The core multiplies as often, so a file could ask for years of it."""

Predictor = LeafwisePredictor | ExpansionPredictor
Arrays = dict[str, NDArray[Any]]


def pack_predictor(predictor: Predictor) -> tuple[dict[str, Any], Arrays]:
    """Return what goes into the document of a file, and the arrays."""
    fields, arrays = _pack_rows(predictor.X)
    if isinstance(predictor, ExpansionPredictor):
        return {"predictor": "expansion", **fields}, {**arrays, "W": predictor.Z}
    tree = predictor.tree
    return {"predictor": "leafwise", **fields}, {
        **arrays,
        "W": predictor.weights,
        "ends": predictor.ends,
        "directions": tree.directions,
        "thresholds": tree.thresholds,
    }


def unpack_predictor(fields: dict[str, Any], kernel: Kernel, arrays: Arrays) -> Predictor:
    """Take the arrays of a predictor out of `arrays`; ValueError if they do not fit together."""
    _check_kernel(kernel)
    X = _unpack_rows(fields, arrays)
    W = arrays.pop("W")
    fits = W.dtype == X.dtype and W.ndim == 2 and W.shape[0] == X.shape[0] and W.shape[1] >= 1
    require(fits, "W does not fit X")
    require(np.isfinite(W).all(), "W has NaN or infinite entries")
    if fields["predictor"] == "expansion":
        return ExpansionPredictor(kernel, X, W)
    require(fields["predictor"] == "leafwise", "its kind of predictor is unknown")
    tree = _unpack_tree(X, arrays)
    ends = arrays.pop("ends")
    fits = ends.dtype == np.int64 and ends.shape == (tree.n_leaves + 1,)
    require(fits, "ends does not fit the cuts of the tree")
    _require_offsets("ends", ends, X.shape[0])
    return LeafwisePredictor.restore(kernel, X, W, ends, tree)


def _check_kernel(kernel: Kernel) -> None:
    require(isinstance(kernel, Kernel), "its kernel is none")
    if isinstance(kernel, Polynomial):
        require(kernel.degree <= MAX_DEGREE, f"the degree of its kernel is above {MAX_DEGREE}")
    kernel.block(np.zeros((1, 1)))  # TypeError here for numbers that are none to the core


def _unpack_tree(X: Rows, arrays: Arrays) -> ClusterTree:
    directions, thresholds = arrays.pop("directions"), arrays.pop("thresholds")
    depth = (thresholds.size + 1).bit_length() - 1
    n_cuts = 2**depth - 1
    fits = directions.dtype == thresholds.dtype == X.dtype and thresholds.shape == (n_cuts,)
    # Cuts of wide rows that were saved before columns were hashed have all of them.
    widths = (X.shape[1], cut_width(X))
    fits = fits and directions.ndim == 2 and directions.shape[1] in widths
    require(fits and directions.shape[0] == n_cuts, "the cuts of the tree do not fit")
    perm = np.empty(0, np.int64)
    return ClusterTree(perm, depth, directions, thresholds, n_features=X.shape[1])


def _pack_rows(X: Rows) -> tuple[dict[str, Any], Arrays]:
    X = as_rows(X)
    n_features = int(X.shape[1])
    if not scipy.sparse.issparse(X):
        return {"rows": "dense", "n_features": n_features}, {"X": X}
    kind = "csr_matrix" if isinstance(X, scipy.sparse.spmatrix) else "csr_array"
    return {"rows": kind, "n_features": n_features}, {
        "X_data": X.data,
        "X_indices": X.indices.astype(np.int32, copy=False),
        "X_indptr": X.indptr.astype(np.int64, copy=False),
    }


def _unpack_rows(fields: dict[str, Any], arrays: Arrays) -> Rows:
    kind, n_features = fields["rows"], fields["n_features"]
    require(type(n_features) is int and 0 < n_features < 2**31, "n_features is out of range")
    if kind == "dense":
        X = arrays.pop("X")
        require(X.ndim == 2 and X.shape[1] == n_features, "X does not fit n_features")
    else:
        require(kind in ("csr_matrix", "csr_array"), "its kind of rows is unknown")
        X = _unpack_csr(getattr(scipy.sparse, kind), n_features, arrays)
    require(X.dtype.kind == "f", "X is not of floats")
    require_finite(X)
    return X


def _unpack_csr(csr: Any, n_features: int, arrays: Arrays) -> Rows:
    data, indices, indptr = (arrays.pop(f"X_{part}") for part in ("data", "indices", "indptr"))
    fits = indices.dtype == np.int32 and indptr.dtype == np.int64
    fits = fits and data.ndim == indices.ndim == indptr.ndim == 1 and indices.size == data.size
    require(fits, "the parts of X do not fit")
    _require_offsets("X_indptr", indptr, data.size)
    inside = np.all((indices >= 0) & (indices < n_features))
    require(inside, "X_indices has columns that X does not have")
    X = csr((data, indices, indptr), shape=(indptr.size - 1, n_features))
    require(X.has_canonical_format, "the columns of X are not in order")
    return X


def _require_offsets(name: str, offsets: NDArray[np.int64], last: int) -> None:
    # no np.diff: it may overflow
    fits = offsets.size > 0 and offsets[0] == 0 and offsets[-1] == last
    require(fits and np.all(offsets[1:] >= offsets[:-1]), f"{name} does not fit")
