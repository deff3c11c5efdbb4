"""The experiments of Cipolla and Gondzio (2021), with their figures and ours beside.

python -m benchmarks.paper [NAME ...] [--limit 300] [--resume | --render]

Runs, on every set of the paper that is in the folder of the data sets, with its h and C: its own
method (HSS-ANN and ten iterations of ADMM, both tolerances) and hssvm's without refinement on the
whole grid; hssvm's with refinement, LIBSVM and a multi-block ADMM at the best h and C that the
paper found. Then what every change since the paper is worth, and the pictures.

The results go to docs/results/paper.json, the pictures into docs/paper. Threads: set
OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.libsvm_files import find
from benchmarks.limit import limited
from benchmarks.paper import changes, figures, methods, published
from benchmarks.paper.grid import key_of
from benchmarks.paper.tables import TABLES
from benchmarks.results import ROOT


def present(names):
    """Those of the sets that are in the data folder."""
    found = []
    for name in names:
        try:
            find(name)
        except FileNotFoundError as missing:
            print(f"{name}: left out. {missing}", flush=True)
        else:
            found.append(name)
    return found


def plan(names, limit):
    """(key, function, arguments) of every run, cheap sets first."""
    runs = []
    for name in names:
        for h in published.H_GRID:
            for setting, tolerances in published.TOLERANCES.items():
                arguments = (name, h, published.C_GRID, tolerances)
                runs.append(((name, setting, h), methods.interpolation, arguments))
            runs.append(((name, "compressed", h), methods.compressed, (name, h, published.C_GRID)))
        h, Cs = published.best_pair(name)
        for C in Cs:
            runs.append(((name, "refined", h, C), methods.refined, (name, h, C)))
            runs.append(((name, "libsvm", h, C), methods.libsvm, (name, h, C)))
        runs.append(((name, "blocks", h, Cs[0]), methods.blocks, (name, h, Cs[0], limit / 2)))
    for change, function in changes.CHANGES.items():
        for name in changes.SETS:
            if name in names:
                runs.append((("changes", change, name), function, (name,)))
    return runs


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=list(published.DATA_SETS))
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    run_command("paper", parser, run_all, TABLES)


def run_all(results, arguments):
    limit = arguments.limit
    for key, function, values in plan(present(arguments.names), limit):
        results.measure(key_of(*key), limited, limit, function, *values)
    figures.draw_all(results, ROOT / "docs" / "paper")


if __name__ == "__main__":
    main()
