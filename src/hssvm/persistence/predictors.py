"""Conversion of predictors to arrays and back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.hss import ClusterTree
from hssvm.hss.hashing import cut_width
from hssvm.kernels import ColumnsKernel, Kernel, Polynomial
from hssvm.kernels.base import Rows, as_rows, require_finite
from hssvm.kernels.composite import CombinedKernel
from hssvm.persistence.archive import require
from hssvm.predictors import (
    ExpansionPredictor,
    LeafExpansions,
    LeafwisePredictor,
    PairwisePredictor,
    Predictor,
)

MAX_DEGREE = 1000
"""Maximum degree of a polynomial kernel in a file. The core makes as many multiplications, so a
file could otherwise make predictions take years."""

Arrays = dict[str, NDArray[Any]]


def pack_predictor(predictor: Predictor) -> tuple[dict[str, Any], Arrays]:
    """Return the entries of the JSON document, and the arrays."""
    fields, arrays = _pack_rows(predictor.X)
    return {"predictor": predictor.kind, **fields}, {**arrays, **predictor.stored_arrays()}


def unpack_predictor(fields: dict[str, Any], kernel: Kernel, arrays: Arrays) -> Predictor:
    """Create a predictor, and remove its arrays from `arrays`; ValueError if they are invalid."""
    X = _unpack_rows(fields, arrays)
    _check_kernel(kernel, X)
    W = arrays.pop("W")
    require(W.dtype == X.dtype and W.ndim == 2 and W.shape[1] >= 1, "W does not match X")
    require(np.isfinite(W).all(), "W has NaN or infinite entries")
    if fields["predictor"] == ExpansionPredictor.kind:
        require(W.shape[0] == X.shape[0], "W does not match X")
        return ExpansionPredictor(kernel, X, W)
    if fields["predictor"] == PairwisePredictor.kind:
        counts = arrays.pop("counts")
        n, k = W.shape
        require(n == X.shape[0] and k >= 2, "W does not match X")
        require(counts.dtype == np.int64 and counts.shape == (k + 1,), "counts is invalid")
        inside = np.all((counts >= 0) & (counts <= n))  # else the sum may overflow
        require(inside and counts.sum() == n, "counts is invalid")
        return PairwisePredictor(kernel, X, W, counts)
    require(fields["predictor"] == LeafwisePredictor.kind, "its predictor is unknown")
    trees, clip = _unpack_trees(X, W, arrays), math.inf
    if "constants" in arrays:
        trees, clip = _unpack_cells(trees, arrays)
    return LeafwisePredictor(kernel, X, trees, _unpack_ids(X, arrays), clip)


def _unpack_trees(X: Rows, W: NDArray[Any], arrays: Arrays) -> list[LeafExpansions]:
    rows, ends, intercepts = (arrays.pop(name) for name in ("rows", "ends", "intercepts"))
    directions, thresholds = arrays.pop("directions"), arrays.pop("thresholds")
    require(rows.dtype.kind == "i" and rows.shape == (W.shape[0],), "rows does not match W")
    rows = rows.astype(np.int64)
    require(np.all((rows >= 0) & (rows < X.shape[0])), "rows has invalid row indices")
    n_trees = len(ends)
    valid = n_trees >= 1 and ends.dtype == np.int64 and ends.ndim == 2 and ends.shape[1] >= 2
    require(valid, "ends is invalid")
    valid = len(directions) == len(thresholds) == n_trees
    valid = valid and intercepts.dtype == np.float64 and intercepts.shape == (n_trees, W.shape[1])
    require(valid and np.isfinite(intercepts).all(), "the numbers of trees do not match")
    trees = [_unpack_tree(X, *cuts) for cuts in zip(directions, thresholds, strict=True)]
    valid = all(ends.shape[1] == tree.n_leaves + 1 for tree in trees)
    require(valid, "ends does not match the cuts of the trees")
    expansions, begin = [], 0
    for tree, own_ends, intercept in zip(trees, ends, intercepts, strict=True):
        end = begin + int(own_ends[-1])
        require(begin <= end <= rows.size, "ends is invalid")
        _require_offsets("ends", own_ends, end - begin)
        own = slice(begin, end)
        expansions.append(LeafExpansions(tree, rows[own], own_ends, W[own], intercept))
        begin = end
    require(begin == rows.size, "ends is invalid")
    return expansions


def _unpack_cells(
    trees: list[LeafExpansions], arrays: Arrays
) -> tuple[list[LeafExpansions], float]:
    """Return the trees with the constants of their leaves, and the limit of their values."""
    constants, clip = arrays.pop("constants"), arrays.pop("clip")
    shape = len(trees), trees[0].tree.n_leaves, trees[0].weights.shape[1]
    valid = constants.dtype == trees[0].weights.dtype and constants.shape == shape
    require(valid and np.isfinite(constants).all(), "constants is invalid")
    require(clip.dtype == np.float64 and clip.shape == (1,) and clip[0] > 0, "clip is invalid")
    cells = [replace(tree, constants=own) for tree, own in zip(trees, constants, strict=True)]
    return cells, float(clip[0])


def _unpack_ids(X: Rows, arrays: Arrays) -> NDArray[np.int64] | None:
    ids = arrays.pop("ids", None)
    if ids is None:
        return None
    valid = ids.dtype == np.int64 and ids.shape == (X.shape[0],)
    require(valid and np.unique(ids).size == ids.size, "ids is invalid")
    return ids


def _check_kernel(kernel: Kernel, X: Rows) -> None:
    require(isinstance(kernel, Kernel), "the 'kernel' entry does not describe a kernel")
    _check_degree(kernel)
    shape = (1, X.shape[1])
    row = scipy.sparse.csr_array(shape) if scipy.sparse.issparse(X) else np.zeros(shape)
    kernel.block(row)  # raises TypeError for parameters that the core does not accept


def _check_degree(kernel: Kernel) -> None:
    if isinstance(kernel, Polynomial):
        require(kernel.degree <= MAX_DEGREE, f"the degree of its kernel is above {MAX_DEGREE}")
    if isinstance(kernel, CombinedKernel):
        for part in kernel.kernels:
            _check_degree(part)
    if isinstance(kernel, ColumnsKernel):
        require(isinstance(kernel.kernel, Kernel), "the 'kernel' entry does not describe a kernel")
        _check_degree(kernel.kernel)


def _unpack_tree(X: Rows, directions: NDArray[Any], thresholds: NDArray[Any]) -> ClusterTree:
    depth = (thresholds.size + 1).bit_length() - 1
    n_cuts = 2**depth - 1
    valid = directions.dtype == thresholds.dtype == X.dtype and thresholds.shape == (n_cuts,)
    valid = valid and directions.shape == (n_cuts, cut_width(X))
    require(valid, "the cuts of the tree are invalid")
    perm = np.empty(0, np.int64)
    return ClusterTree(perm, depth, directions, thresholds, n_features=X.shape[1])


def _pack_rows(X: Rows) -> tuple[dict[str, Any], Arrays]:
    X = as_rows(X)
    n_features = int(X.shape[1])
    if not scipy.sparse.issparse(X):
        return {"rows": "dense", "n_features": n_features}, {"X": X}
    kind = "csr_matrix" if isinstance(X, scipy.sparse.spmatrix) else "csr_array"
    return {"rows": kind, "n_features": n_features}, pack_csr(X, "X")


def pack_csr(X: Any, name: str) -> Arrays:
    """Return the arrays of a CSR matrix."""
    return {
        f"{name}_data": X.data,
        f"{name}_indices": X.indices.astype(np.int32, copy=False),
        f"{name}_indptr": X.indptr.astype(np.int64, copy=False),
    }


def _unpack_rows(fields: dict[str, Any], arrays: Arrays) -> Rows:
    kind, n_features = fields["rows"], fields["n_features"]
    require(type(n_features) is int and 0 < n_features < 2**31, "n_features is out of range")
    if kind == "dense":
        X = arrays.pop("X")
        require(X.ndim == 2 and X.shape[1] == n_features, "X does not match n_features")
    else:
        require(kind in ("csr_matrix", "csr_array"), "the type of its rows is unknown")
        X = unpack_csr(getattr(scipy.sparse, kind), n_features, arrays, "X")
    require(X.dtype.kind == "f", "X is not an array of floats")
    require_finite(X)
    return X


def unpack_csr(csr: Any, n_features: int, arrays: Arrays, name: str) -> Rows:
    """Remove the arrays of `pack_csr`, and return the matrix; ValueError if they are invalid."""
    data, indices, indptr = (arrays.pop(f"{name}_{part}") for part in ("data", "indices", "indptr"))
    valid = indices.dtype == np.int32 and indptr.dtype == np.int64
    valid = valid and data.ndim == indices.ndim == indptr.ndim == 1 and indices.size == data.size
    require(valid, f"the arrays of {name} do not match")
    _require_offsets(f"{name}_indptr", indptr, data.size)
    inside = np.all((indices >= 0) & (indices < n_features))
    require(inside, f"{name}_indices has invalid column indices")
    X = csr((data, indices, indptr), shape=(indptr.size - 1, n_features))
    require(X.has_canonical_format, f"the column indices of {name} are not sorted")
    return X


def _require_offsets(name: str, offsets: NDArray[np.int64], last: int) -> None:
    # not np.diff, which may overflow
    valid = offsets.size > 0 and offsets[0] == 0 and offsets[-1] == last
    require(valid and np.all(offsets[1:] >= offsets[:-1]), f"{name} is invalid")
