"""Forests on millions of synthetic rows: accuracy, time per row, and memory.

python -m benchmarks.forest.large [--rows 500000 3500000] [--trees 4 8] [--resume] [--render]

The forest grows from the first number of trees to the last (`warm_start`), in a process of its own
for each number of rows. Times are in all, and per row and tree; memory is the peak of the process
so far, rows included. The best possible accuracy is 88.37 %. The results go to
docs/results/large_forests.json. Threads: set OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.forest.problems import synthetic
from benchmarks.limit import limited
from benchmarks.memory import peak_bytes
from benchmarks.tables import gigabytes, number, percent, seconds, setup, table
from benchmarks.timing import timed
from hssvm import HSS, SVC

LIMIT = 7200
TEST_ROWS = 200_000


def run(n_rows, numbers_of_trees):
    """Figures by number of trees."""
    X, y = synthetic(n_rows)
    X_test, y_test = synthetic(TEST_ROWS, seed=1)
    model = SVC(C=1.0, gamma=1 / 36, approximation=HSS(), random_state=0, warm_start=True)
    total, steps = 0.0, []
    for n_trees in numbers_of_trees:
        total += timed(lambda: model.set_params(approximation=HSS(n_trees=n_trees)).fit(X, y))[1]
        accuracy = 100 * float(model.score(X_test, y_test))
        steps.append({"trees": n_trees, "fit": total, "accuracy": accuracy, "peak": peak_bytes()})
    return {"rows": n_rows, "steps": steps}


def run_all(results, arguments):
    for n_rows in arguments.rows:
        results.measure(f"{n_rows} rows", limited, LIMIT, run, n_rows, arguments.trees)


def growth_table(results):
    lines = [
        [
            f"{found['rows']:,}",
            str(step["trees"]),
            percent(step["accuracy"]),
            seconds(step["fit"]),
            f"{number(1e6 * step['fit'] / found['rows'] / step['trees'], 2)} µs",
            gigabytes(step["peak"]),
        ]
        for found in results.runs.values()
        for step in found.get("steps", [])
    ]
    head = ["rows", "trees", "accuracy, %", "time", "per row and tree", "memory"]
    return table(head, lines, left=0)


TABLES = {"setup": setup, "growth": growth_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[500_000, 3_500_000])
    parser.add_argument("--trees", type=int, nargs="+", default=[4, 8])
    run_command("large_forests", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
