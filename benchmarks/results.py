"""The results of a benchmark, in a file from which the pages of the documentation are filled in."""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.timing import timed

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PACKAGES = ("hssvm", "numpy", "scipy", "scikit-learn")
SAME = ("commit", "processor", "threads")
"""What runs in one file have in common."""


class Results:
    """Figures of every run under its key, kept in a JSON file that is written after each of them.

    Attributes
    ----------
    about : dict
        The command, the commit and the machine.
    runs : dict
        From keys such as "cod-rna: hssvm, 1000" to figures; also the command, if it is another one
        than that in `about`.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.about, self.runs = describe(), {}
        self.command = self.about["command"]

    @classmethod
    def read(cls, path):
        """Return the results in a file."""
        results = cls(path)
        data = json.loads(results.path.read_text())
        results.about, results.runs = data["about"], data["runs"]
        return results

    @classmethod
    def resume(cls, path, same=SAME):
        """Return the results in a file, to which others can be added; new ones without a file."""
        if not Path(path).exists():
            return cls(path)
        results, now = cls.read(path), describe()
        for what in same:
            if results.about[what] != now[what]:
                raise SystemExit(
                    f"{path} has results of {what} {results.about[what]}, and this is "
                    f"{now[what]}; measure all of them again, without --resume"
                )
        results.command = now["command"]
        return results

    def add(self, key, figures):
        """Keep the figures of a run."""
        self.runs[key] = rounded(figures)
        if self.command != self.about["command"]:
            self.runs[key]["command"] = self.command
        text = json.dumps({"about": self.about, "runs": self.runs}, indent=1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text + "\n")

    def measure(self, key, function, *arguments):
        """Return the figures that a function returns; keep and print them.

        The function is not called if there are figures under this key.
        """
        if "error" in self.runs.get(key, {"error": "not run"}):
            found, wall = timed(lambda: function(*arguments))
            self.add(key, {**found, "wall": wall})
            print(f"{self.minutes:5.1f} min  {key}: {found}", flush=True)
        return self.runs[key]

    @property
    def commands(self):
        """All commands that runs came from, the first one first."""
        first = self.about["command"]
        return list(dict.fromkeys([first, *(r.get("command", first) for r in self.runs.values())]))

    @property
    def minutes(self):
        """That all runs took together."""
        return sum(run["wall"] for run in self.runs.values()) / 60


def rounded(value):
    """The same with six digits of every number."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def describe():
    """The command, the last commit that changed the library, and the machine."""
    names = []
    if os.path.exists("/proc/cpuinfo"):
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "command": command_line(sys.argv),
        "commit": last_commit(),
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def command_line(argv):
    """The command as a reader can repeat it."""
    file = Path(argv[0])
    module = [*file.parts[-3:-1], file.stem] if file.stem != "__main__" else file.parts[-3:-1]
    arguments = [a for a in argv[1:] if a not in ("--resume", "--render")]
    return f"python -m {'.'.join(module)} {shlex.join(arguments)}".strip()


def last_commit():
    """Short hash of the last commit that changed the library; None outside a Git repository."""
    command = ["git", "log", "-1", "--format=%h", "--", "src", "cpp"]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return None
