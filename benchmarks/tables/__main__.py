"""hssvm's searches on tables, beside untuned tools, and LightGBM searched in the same time.

python -m benchmarks.tables [--tables TABLE ...] [--tools TOOL ...] [--splits 0 1 2]
                            [--max-rows 10000] [--limit 1800] [--resume] [--render]

Every table is divided at random three times: a fifth of the rows, at most 20,000, for the test, and
at most --max-rows for training. `SVCCV` and `SVRCV` have no arguments. LightGBM is searched by
Optuna in the time that they took. The untuned tools are those of ``benchmarks.tables.rivals``; run
it first. Every run is a process of its own, stopped after --limit seconds. The results go to
docs/results/tables.json. Threads: set OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.tables.runs import add_options, run_all
from benchmarks.tables.show import TABLES
from benchmarks.tables.tools import OURS_AND_SEARCHED

NAME = "tables"


def main():
    parser = parser_of(__doc__)
    add_options(parser, OURS_AND_SEARCHED)
    run_command(NAME, parser, run_all, TABLES)


if __name__ == "__main__":
    main()
