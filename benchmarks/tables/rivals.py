"""The other tools of ``benchmarks.tables``, with their defaults.

python -m benchmarks.tables.rivals [--tables TABLE ...] [--tools TOOL ...] [--splits 0 1 2]
                                   [--max-rows 10000] [--limit 1800] [--resume] [--render]

Apart from the runs of hssvm, because they take many hours and need not be repeated when hssvm
changes. Every run is a process of its own, stopped after --limit seconds. The results go to
docs/results/table_rivals.json. Threads: set OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import setup
from benchmarks.tables.runs import add_options, run_all
from benchmarks.tables.tools import RIVALS

NAME = "table_rivals"
TABLES = {"setup": setup}


def main():
    parser = parser_of(__doc__)
    add_options(parser, RIVALS)
    run_command(NAME, parser, run_all, TABLES, same=("processor", "threads"))


if __name__ == "__main__":
    main()
