"""Learned scales on 2 million rows of 30 features, of which 5 matter.

python -m benchmarks.kernels.irrelevant [--rows 2000000] [--render]

The classes are where the function of Friedman (1991), of five features, is above its mean, and a
twentieth of the labels are flipped. Fits cells of
2,000 rows with the exponential kernel, with scaling="standard" and with scaling="learned", and
scores on 100,000 other rows without flipped labels: their error is the excess over the smallest
possible one. The results go to docs/results/irrelevant.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import number, percent, seconds, setup, table
from benchmarks.timing import timed
from hssvm import SVC, Cells

FEATURES, RELEVANT, TEST_ROWS, FLIPPED = 30, 5, 100_000, 0.05


def rows_of(n, flipped, seed):
    """Rows, and labels of which a share is flipped."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, FEATURES)).astype(np.float32)
    a, b, c, d, e = X[:, :RELEVANT].T
    y = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e > 14.4
    return X, y ^ (rng.uniform(size=n) < flipped)


def run(n_rows, scaling):
    """Excess error, share of the importances that the relevant features have, and seconds."""
    X, y = rows_of(n_rows, FLIPPED, 0)
    X_test, y_test = rows_of(TEST_ROWS, 0.0, 1)
    model = SVC(
        C=10, kernel="exponential", scaling=scaling, approximation=Cells(2000), random_state=0
    )
    _, fit = timed(lambda: model.fit(X, y))
    found = {"rows": n_rows, "fit": fit, "error": float(np.mean(model.predict(X_test) != y_test))}
    if scaling == "learned":
        importances = model.feature_importances_
        relevant = set(np.argsort(importances)[-RELEVANT:].tolist()) == set(range(RELEVANT))
        found |= {"scales": model.fit_report_.seconds["scales"], "found": relevant,
                  "share": float(importances[:RELEVANT].sum())}  # fmt: skip
    return found


def run_all(results, arguments):
    for scaling in ("standard", "learned"):
        results.measure(scaling, run, arguments.rows, scaling)


def errors(results):
    """A line for each scaling."""
    lines = []
    for scaling, found in results.runs.items():
        share = f"{percent(100 * found['share'])} %" if "share" in found else "-"
        learning = seconds(found["scales"]) if "scales" in found else "-"
        error = f"{number(100 * found['error'], 3)} %"
        lines.append([f'`"{scaling}"`', error, share, seconds(found["fit"]), learning])
    head = ["scaling", "excess error", "importance of the five", "fit", "of this, scales"]
    return table(head, lines)


TABLES = {"setup": setup, "errors": errors}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    run_command("irrelevant", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
