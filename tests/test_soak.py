"""The parts of tools/soak, each for a moment, and what they report."""

import os
import runpy
import signal
import sys
from pathlib import Path

import pytest
from helpers.platforms import linux

pytestmark = [
    linux,
    pytest.mark.skipif(
        "asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan needs address space"
    ),
]


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    return runpy.run_path(str(Path(__file__).parents[1] / "tools" / "soak"))


@pytest.mark.parametrize(
    ("part", "size", "n"),
    [
        ("files", {"n_files": 20}, 20),
        pytest.param("problems", {"n_problems": 1}, 4, marks=pytest.mark.slow),
        ("interrupts", {}, 1),
        ("memory", {"n_cases": 2, "n_rounds": 3}, 6),
    ],
)
def test_a_part_finds_nothing(part, size, n, soak, tmp_path, rng):
    outcome = soak["PARTS"][part][0](int(rng.integers(2**31)), tmp_path, 60, **size)
    assert outcome.findings == []
    assert outcome.n == n


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("os.abort()", "file 1: SIGABRT"),
        ("sys.exit(3)", "file 1: exit code 3"),
        ("time.sleep(600)", "file 1: no end"),
        ("print('FINDING file 1: TypeError\\nEND')", "file 1: TypeError"),
    ],
)
def test_a_child_that_fails_is_a_finding(code, expected, soak, tmp_path, monkeypatch):
    files, soak_parts = sys.modules["soak_parts.files"], sys.modules["soak_parts"]
    code = f"import os, sys, time; print('file 0\\nfile 1', flush=True); {code}"
    monkeypatch.setattr(
        files, "start_part", lambda *args: soak_parts.start(sys.executable, "-c", code)
    )
    monkeypatch.setattr(files, "MAX_SECONDS", 1)
    outcome = files.run(0, tmp_path, 60, n_files=2)
    assert outcome.n == 2
    assert len(outcome.findings) == 1 and outcome.findings[0].startswith(expected)


def test_a_file_that_is_not_complete_is_a_finding(soak, tmp_path):
    interrupts = sys.modules["soak_parts.interrupts"]
    (tmp_path / "saved").mkdir()
    for name, content in {"old": "old", "new": "new", "saved/model": "new"}.items():
        (tmp_path / name).write_text(content)
    for number in (signal.SIGKILL, signal.SIGINT):
        assert interrupts.wrong_files(tmp_path, number) == []
    (tmp_path / "saved" / "model").write_text("ne")
    (tmp_path / "saved" / ".model.1.part").write_text("new")
    assert len(interrupts.wrong_files(tmp_path, signal.SIGKILL)) == 1
    assert len(interrupts.wrong_files(tmp_path, signal.SIGINT)) == 2


def test_the_table_and_the_seeds_of_findings(soak, capsys):
    assert soak["report"]([("files", 1200, 3.2, {5: []}, "")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "part            runs  seconds  findings",
        "files          1,200        3  0",
    ]
    rows = [("files", 7, 1.0, {5: [], 6: ["a crash", "a hang"]}, ""), ("x", 0, 0.0, {}, "skipped")]
    assert soak["report"](rows) == 1
    out = capsys.readouterr().out
    assert out.count("repeat with: tools/soak --repeat files 6\n") == 2
    assert out.splitlines()[-2:] == [
        "files              7        1  2",
        "x                  0        0  skipped",
    ]
