"""Default widths of kernels: multiples of gamma="scale" beside scikit-learn's 1 / (p variance).

python -m benchmarks.kernels.widths [NAME ...] [--rows 3000] [--render]

Trains on 3,000 standardized rows of ten data sets, with C = 1 and 10 (the better one counts), and
scores on up to 10,000 other rows: the error in percent, and RMSE relative to the standard deviation
of y. The results go to docs/results/widths.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.kernels.learned_scales import rows_of
from benchmarks.markdown import number, prefixes, setup, table
from hssvm import SVC, SVR
from hssvm.estimators.inputs.kernel import gamma_of_rows
from hssvm.training.data.scaling import Scaling

SETS = ("a9a", "ijcnn1", "cod-rna", "phishing", "higgs_sample", "covtype.binary", "satimage",
        "letter", "cadata", "kin40k")  # fmt: skip
KERNELS = ("rbf", "exponential", "laplacian", "matern32", "matern52")
MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
TEST_ROWS, Cs = 10_000, (1.0, 10.0)


def errors(name, kernel, n_rows):
    """The error for every gamma."""
    X, y, test_X, test_y, regression = rows_of(name, n_rows)
    test_X, test_y = test_X[:TEST_ROWS], test_y[:TEST_ROWS]
    scaling = Scaling.of(X, "standard")
    X, test_X = scaling(X), scaling(test_X)
    weight = np.ones(X.shape[0])
    scale = gamma_of_rows(kernel, "scale", X, weight)
    figures = {}
    for label, gamma in {
        **{str(multiple): multiple * scale for multiple in MULTIPLES},
        "moments": gamma_of_rows("rbf", "scale", X, weight),
    }.items():
        found = []
        for C in Cs:
            kind = SVR if regression else SVC
            model = kind(C, kernel=kernel, gamma=gamma, refine=True).fit(X, y)
            wrong = model.predict(test_X) - test_y
            found.append(np.sqrt(np.mean(wrong**2)) if regression else 100 * np.mean(wrong != 0))
        figures[label] = float(min(found))
    return figures


def run_all(results, arguments):
    for name in arguments.names:
        for kernel in arguments.kernels:
            results.measure(f"{name}: {kernel}", errors, name, kernel, arguments.rows)


def mean_table(results):
    """Mean ratio of the error to the smallest error over all widths, for every kernel."""
    labels = [*map(str, MULTIPLES), "moments"]
    kernels = list(dict.fromkeys(key.partition(": ")[2] for key in results.runs))
    lines = []
    for kernel in kernels:
        runs = [run for key, run in results.runs.items() if key.endswith(f": {kernel}")]
        ratios = [[run[label] / min(run[other] for other in labels) for label in labels]
                  for run in runs]  # fmt: skip
        lines.append([f'`"{kernel}"`', *(number(value, 3) for value in np.mean(ratios, axis=0))])
    return table(heads("kernel"), lines)


def sets_table(results):
    """The errors on every data set with the exponential kernel."""
    labels = [*map(str, MULTIPLES), "moments"]
    lines = [
        [name, *(number(results.runs[f"{name}: exponential"][label], 3) for label in labels)]
        for name in prefixes(results)
    ]
    return table(heads("exponential kernel"), lines)


def heads(first):
    return [first, "1/4", "1/2", '**gamma="scale"**', "2", "4", "1 / (p variance)"]


TABLES = {"setup": setup, "mean": mean_table, "sets": sets_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=SETS)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--kernels", nargs="*", default=KERNELS)
    run_command("widths", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
