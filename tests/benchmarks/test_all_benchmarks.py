import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as everything
from benchmarks import pages
from benchmarks.results import RESULTS


def test_every_command_exists_and_no_results_are_left_out():
    assert all(find_spec(module) for module in pages.MODULES.values())
    assert {path.stem for path in RESULTS.iterdir()} <= set(pages.MODULES)


def test_a_failure_does_not_stop_the_others(monkeypatch):
    made = []

    def run(command):
        made.append(command[1:])
        return SimpleNamespace(returncode="busy" in command[2])

    monkeypatch.setattr(everything.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "exact", "busy", "--resume"])
    with pytest.raises(SystemExit, match=r"^Failed: busy$"):
        everything.main()
    assert made == [
        ["-m", "benchmarks.micro.busy", "--resume"],
        ["-m", "benchmarks.peers.exact", "--resume"],
    ]


def test_an_unknown_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "exakt"])
    with pytest.raises(SystemExit):
        everything.main()
    assert "unknown: exakt; choose from" in capsys.readouterr().err
