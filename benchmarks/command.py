"""The command line that benchmarks share: it keeps their results and fills in the pages."""

import argparse
from pathlib import Path

from benchmarks import pages
from benchmarks.results import RESULTS, SAME, Results


def parser_of(description):
    """A parser with the options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    add = parser.add_argument
    add("--output", type=Path, default=RESULTS, help="folder of the results; another folder than "
        "the default does not change the pages, and prints the tables")  # fmt: skip
    add("--resume", action="store_true", help="keep the runs that are there")
    add("--render", action="store_true", help="only fill in the tables again")
    return parser


def run(name, parser, measure, tables, argv=None, same=SAME):
    """Parse the arguments, call ``measure(results, arguments)``, and show the tables.

    `tables` are functions by name, from the results to Markdown. `same` is what may not change
    between the parts of a run.
    """
    arguments = parser.parse_args(argv)
    file = arguments.output / f"{name}.json"
    if arguments.render:
        results = Results.read(file)
    else:
        results = Results.resume(file, same) if arguments.resume else Results(file)
        measure(results, arguments)
    if arguments.output == RESULTS:
        pages.fill(name, tables, results)
    else:
        for table, make in tables.items():
            print(f"\n{table}:\n{make(results)}")


def run_sets(name, description, sets, measure, tables, **numbers):
    """Run a benchmark that has one run for each data set, ``measure(data_set, *numbers)``.

    `numbers` are further options of the command, with their defaults.
    """
    parser = parser_of(description)
    parser.add_argument("names", nargs="*", default=sets)
    for option, default in numbers.items():
        parser.add_argument(f"--{option}", type=int, default=default)

    def measure_all(results, arguments):
        given = [getattr(arguments, option) for option in numbers]
        for data_set in arguments.names:
            results.measure(data_set, measure, data_set, *given)

    run(name, parser, measure_all, tables)
