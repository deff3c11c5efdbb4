"""Programs in a process of their own: they may crash, hang, or change the whole process."""

import os
import signal
import subprocess
import sys
import textwrap


def run_python(code, timeout=120, **environment):
    """Run `code`, with variables of the environment (None unsets one); return its output."""
    variables = {**os.environ, **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)  # and whatever it has started
            process.kill()
            raise
    assert process.returncode == 0, f"exit code {process.returncode}\n{out}{err}"
    return subprocess.CompletedProcess(command, 0, out, err)
