"""The command line without a process of its own."""

import contextlib
import io
import subprocess
import sys
from unittest import mock

from hssvm.cli import main


def run_here(*arguments, cwd):
    """Run ``hssvm`` as its process would; return its exit code and what it wrote."""
    command, out, err = ["hssvm", *map(str, arguments)], io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.object(sys, "argv", command),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())
