"""``python -m hssvm script.py``: run a program after `patch_sklearn`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from hssvm.dropin.patch import patch_sklearn

USAGE = "usage: python -m hssvm [--verbose] script.py [args], or -m module [args]"


def run_script(program: list[str], *, verbose: bool = False) -> None:
    """Run a program as ``python`` would, with the drop-ins in `sklearn.svm`.

    Parameters
    ----------
    program : list of str
        A file and its arguments, or '-m', a module and its arguments.
    verbose : bool
        See `patch_sklearn`.
    """
    if program == ["-m"]:
        sys.exit(f"-m needs the name of a module; {USAGE}")
    if program[0] != "-m" and not Path(program[0]).exists():
        sys.exit(f"{program[0]} does not exist; {USAGE}")
    patch_sklearn(verbose=verbose)
    if program[0] == "-m":
        sys.argv = program[1:]
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = program
        sys.path[0] = str(Path(program[0]).resolve().parent)
        runpy.run_path(program[0], run_name="__main__")
