"""Validated rows that several models predict."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from hssvm.kernels.base import Rows
from hssvm.training.data.scaling import Scaling


class ValidRows:
    """Validated rows, which models with the same scaling scale once.

    Parameters
    ----------
    X : (m, p) array or CSR matrix
    """

    def __init__(self, X: Rows) -> None:
        self.rows = X
        self._scaled: list[tuple[Scaling, Rows]] = []

    def scaled(self, scaling: Scaling) -> Rows:
        """Return the scaled rows."""
        for known, rows in self._scaled:
            if same_scaling(known, scaling):
                return rows
        rows = scaling(self.rows)
        self._scaled.append((scaling, rows))
        return rows


def same_scaling(one: Scaling, other: Scaling) -> bool:
    """Whether two scalings are equal; this is fast if they share their arrays."""
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in FIELDS]
    return all(a is b or np.array_equal(a, b) for a, b in pairs)


FIELDS = fields(Scaling)
