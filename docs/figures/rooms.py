"""The rooms of the code, from the import contract, and the way of the rows through them.

Both are read from the code: the layers from pyproject.toml, the purpose of a package from the first
line of its docstring, and the way of X from the calls of a fit.
"""

import ast
import sys
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from hssvm import SVC

plt.style.use("chart.mplstyle")

ROOT = Path("../..")
SOURCE = ROOT / "src" / "hssvm"
NAME, TEXT, STEP = "#757d86", "#8d949c", "#2f80c3"
SIZE = 8


def layers():
    """Names of the packages of each layer, the top one first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layered = next(c for c in contracts["contracts"] if c["type"] == "layers")
    return [[name.removeprefix("hssvm.") for name in layer.split(" | ")]
            for layer in layered["layers"]]  # fmt: skip


def purpose(package):
    """First line of the docstring of a package or module."""
    path = SOURCE / package
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.get_docstring(ast.parse(file.read_text())).splitlines()[0].replace("`", "")


def way_of_rows():
    """Modules that receive X in a fit on the exact kernel, in the order of their first call."""
    X = np.random.default_rng(0).standard_normal((3500, 2))
    found = {}

    def record(frame, event, argument):
        name, code = frame.f_globals.get("__name__", ""), frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if event == "call" and name.startswith("hssvm.") and "X" in arguments:
            found.setdefault(name.removeprefix("hssvm."), code.co_name)

    sys.setprofile(record)
    try:
        SVC().fit(X, np.hypot(*X.T) < 1)
    finally:
        sys.setprofile(None)
    return found


def shortened(text, width):
    """The first words of a text, in at most this many letters."""
    return text if len(text) <= width else f"{text[:width].rsplit(' ', 1)[0]} ..."


steps = {}
for number, (module, function) in enumerate(way_of_rows().items(), 1):
    package = module.partition(".")[0]
    steps.setdefault(package, []).append(f"{number}  {module}.{function}")

figure, ax = plt.subplots(figsize=(9, 10))
top = 0.0
for layer in layers():
    lines = max(len(steps.get(package, [])) for package in layer)
    height, width = 0.85 + 0.3 * lines, 10 / len(layer)
    for column, package in enumerate(layer):
        left = column * width
        corner = left + 0.04, top - height + 0.1
        ax.add_patch(plt.Rectangle(corner, width - 0.08, height - 0.1, fill=False, color=TEXT))
        ax.text(left + 0.15, top - 0.1, package, va="top", weight="bold", color=NAME)
        text = shortened(purpose(package), 100 // len(layer))
        ax.text(left + 0.15, top - 0.42, text, va="top", fontsize=SIZE, color=TEXT)
        for line, step in enumerate(steps.get(package, [])):
            y = top - 0.74 - 0.3 * line
            ax.text(left + 0.25, y, step, va="top", fontsize=SIZE, color=STEP)
    top -= height
ax.set(xlim=(0, 10), ylim=(top, 0.05))
ax.axis("off")
