"""The file of the results."""

import json
import math
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.paper import published
from benchmarks.timing import timed

PACKAGES = ("hssvm", "numpy", "scipy", "scikit-learn")


class Results:
    """Figures of every run under its key, kept in a JSON file that is written after each of them.

    Attributes
    ----------
    machine : dict
    runs : dict
        From "set method h" or "set method h C" to figures.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.machine, self.runs = describe_machine(), {}

    @classmethod
    def read(cls, path):
        """Return what a file holds."""
        results = cls(path)
        data = json.loads(results.path.read_text())
        results.machine, results.runs = data["machine"], data["runs"]
        return results

    def add(self, key, figures):
        """Keep the figures of a run."""
        self.runs[key] = rounded(figures)
        text = json.dumps({"machine": self.machine, "runs": self.runs}, indent=1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text + "\n")

    def measure(self, key, run):
        """Keep, print and return the figures of ``run()``."""
        found, wall = timed(run)
        self.add(key, {**found, "wall": wall})
        print(f"{self.minutes:5.1f} min  {key}: {found}", flush=True)
        return found

    @property
    def minutes(self):
        """That all runs took together."""
        return sum(run["wall"] for run in self.runs.values()) / 60

    def of(self, *key):
        """Figures of a run, empty if it was not made."""
        return self.runs.get(key_of(*key), {})

    def grid(self, name, method, h):
        """Accuracies of all C; NaN where there are none."""
        return self.of(name, method, h).get("accuracy", [math.nan] * len(published.C_GRID))

    def best(self, name, method):
        """(h, every C that is best with it, accuracy) of a set; None if it has no results."""
        grid = np.array([self.grid(name, method, h) for h in published.H_GRID])
        if np.isnan(grid).all():
            return None
        row = int(np.nanargmax(grid) // grid.shape[1])
        top = grid[row].max()
        Cs = [C for C, value in zip(published.C_GRID, grid[row], strict=True) if value == top]
        return published.H_GRID[row], Cs, float(top)


def key_of(*parts):
    return " ".join(f"{part:g}" if isinstance(part, float | int) else part for part in parts)


def rounded(value):
    """The same with six digits of every number."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def describe_machine():
    names = []
    if os.path.exists("/proc/cpuinfo"):
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
