"""The part of the command line that benchmarks with a page in the documentation share."""

import argparse
from pathlib import Path

from benchmarks import rendering
from benchmarks.paper.results import Results

DOCS = Path(__file__).parents[1] / "docs"


def parser_of(description, folder, *pages):
    """A parser that knows where the results go, whether to keep old ones, and what to fill in."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    add = parser.add_argument
    add("--output", type=Path, default=DOCS / folder, help="folder of results.json")
    add("--pages", type=Path, nargs="*", default=[DOCS / page for page in pages])
    add("--resume", action="store_true", help="keep the runs that are there")
    add("--render", action="store_true", help="only fill in the tables again")
    return parser


def results_of(arguments):
    """New results, or those of the file with --resume or --render."""
    file = arguments.output / "results.json"
    known = arguments.render or (arguments.resume and file.exists())
    return Results.read(file) if known else Results(file)


def fill_pages(arguments, tables, results):
    """Renew the tables of all pages."""
    for page in arguments.pages:
        rendering.fill(page, tables, results)
