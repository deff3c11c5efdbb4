"""The parts of ``tools/soak``.

A part is a function ``run(seed, folder, seconds)``. It does what the seed says, in child processes
and in an empty folder, and returns an `Outcome`. The same seed repeats the run. `seconds` is the
time left for the part; only the sanitizers, which take long, depend on it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """Result of a run of a part.

    Attributes
    ----------
    n : int
        How many things were tried.
    findings : list of str
    """

    n: int
    findings: list[str] = field(default_factory=list)


class Skipped(Exception):
    """A part that cannot run here; the message says why."""


@dataclass
class Ended:
    """A child process that has ended; `code` is None if it had to be killed after a timeout."""

    code: int | None
    out: str
    err: str

    def __str__(self) -> str:
        how = "no end" if self.code is None else f"exit code {self.code}"
        if self.code is not None and self.code < 0:
            how = signal.Signals(-self.code).name
        err = self.err.partition("Extension modules:")[0]  # a long list, after a crash
        return f"{how}\n{self.out[-2000:]}{err[-4000:]}".rstrip()


def start(*command: object) -> subprocess.Popen[str]:
    """Start a command, which may import the parts and the helpers of the tests."""
    paths = [str(ROOT / "tools"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        list(map(str, command)), cwd=ROOT, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )  # fmt: skip


def start_part(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start the child of a part, a module of this package."""
    return start(sys.executable, "-X", "faulthandler", "-m", f"{__name__}.{name}", *arguments)


def finish(process: subprocess.Popen[str], seconds: float) -> Ended:
    """Wait for a process; kill it, and what it has started, if it takes too long."""
    try:
        out, err = process.communicate(timeout=seconds)
        return Ended(process.returncode, out, err)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Ended(None, out, err)
