"""Measurements on the pages come from the results of benchmarks.

A figure with a unit of time, memory, speed or accuracy must be inside a block that
`benchmarks.pages` fills in, or in code and its output. `FACTS` are the exceptions: figures that are
properties of the software or of the problem, and are not measured.
"""

import re

import pytest

from benchmarks.pages import BLOCK, paths
from benchmarks.results import ROOT

PAGES = {str(path.relative_to(ROOT)): path for path in paths()}

UNITS = r"(?:s|ms|µs|ns|%|[kMGT]B|x|times|fold|points|seconds|minutes|hours|days)(?![\w-])"
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
MEASUREMENT = re.compile(rf"(?<![\w.]){NUMBER}(?: (?:to|and) {NUMBER})? ?{UNITS}")

FACTS = {
    "docs/benchmarks/approximations.md": ["the best possible accuracy is 88.37 %"],
    "docs/benchmarks/engine.md": ["1 kB"],
    "docs/benchmarks/probability.md": ["90 %"],
    "docs/comparison.md": ["a GPU with 40 GB"],
    "docs/dask.md": ["2 GB", "60 %", "80 %"],
    "docs/existing_scripts.md": ["2 GB"],
    "docs/from_the_paper.md": ["RACQP's 33.333 %"],
    "docs/guide/large_data.md": ["2 GB", "1 kB"],
    "docs/guide/probabilities.md": ["95 %"],
    "docs/internet_scale.md": ["128 MB"],
    "docs/mathematics.md": ["a gap of 5 %"],
}


def prose(text):
    """The text without filled-in blocks, code, links and formulas."""
    text = BLOCK.sub("", text)
    text = re.sub(r"^( *)(```|:::).*?^\1\2$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"\$[^$]*\$", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


@pytest.mark.parametrize("page", PAGES)
def test_measurements_come_from_results(page):
    text = " ".join(prose(PAGES[page].read_text()).split())
    for fact in FACTS.get(page, ()):
        assert fact in text, f"{fact!r} is no longer on the page; remove it from FACTS"
        text = text.replace(fact, "")
    assert MEASUREMENT.findall(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it takes 3.5 s and 2 GB", ["3.5 s", "2 GB"]),
        ("an accuracy of 96.0 %, 1.1 to 1.8 times as long", ["96.0 %", "1.1 to 1.8 times"]),
        ("<!-- begin exact: fit -->3<!-- end --> s and `4 s`", []),
        ("50,000 rows x 54 features, version 0.1, in seconds", []),
    ],
)
def test_measurements_are_found(text, found):
    assert MEASUREMENT.findall(prose(text)) == found
