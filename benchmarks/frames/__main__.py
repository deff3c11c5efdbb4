"""hssvm on frames with text, categories, dates and missing values, beside tools that encode them.

python -m benchmarks.frames [--frames FRAME ...] [--tools TOOL ...] [--splits 0 1 2]
                            [--max-rows 10000] [--limit 1800] [--resume] [--render]

Every frame is divided at random three times: a fifth of the rows, at most 20,000, for the test, and
at most --max-rows for training. All tools have their defaults and get the frame as it is; CatBoost
is told which columns are text. Every run is a process of its own, stopped after --limit seconds.
The results go to docs/results/frames.json. Threads: set OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.frames.data import FRAMES
from benchmarks.frames.runs import run_all
from benchmarks.frames.show import TABLES
from benchmarks.frames.tools import TOOLS

NAME = "frames"


def main():
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--frames", nargs="+", default=list(FRAMES), choices=FRAMES, metavar="FRAME")
    add("--tools", nargs="+", default=list(TOOLS), choices=TOOLS, metavar="TOOL",
        help=", ".join(TOOLS))  # fmt: skip
    add("--splits", type=int, nargs="+", default=[0, 1, 2], metavar="SPLIT")
    add("--max-rows", type=int, default=10_000, help="training rows")
    add("--limit", type=float, default=1800, help="seconds of one run")
    run_command(NAME, parser, run_all, TABLES)


if __name__ == "__main__":
    main()
