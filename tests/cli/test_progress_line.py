"""The line of progress, without a terminal."""

import io
import time

import pytest
from helpers.terminal import drawn_lines
from rich.console import Console

from hssvm.cli.progress import ProgressLine, duration, showing
from hssvm.progress import Gap, SearchRound, Share, StageBegan, StageEnded, tell


def drawn(seconds, act):
    """Lines that are drawn within a number of seconds."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, color_system=None)
    with showing(console, quiet=False) as progress:
        act(progress)
        time.sleep(seconds)
    return drawn_lines(file.getvalue())


def test_the_clock_moves_in_a_silent_stage():
    lines = drawn(2.3, lambda progress: progress.begin("compress"))
    clocks = {line.split()[-1] for line in lines if line.startswith("compress")}
    assert clocks >= {"0:00:00", "0:00:01", "0:00:02"}


def test_the_longest_line_fits(monkeypatch):
    now = time.perf_counter()
    monkeypatch.setattr(time, "perf_counter", lambda: now)

    def act(line):
        nonlocal now
        tell(StageBegan("compress", 1e-3))
        for gap in (1.0, 0.4):
            tell(Gap(1, gap))
        now += 99 * 3600

    lines = [line for line in drawn(0.3, act) if " left " in line]
    assert lines and all(line.rstrip().endswith("99:00:00") for line in lines)
    assert max(map(len, lines)) <= 80


def test_rounds_of_a_search_are_below_the_line():
    first = "round 1 of 3, 2,000 rows: 9 candidates, best score 0.8123 at C=316.2, gamma=0.07906"
    second = "round 2 of 3, 5,000 rows: 1 candidate, best score 0.8 at C=1"

    def act(line):
        tell(StageBegan("folds", 1e-3))
        tell(SearchRound(0, first))
        tell(SearchRound(1, second))

    lines = [line.rstrip() for line in drawn(0.5, act)]
    last = max(i for i, line in enumerate(lines) if line.startswith("folds"))
    assert lines[last + 1 : last + 3] == [first[:80], second]


def test_a_line_follows_a_fit():
    line = ProgressLine(Console(file=io.StringIO()), quiet=True)
    line.begin("read", lambda: 0.25)
    line.line()
    assert (line.stage, line.progress.done) == ("read", 0.25)
    line.listen(StageBegan("tree"))
    line.listen(Share(0.5))
    line.line()
    assert (line.stage, line.progress.done) == ("tree", 0.5)
    with pytest.raises(KeyboardInterrupt):
        line.handle_interrupt()
    line.listen(StageBegan("solve", 1e-3))
    line.listen(StageEnded("solve", 1.0))  # between two stages there is a model
    line.handle_interrupt()
    assert line.stopping


def test_durations():
    assert [duration(s) for s in (3, 240, 7200)] == ["3 s", "4 min", "2 h"]
