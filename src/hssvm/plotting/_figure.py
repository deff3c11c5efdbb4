"""Helpers of the Displays: axes, legible text, and the limit on the number of rows."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hssvm.kernels.base import Rows, as_rows, require_finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.text import Text

MAX_ROWS = 5000
"""Maximum number of rows of a dense kernel matrix: 200 MB in float64."""


def pyplot() -> ModuleType:
    """Import ``matplotlib.pyplot``."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install matplotlib") from error
    return matplotlib.pyplot


def axes_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return `ax`, or the axes of a new figure of the given size in inches."""
    if ax is not None:
        return ax
    new: Axes = pyplot().subplots(figsize=figsize, layout="compressed")[1]
    return new


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes in the current layout."""
    figure = ax.figure.canvas.figure
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    box = ax.get_window_extent()
    return 72 * box.width / figure.dpi, 72 * box.height / figure.dpi


def font_size(label: str, width: float, height: float) -> float | None:
    """Font size at which a label fits in a cell, in points; None if it would be illegible."""
    size = min(12.0, 1.2 * width / len(label), 0.7 * height)
    return size if size >= 6 else None


def write(
    ax: Axes, xy: tuple[float, float], label: str, size: float, colors: ScalarMappable, value: Any
) -> Text:
    """Write a label in the middle of a cell with the color of `value`; white on dark cells."""
    red, green, blue, alpha = colors.to_rgba(np.array([value]))[0]
    brightness = 1 - alpha + alpha * (0.299 * red + 0.587 * green + 0.114 * blue)
    color = "black" if brightness > 0.5 else "white"
    return ax.text(*xy, label, fontsize=size, color=color, ha="center", va="center")


def few_rows(X: Rows) -> Rows:
    """Convert `X` for kernels; raise ValueError if it has too many rows for a dense matrix."""
    X = as_rows(X)
    if X.shape[0] > MAX_ROWS:
        raise ValueError(
            f"X has {X.shape[0]:,} rows, but the dense kernel matrix is limited to "
            f"{MAX_ROWS:,}; pass a sample, such as "
            f"X[np.random.default_rng(0).choice({X.shape[0]}, 2000, replace=False)]"
        )
    if X.shape[0] < 1:
        raise ValueError("X has no rows")
    require_finite(X)
    return X
