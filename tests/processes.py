"""Programs in a process of their own: they may crash, hang, or change the whole process."""

import os
import subprocess
import sys
import textwrap


def run_python(code, timeout=120, **environment):
    """Run `code`; a variable of the environment that is None is unset. Returns its output."""
    variables = {**os.environ, **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=timeout, env=variables,
    )  # fmt: skip
    assert run.returncode == 0, f"exit code {run.returncode}\n{run.stdout}{run.stderr}"
    return run
