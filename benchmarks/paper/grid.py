"""The runs of the experiments of the paper among the results, by set, method, h and C."""

import math

import numpy as np

from benchmarks.paper import published


def key_of(*parts):
    return " ".join(f"{part:g}" if isinstance(part, float | int) else part for part in parts)


def run_of(results, *key):
    """Figures of a run, empty if it was not made."""
    return results.runs.get(key_of(*key), {})


def accuracies(results, name, method, h):
    """Accuracies of all C; NaN where there are none."""
    found = run_of(results, name, method, h)
    return found.get("accuracy", [math.nan] * len(published.C_GRID))


def best(results, name, method):
    """(h, every C that is best with it, accuracy) of a set; None if it has no results."""
    grid = np.array([accuracies(results, name, method, h) for h in published.H_GRID])
    if np.isnan(grid).all():
        return None
    row = int(np.nanargmax(grid) // grid.shape[1])
    top = grid[row].max()
    Cs = [C for C, value in zip(published.C_GRID, grid[row], strict=True) if value == top]
    return published.H_GRID[row], Cs, float(top)
