"""Pages of the documentation, and what the results of benchmarks fill in.

A page has ``<!-- begin BENCHMARK: TABLE --> ... <!-- end -->``, around lines or inside one.
``python -m benchmarks.pages`` fills in all pages from the results in docs/results.
"""

import re
from importlib import import_module

from benchmarks.results import RESULTS, ROOT, Results

BENCHMARKS = {
    "choose": "benchmarks.peers.choose",
    "compare": "benchmarks.peers.compare",
    "defaults": "benchmarks.peers.defaults",
    "paper": "benchmarks.paper.tables",
    "scaling": "benchmarks.scaling.tables",
}
"""The modules that define the tables, by the name of the results."""

MADE = {"_build", "gallery", "generated"}
BLOCK = re.compile(r"(<!-- begin ([\w-]+): ([^>]+?) -->)(\n?).*?\n?(<!-- end -->)", re.DOTALL)


def paths():
    """The README and the pages in docs."""
    docs = ROOT / "docs"
    pages = [p for p in docs.rglob("*.md") if not MADE & set(p.relative_to(docs).parts)]
    return [ROOT / "README.md", *sorted(pages)]


def blocks(text):
    """(benchmark, table) of every block of a page."""
    return [(match[2], match[3]) for match in BLOCK.finditer(text)]


def filled(text, name, tables, results):
    """The text of a page with new tables of one benchmark."""

    def renew(match):
        if match[2] != name:
            return match[0]
        return f"{match[1]}{match[4]}{tables[match[3]](results)}{match[4]}{match[5]}"

    return BLOCK.sub(renew, text)


def fill(name, tables, results):
    """Write new tables of one benchmark into all pages."""
    for path in paths():
        text = path.read_text()
        new = filled(text, name, tables, results)
        if new != text:
            path.write_text(new)


def tables_of(name):
    return import_module(BENCHMARKS[name]).TABLES


def main():
    for name in BENCHMARKS:
        fill(name, tables_of(name), Results.read(RESULTS / f"{name}.json"))


if __name__ == "__main__":
    main()
