"""The order of the classes, which gives the pairs of classes their signs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hssvm.persistence.libsvm.contents import LibsvmModel


def with_order(model: LibsvmModel, order: NDArray[np.int64]) -> LibsvmModel:
    """Return the same classifier with its classes in another order.

    The first class of a pair is the positive one, so some pairs change their sign.

    Parameters
    ----------
    model : LibsvmModel
    order : (n_classes,) int64
        Positions of the classes in `model`.
    """
    ends = np.cumsum(model.counts)
    rows = [np.arange(end - count, end) for end, count in zip(ends, model.counts, strict=True)]
    coef = []
    for new, old in enumerate(order.tolist()):
        others = np.delete(order, new)
        was_first, is_first = old < others, new <= np.arange(others.size)
        signs = np.where(was_first == is_first, 1.0, -1.0)
        coef.append(model.coef[rows[old]][:, others - was_first] * signs)
    sigmoids = model.sigmoids
    if sigmoids is not None:  # 1 - P(f) = 1 / (1 + exp(-(A f + B))) = 1 / (1 + exp(A (-f) - B))
        A, B = sigmoids
        sigmoids = np.stack([_permute(A, order, 1), _permute(B, order, -1)])
    return replace(
        model,
        X=model.X[np.concatenate([rows[old] for old in order.tolist()])],
        coef=np.concatenate(coef),
        rho=_permute(model.rho, order, -1),
        labels=model.labels[order],
        counts=model.counts[order],
        sigmoids=sigmoids,
    )


def _permute(
    values: NDArray[np.float64], order: NDArray[np.int64], sign: int
) -> NDArray[np.float64]:
    """Permute values of pairs, multiplied by `sign` if the classes of the pair change places."""
    first, second = np.triu_indices(order.size, 1)
    table = np.zeros((order.size, order.size))
    table[first, second], table[second, first] = values, sign * values
    return table[order[first], order[second]]
