"""Conversion of version 2 of the format, in which a leafwise model had a single tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.persistence.plain import from_plain


def from_version_2(
    document: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Convert the arrays from version 2 to version 3."""
    if document["predictor"] != "leafwise":
        return arrays
    arrays = dict(arrays)
    for name in ("ends", "directions", "thresholds"):
        arrays[name] = arrays[name][None]
    arrays["rows"] = np.arange(arrays["W"].shape[0])
    arrays["intercepts"] = np.asarray(from_plain(document["attributes"]["intercept_"]))[None]
    return arrays
