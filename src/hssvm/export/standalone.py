"""Predictions of a model of hssvm, with NumPy alone.

The method `save_numpy` writes a copy of this file, followed by the arrays of a model, so it imports
only NumPy and the standard library. It follows the formulas: the kernel expansion ``f(t) = sum_i
k(t, x_i) w_i`` over the points of the leaf of t, the mean over the trees, the intercept, and then
classes or probabilities. A model on the exact kernel is a single tree with a single leaf. A model
may be the mean of several members.
"""

import base64
import io
import zlib
from types import SimpleNamespace
from typing import Any

import numpy as np

VALUES_AT_ONCE = 2**22
"""Number of kernel values that are computed at a time."""


class Predictor:
    """A model, the mean of its members; `hssvm.export.contents` describes its `arrays`."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays, self._model = arrays, SimpleNamespace(**arrays)
        self._members = []
        for i in range(self._model.n_members):
            start = f"member{i}_"
            names = [name for name in arrays if name.startswith(start)]
            self._members.append(Member({name[len(start) :]: arrays[name] for name in names}))

    def decision_function(self, X: Any) -> Any:
        """Return the decision values, as the model itself does; for regression, the predictions."""
        X = self._checked(X)
        outputs = [self._by_class(member.values(X)) for member in self._members]
        mean = sum(outputs) / len(outputs)
        if "quantile_ranks" in self._arrays:
            return np.sort(mean)[:, self._model.quantile_ranks]
        return mean if mean.shape[1] > 1 else mean[:, 0]

    def predict(self, X: Any) -> Any:
        """Return labels, targets, quantiles, or 1 and -1 for typical and novel rows."""
        if self._model.one_vs_one and len(self._members) == 1:
            votes = self._votes(self._members[0].values(self._checked(X)))
            return self._model.classes[votes.argmax(axis=1)]
        values = self.decision_function(X)
        if self._model.task == "regression":
            return values
        if self._model.task == "novelty":
            return np.where(values >= 0, 1, -1)
        if values.ndim > 1:
            return self._model.classes[values.argmax(axis=1)]
        return self._model.classes[(values > 0).astype(np.int64)]

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of all classes."""
        if self._model.calibration == "none":
            raise ValueError("the model has no probabilities; fit it with probability='sigmoid'")
        values = self.decision_function(X)
        values = values[:, None] if values.ndim == 1 else values
        n_classes = self._model.classes.size
        if self._model.calibration == "temperature":
            logits = self._model.curve_0 * (
                np.hstack([-values, values]) if n_classes == 2 else values
            )
            powers = np.exp(logits - logits.max(axis=1, keepdims=True))
            return powers / powers.sum(axis=1, keepdims=True)
        curves = [self._arrays[f"curve_{j}"] for j in range(values.shape[1])]
        columns = zip(curves, values.T, strict=True)
        each = np.column_stack([self._calibrated(curve, f) for curve, f in columns])
        if n_classes == 2:
            return np.column_stack([1 - each[:, 0], each[:, 0]])
        total = each.sum(axis=1, keepdims=True)
        return np.divide(each, total, out=np.full(each.shape, 1 / n_classes), where=total > 0)

    def _calibrated(self, curve: Any, values: Any) -> Any:
        if self._model.calibration == "isotonic":
            return np.interp(values, *curve)
        slope, intercept = curve
        return 0.5 * (1 + np.tanh(-0.5 * (slope * values + intercept)))

    def _votes(self, values: Any) -> Any:
        first, second = np.triu_indices(self._model.classes.size, 1)
        votes = np.zeros((values.shape[0], self._model.classes.size))
        for pair, (c, d) in enumerate(zip(first, second, strict=True)):
            wins = values[:, pair] > 0
            votes[:, c] += wins
            votes[:, d] += ~wins
        return votes

    def _confidence(self, values: Any) -> Any:
        first, second = np.triu_indices(self._model.classes.size, 1)
        confidence = np.zeros((values.shape[0], self._model.classes.size))
        for pair, (c, d) in enumerate(zip(first, second, strict=True)):
            confidence[:, c] += values[:, pair]
            confidence[:, d] -= values[:, pair]
        return confidence / (3 * (np.abs(confidence) + 1))

    def _by_class(self, values: Any) -> Any:
        return self._votes(values) + self._confidence(values) if self._model.one_vs_one else values

    def _checked(self, X: Any) -> Any:
        X = np.asarray(X, np.float64)
        if X.ndim != 2 or X.shape[1] != self._model.n_features:
            raise ValueError(f"X must have two dimensions and {self._model.n_features} columns")
        if not np.isfinite(X).all():
            raise ValueError("X has NaN or infinite entries")
        return X


class Member:
    """A kernel machine."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays, self._model = arrays, SimpleNamespace(**arrays)

    def values(self, X: Any) -> Any:
        """Return the decision values of all columns, (m, k)."""
        if "quantiles" in self._arrays:
            columns = zip(X.T, *self._model.quantiles, strict=True)
            X = np.column_stack([np.interp(x, knots, scores) for x, knots, scores in columns])
        X = (X - self._model.shift) * self._model.factor
        total = np.zeros((X.shape[0], self._model.intercept.size))
        for index in range(self._model.n_trees):
            rows, ends, weights, constants, directions, thresholds = (
                self._arrays[f"{name}_{index}"]
                for name in ("rows", "ends", "weights", "constants", "directions", "thresholds")
            )
            leaf = self._route(X, directions, thresholds)
            for g in np.unique(leaf):
                own, points = np.flatnonzero(leaf == g), slice(ends[g], ends[g + 1])
                values = self._expansion(X[own], rows[points], weights[points]) + constants[g]
                total[own] += np.clip(values, -self._model.clip, self._model.clip)
        return total / self._model.n_trees + self._model.intercept

    def _route(self, X: Any, directions: Any, thresholds: Any) -> Any:
        """Return the leaf of every row."""
        node = np.zeros(X.shape[0], np.int64)
        for level in range((thresholds.size + 1).bit_length() - 1):
            cut = 2**level - 1 + node
            beyond = np.einsum("ij,ij->i", X, directions[cut]) > thresholds[cut]
            node = 2 * node + beyond
        return node

    def _expansion(self, X: Any, rows: Any, weights: Any) -> Any:
        """Return ``sum_i k(x, x_i) w_i`` for the rows of X, some of each at a time."""
        values = np.zeros((X.shape[0], weights.shape[1]))
        step = max(1, VALUES_AT_ONCE // max(1024, X.shape[1]))
        for begin in range(0, rows.size, step):
            points = self._points(rows[begin : begin + step], X.shape[1])
            some = max(1, VALUES_AT_ONCE // len(points))
            for start in range(0, len(X), some):
                block = self._kernel_values(X[start : start + some], points)
                values[start : start + some] += block @ weights[begin : begin + step]
        return values

    def _points(self, rows: Any, n_features: int) -> Any:
        if "X" in self._arrays:
            return self._model.X[rows].astype(np.float64)
        counts = self._model.X_indptr[rows + 1] - self._model.X_indptr[rows]
        places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places += np.repeat(self._model.X_indptr[rows], counts)
        points = np.zeros((rows.size, n_features))
        points[np.repeat(np.arange(rows.size), counts), self._model.X_indices[places]] = (
            self._model.X_data[places]
        )
        return points

    def _kernel_values(self, X: Any, Y: Any) -> Any:
        if self._model.kernel == "laplacian":
            distances = np.zeros((len(X), len(Y)))
            for x, y in zip(X.T, Y.T, strict=True):
                distances += np.abs(x[:, None] - y)
            return np.exp(-self._model.gamma * distances)
        inner = X @ Y.T
        if self._model.kernel == "linear":
            return inner
        if self._model.kernel == "polynomial":
            return (self._model.gamma * inner + self._model.coef0) ** self._model.degree
        squares = np.sum(X**2, axis=1)[:, None] + np.sum(Y**2, axis=1) - 2 * inner
        squares = np.maximum(squares, 0)
        if self._model.kernel == "gaussian":
            return np.exp(-self._model.gamma * squares)
        a = self._model.gamma * np.sqrt(squares)
        if self._model.kernel == "exponential":
            return np.exp(-a)
        if self._model.kernel == "matern32":
            a = np.sqrt(3) * a
            return (1 + a) * np.exp(-a)
        a = np.sqrt(5) * a
        return (1 + a + a**2 / 3) * np.exp(-a)


def unpack(text: str) -> Predictor:
    """Return the model in the text of an exported file."""
    with np.load(io.BytesIO(zlib.decompress(base64.b85decode(text)))) as file:
        arrays = {name: file[name] for name in file.files}
    return Predictor({name: a[()] if a.ndim == 0 else a for name, a in arrays.items()})
