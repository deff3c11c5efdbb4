"""Tables of the documentation are what the results in the repository give."""

import re

import pytest

from benchmarks import rendering
from benchmarks.command import DOCS, fill_pages, parser_of, results_of
from benchmarks.paper import tables as paper
from benchmarks.paper.results import Results
from benchmarks.peers import choose, compare, defaults
from benchmarks.scaling import tables as scaling

PAGES = {
    "comparison.md": ("compare", compare),
    "dask.md": ("scaling", scaling),
    "defaults.md": ("defaults", defaults),
    "from_the_paper.md": ("paper", paper),
    "how_to_choose.md": ("choose", choose),
    "internet_scale.md": ("scaling", scaling),
}


@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_what_the_results_give(page, tmp_path):
    folder, benchmark = PAGES[page]
    text, copy = (DOCS / page).read_text(), tmp_path / page
    copy.write_text(re.sub(r"(<!-- begin .* -->\n).*\n", r"\1other\n", text))
    assert copy.read_text() != text
    rendering.fill(copy, benchmark.TABLES, Results.read(DOCS / folder / "results.json"))
    assert copy.read_text() == text


@pytest.mark.parametrize("benchmark", [choose, compare, defaults, paper, scaling])
def test_every_table_is_on_a_page(benchmark):
    texts = [(DOCS / page).read_text() for page, (_, of) in PAGES.items() if of is benchmark]
    for name in benchmark.TABLES:
        assert any(f"<!-- begin {name} -->\n" in text for text in texts)


def test_results_of_a_command(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin runs -->\nolder\n<!-- end -->\n")
    parser = parser_of("A benchmark.", "unused")
    where = ["--output", str(tmp_path / "results"), "--pages", str(page)]
    results = results_of(parser.parse_args([*where, "--resume"]))
    assert results.measure("first", lambda: {"fit": 2.0}) == {"fit": 2.0}

    arguments = parser.parse_args([*where, "--render"])
    fill_pages(arguments, {"runs": lambda results: ", ".join(results.runs)}, results_of(arguments))
    assert page.read_text() == "<!-- begin runs -->\nfirst\n<!-- end -->\n"
    assert results_of(parser.parse_args([*where, "--resume"])).runs["first"]["fit"] == 2
    assert results_of(parser.parse_args(where)).runs == {}


def test_tables_without_results(tmp_path):
    arguments = parser_of("A benchmark.", "unused").parse_args(
        ["--output", str(tmp_path), "--render"]
    )
    with pytest.raises(FileNotFoundError, match=r"results\.json"):
        results_of(arguments)
