"""What a person at a terminal of 80 columns sees, and what Ctrl-C does."""

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers.terminal import drawn_lines

import hssvm

fcntl = pytest.importorskip("fcntl", reason="Windows has no pseudo-terminals")
pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

STAGES = {"read", "tree", "compress", "solve", "refine", "finish"}
SLOW = (
    "--C", "1e6", "--tol", "1e-13", "--approximation", "hss", "--trees", "1", "--double",
    "--gamma", "1",
)  # fmt: skip


class Terminal:
    """A process in a terminal of 80 columns, and what it has written there."""

    def __init__(self, *arguments, cwd):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hssvm", *arguments],
            stdin=slave, stdout=slave, stderr=slave, cwd=cwd,
            env={**environment, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def read(self, until=None, timeout=120):
        """Read until a pattern appears, or to the end."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.master, 2**16).decode()
                except OSError:  # the other side is closed
                    break
            if until is not None and re.search(until, self.text):
                return
        assert until is None, self.text

    def end(self):
        self.read()
        os.close(self.master)
        return self.process.wait(timeout=60)

    @property
    def lines(self):
        """All lines that were ever drawn."""
        return drawn_lines(self.text)


@pytest.fixture
def stripes(tmp_path, rng):
    X = rng.uniform(-3, 3, (4000, 2))
    y = np.sin(3 * X[:, 0]) + rng.standard_normal(4000) > 0
    np.savez(tmp_path / "data.npz", X=X, y=y.astype(float))
    return tmp_path


def test_progress_is_one_line_that_fits(stripes):
    terminal = Terminal(
        "train", "data.npz", "-o", "m", "--C", "100", "--refine", "yes", cwd=stripes
    )
    assert terminal.end() == 0, terminal.text
    assert max(map(len, terminal.lines)) <= 80
    drawn = [line for line in terminal.lines if re.search(r"\d:\d\d:\d\d *$", line)]
    assert drawn
    assert {line.split()[0] for line in drawn} <= STAGES
    assert terminal.text.count("\n") < 25  # the summary; the progress is overdrawn


def test_ctrl_c_is_acknowledged_and_the_model_resumed(stripes):
    terminal = Terminal("train", "data.npz", "-o", "m.hssvm", *SLOW, cwd=stripes)
    terminal.read(until=r"solve .*gap")
    terminal.process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    terminal.read(until=r"stopping; Ctrl-C again quits without a model")
    assert time.monotonic() - begin < 1  # 0.1 to the next drawing, on a machine that does no more
    assert terminal.end() == 130
    assert max(map(len, (line for line in terminal.lines if "stopping;" in line))) <= 80
    text = " ".join(terminal.lines)
    assert re.search(
        r"stopped by Ctrl-C with a relative duality gap of [\d.e-]+, above --tol", text
    )
    assert "continue with: hssvm train data.npz --resume m.hssvm" in text
    assert "warm_start" not in text and "warnings.warn" not in text and ".py" not in text
    before = hssvm.load(stripes / "m.hssvm").fit_report_
    assert before.status == ["STOPPED"]
    run = subprocess.run(
        [sys.executable, "-m", "hssvm", "train", "data.npz", "--resume", "m.hssvm", "--tol", "0.5",
         "-q"], cwd=stripes, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    after = hssvm.load(stripes / "m.hssvm")
    assert after.fit_report_.gap[0] <= max(before.gap[0], 0.5)
    assert after.C == 1e6 and not after.warm_start


@pytest.mark.parametrize(("stage", "times"), [("tree", 1), ("compress", 1), ("solve", 2)])
def test_ctrl_c_without_a_model(stage, times, stripes):
    """Before there is one, or pressed twice."""
    code = f"""
import signal
from hssvm import SVC
from hssvm.cli import main
from hssvm.progress import StageBegan, tell

def fit(self, *args, **kwargs):
    tell(StageBegan({stage!r}))
    for _ in range({times}):
        signal.raise_signal(signal.SIGINT)
    print("went on")

SVC.fit = fit
main()
"""
    run = subprocess.run(
        [sys.executable, "-c", code, "train", "data.npz", "-o", "m.hssvm", "-q"],
        cwd=stripes, capture_output=True, text=True,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (130, "")
    assert run.stderr.splitlines()[-1] == "hssvm: stopped by Ctrl-C; no model was written"
    assert not (stripes / "m.hssvm").exists()


def test_piped_progress_and_ctrl_c(stripes):
    process = subprocess.Popen(
        [sys.executable, "-m", "hssvm", "train", "data.npz", "-o", "m.hssvm", *SLOW],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=stripes,
    )  # fmt: skip
    stages = set()
    for line in process.stderr:
        assert "\r" not in line and "\x1b" not in line
        stages.add(line.split()[0].rstrip(":"))
        if line.startswith("compress"):
            break
    assert stages >= {"read", "tree", "compress"}
    time.sleep(0.5)  # the solver has begun
    process.send_signal(signal.SIGINT)
    for line in process.stderr:
        if "stopping; Ctrl-C again" in line:
            break
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert re.search(r"^solve: [\d.]+ s$", errors, re.MULTILINE)
    assert "stopped by Ctrl-C with a relative duality gap" in errors


@pytest.mark.slow
def test_resume_needs_the_same_data(stripes, rng):
    terminal = Terminal(
        "train", "data.npz", "-o", "m.hssvm", "--max-time", "1e-9", "--refine", "no", cwd=stripes
    )
    assert terminal.end() == 0
    assert "--resume continues" in " ".join(terminal.lines)

    def resume(data, *options):
        return subprocess.run(
            [sys.executable, "-m", "hssvm", "train", data, "--resume", "m.hssvm", "--max-time",
             "60", *options], cwd=stripes, capture_output=True, text=True,
        )  # fmt: skip

    with np.load(stripes / "data.npz") as data:
        X, y = data["X"], data["y"]
    np.savez(stripes / "other.npz", X=X[::-1], y=y[::-1])
    np.savez(stripes / "fewer.npz", X=X[:-1], y=y[:-1])
    assert "resume with the same data" in resume("other.npz").stderr
    assert "the model was trained on 4000" in resume("fewer.npz").stderr
    assert resume("data.npz", "--task", "svr").returncode == 1
    done = resume("data.npz")
    assert done.returncode == 0, done.stderr
    model = hssvm.load(stripes / "m.hssvm")
    assert model.fit_report_.status == ["CONVERGED"]
    again = resume("data.npz")
    assert again.returncode == 1
    assert "train again without --resume" in again.stderr


def test_a_model_is_not_for_a_terminal(stripes):
    terminal = Terminal("train", "data.npz", "-o", "-", cwd=stripes)
    assert terminal.end() == 2
    assert "cannot be written to a terminal" in " ".join(terminal.lines)
