"""The packages by layer of the import contract, and the path of X through them.

Both are read from the code: the layers from pyproject.toml, the purpose of a package from the first
line of its docstring, and the path of X from the calls of a fit.
"""

import ast
import sys
import textwrap
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from hssvm import SVC

plt.style.use("chart.mplstyle")

ROOT = Path("../..")
SOURCE = ROOT / "src" / "hssvm"
NAME, TEXT, STEP = "#757d86", "#8d949c", "#2f80c3"
SIZE, LINE, WIDTH, GAP = 10, 0.2, 8.2, 0.08
"""Points of the letters; inches of a line, of the picture, and between boxes."""

LETTERS = 12.5
"""In an inch, at most."""


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


def path_of_rows():
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


def lines_of(package, width):
    """What a package is for, in lines that fit into its box."""
    return textwrap.wrap(purpose(package), int(LETTERS * (width - 3 * GAP)))


def in_columns(package, width):
    """Steps of a package, in lines of one, or of two where there is room."""
    found = steps.get(package, [])
    n_lines = -(-len(found) // (2 if width == WIDTH else 1))
    return [found[i::n_lines] for i in range(n_lines)]


steps = {}
for number, (module, function) in enumerate(path_of_rows().items(), 1):
    package = module.partition(".")[0]
    steps.setdefault(package, []).append(f"{number}  {module}.{function}")

boxes, top = [], 0.0
for layer in layers():
    width = WIDTH / len(layer)
    written = {package: (lines_of(package, width), in_columns(package, width)) for package in layer}
    height = LINE * (1 + max(sum(map(len, lines)) for lines in written.values())) + 3 * GAP
    boxes += [(i * width, top, width, height, *item) for i, item in enumerate(written.items())]
    top += height

figure, ax = plt.subplots(figsize=(WIDTH, top))
ax.set(xlim=(0, WIDTH), ylim=(top, 0))
ax.axis("off")
for left, upper, width, height, package, (lines, rows) in boxes:
    corner = left + GAP / 2, upper + GAP / 2
    ax.add_patch(plt.Rectangle(corner, width - GAP, height - GAP, fill=False, color=TEXT))
    x, y = left + 1.5 * GAP, upper + 1.5 * GAP
    ax.text(x, y, package, va="top", weight="bold", fontsize=SIZE + 1, color=NAME)
    ax.text(x, y + LINE, "\n".join(lines), va="top", fontsize=SIZE, color=TEXT, linespacing=1.25)
    for i, row in enumerate(rows, 1 + len(lines)):
        for column, step in enumerate(row):
            place = x + column * width / 2, y + LINE * i
            ax.text(*place, step, va="top", fontsize=SIZE, color=STEP)
