"""Range files of ``svm-scale``, which scale data for models that were trained on scaled rows.

Feature i is mapped from [low, high] to [lower, upper], also beyond these ends::

    x
    lower upper
    i low high
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from hssvm.persistence.replace import replacing


def write_range(
    shift: NDArray[np.float64] | None,
    factor: NDArray[np.float64],
    path: str | os.PathLike[str],
) -> None:
    """Write the file of the map ``(x - shift) * factor``, as a map to [0, 1]."""
    low = np.zeros_like(factor) if shift is None else shift
    high = low + 1 / factor
    features = enumerate(zip(low.tolist(), high.tolist(), strict=True), 1)
    lines = ["x", "0 1", *(f"{i} {begin!r} {end!r}" for i, (begin, end) in features)]
    with replacing(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
