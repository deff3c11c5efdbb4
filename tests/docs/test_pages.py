"""What the pages show is what comes out.

A ``python`` block runs, in one namespace per page; the ``text`` block after it is what it prints. A
``console`` block are commands after ``$`` and their output. Other blocks are not run. The current
folder has a copy of examples/penguins.csv.
"""

import io
import math
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md"))]
SLOW = {"dask.md"}

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
RULES = re.compile(r"[─━]+")


def page_id(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    return BLOCK.findall(page.read_text())


def assert_alike(printed, shown):
    """The same words; numbers as alike as those of another machine can be, times not at all."""
    printed, shown = ([line.rstrip() for line in text.splitlines()] for text in (printed, shown))
    assert len(printed) == len(shown), "\n".join(printed)
    for ours, theirs in zip(printed, shown, strict=True):
        assert words(ours) == words(theirs), "\n".join(printed)
        if not re.search(r"\bseconds\b|\d s\b", theirs):
            for a, b in zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True):
                assert_near(a, b)


def words(line):
    return re.sub(r"\s+", " ", RULES.sub("-", NUMBER.sub("0", line)))


def assert_near(ours, theirs):
    """Gaps to the order of magnitude, small counts to a half, other figures to a fifth."""
    a, b = (float(text.replace(",", "")) for text in (ours, theirs))
    if "e" in theirs:
        assert abs(math.log10(a / b)) < 1
    else:
        small_count = b < 100 and "." not in theirs
        assert a == pytest.approx(b, rel=0.5 if small_count else 0.2)


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=[pytest.mark.slow] * (p.name in SLOW), id=page_id(p)) for p in PAGES],
)
def test_a_page_shows_what_comes_out(page, tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "penguins.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    namespace, found = {"__name__": "page"}, blocks(page)
    for i, (language, body) in enumerate(found):
        if language == "python":
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile(body, page.name, "exec"), namespace)
            if found[i + 1 : i + 2] and found[i + 1][0] == "text":
                assert_alike(out.getvalue(), found[i + 1][1])
        elif language == "console" and sys.platform != "win32":
            run_commands(body)
    pyplot.close("all")


def run_commands(text):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in re.findall(r"^\$ (.*(?:\n(?!\$).*)*)", text, re.MULTILINE):
        line, _, shown = command.partition("\n")
        run = subprocess.run(
            line, shell=True, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        assert_alike(run.stdout + run.stderr, shown)


@pytest.mark.parametrize(
    ("ours", "theirs", "alike"),
    [
        ("gap 2e-05 of 24 rounds", "gap 5e-05 of 20 rounds", True),
        ("gap 2e-05", "gap 5e-03", False),
        ("1,257 support vectors", "989 support vectors", False),
        ("accuracy 0.925", "accuracy 0.7", False),
        ("accuracy 0.925", "precision 0.925", False),
        ("seconds  tree 0.1, in all 5", "seconds  tree 0.001, in all 900", True),
        ("seconds  solve 1, refine 2", "seconds  solve 0.15, refine 2,000", True),
        ("one\ntwo", "one", False),
    ],
)
def test_alike(ours, theirs, alike):
    if alike:
        assert_alike(ours, theirs)
    else:
        with pytest.raises(AssertionError):
            assert_alike(ours, theirs)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_between_files_lead_somewhere(page):
    """Pages that the documentation makes (gallery, generated) are left to Sphinx."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.removeprefix("../").startswith(("gallery/", "generated/")):
            assert (page.parent / target).exists(), target
