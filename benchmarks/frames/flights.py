"""All rows of the largest frame, flights of New York with 327,346 rows, by the tools of frames.

python -m benchmarks.frames.flights [--tools TOOL ...] [--splits 0] [--limit 3600]
                                    [--resume] [--render]

20,000 rows are for the test; a fifth of all is kept from training, as in benchmarks.frames. The
results go to docs/results/flights.json. Threads: set OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.frames.runs import run
from benchmarks.frames.tools import TOOLS
from benchmarks.limit import limited
from benchmarks.markdown import number, setup, table
from benchmarks.tables.runs import key_of

NAME = "flights"


def run_all(results, arguments):
    """Every tool on every split."""
    for split in arguments.splits:
        for tool in arguments.tools:
            key = key_of("flights", tool, split)
            results.measure(key, limited, arguments.limit, run, "flights", tool, split, None)


def times(results):
    """Error and times of every tool."""
    lines = [
        [key.partition(": ")[2].rpartition(", ")[0], f"{found['rows']:,}",
         number(found["test error"]), number(found["fit"], 3), number(found["predict"], 2)]
        for key, found in results.runs.items() if "test error" in found
    ]  # fmt: skip
    return table(["tool", "training rows", "error", "fit, s", "20,000 rows predicted, s"], lines)


TABLES = {"setup": setup, "times": times}


def main():
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--tools", nargs="+", default=list(TOOLS), choices=TOOLS, metavar="TOOL",
        help=", ".join(TOOLS))  # fmt: skip
    add("--splits", type=int, nargs="+", default=[0], metavar="SPLIT")
    add("--limit", type=float, default=3600, help="seconds of one run")
    run_command(NAME, parser, run_all, TABLES)


if __name__ == "__main__":
    main()
