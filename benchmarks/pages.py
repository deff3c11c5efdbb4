"""Pages of the documentation, and what the results of benchmarks fill in.

A page has ``<!-- begin BENCHMARK: TABLE --> ... <!-- end -->``, around lines or inside one.
``python -m benchmarks.pages`` fills in all pages from the results in docs/results.
"""

import re
from importlib import import_module

from benchmarks.results import RESULTS, ROOT, Results

MODULES = {
    "values": "benchmarks.micro.values",
    "single_rows": "benchmarks.micro.single_rows",
    "streaming": "benchmarks.micro.streaming",
    "engines": "benchmarks.micro.engines",
    "rounds": "benchmarks.micro.rounds",
    "many_classes": "benchmarks.peers.many_classes",
    "precomputed_sets": "benchmarks.kernels.precomputed_sets",
    "engine": "benchmarks.micro.engine",
    "irrelevant": "benchmarks.kernels.irrelevant",
    "tuning": "benchmarks.peers.tuning",
    "busy": "benchmarks.micro.busy",
    "profile": "benchmarks.micro.profile",
    "reduced": "benchmarks.micro.reduced",
    "explained": "benchmarks.micro.explained",
    "multi_class": "benchmarks.peers.multi_class",
    "precomputed": "benchmarks.kernels.precomputed",
    "growth": "benchmarks.scaling.growth",
    "threads": "benchmarks.micro.threads",
    "coverage": "benchmarks.peers.coverage",
    "forest_scores": "benchmarks.forest.out_of_fold",
    "large": "benchmarks.peers.large",
    "table_kernels": "benchmarks.tables.kernels",
    "dropin": "benchmarks.peers.dropin",
    "fingerprints": "benchmarks.kernels.fingerprints",
    "learned_scales": "benchmarks.kernels.learned_scales",
    "widths": "benchmarks.kernels.widths",
    "quantiles": "benchmarks.peers.quantiles",
    "survival": "benchmarks.peers.survival",
    "gaussian_processes": "benchmarks.peers.gaussian_processes",
    "probability": "benchmarks.peers.probability",
    "compare": "benchmarks.peers.compare",
    "scaling": "benchmarks.scaling.cluster",
    "cells_at_scale": "benchmarks.scaling.cells",
    "defaults": "benchmarks.peers.defaults",
    "forests": "benchmarks.forest.sets",
    "large_forests": "benchmarks.forest.large",
    "out_of_core": "benchmarks.scaling.out_of_core",
    "cluster_exact": "benchmarks.scaling.exact",
    "exact": "benchmarks.peers.exact",
    "folds": "benchmarks.peers.folds",
    "choose": "benchmarks.peers.choose",
    "paper": "benchmarks.paper.__main__",
    "forest_choice": "benchmarks.forest.choose",
    "frames": "benchmarks.frames.__main__",
    "flights": "benchmarks.frames.flights",
    "tables": "benchmarks.tables.__main__",
    "table_rivals": "benchmarks.tables.rivals",
}
"""The modules by the name of their results, those that take minutes first."""

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
    return import_module(MODULES[name]).TABLES


def measured():
    """Names of the benchmarks that have results."""
    return [name for name in MODULES if (RESULTS / f"{name}.json").exists()]


def main():
    for name in measured():
        fill(name, tables_of(name), Results.read(RESULTS / f"{name}.json"))


if __name__ == "__main__":
    main()
