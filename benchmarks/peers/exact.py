"""The same solution as scikit-learn and scikit-learn-intelex, and in what time.

python -m benchmarks.peers.exact [NAME ...] [--repeats 3] [--limit 300] [--resume] [--render]

Trains all with their default tolerances on the published split, more than two classes one-vs-one.
Every run is a process of its own, stopped after --limit seconds. The best of the repeats counts,
and the tools take turns; scikit-learn, which is LIBSVM, runs once, and predicts a few of the test
rows. The dual objective is that on the exact kernel, in float64; with several pairs of classes, it
is the sum over the pairs. The results go to docs/results/exact.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import size_of
from benchmarks.markdown import (
    ABSENT,
    data_set,
    number,
    percent,
    prefixes,
    seconds,
    setup,
    table,
    times,
)
from benchmarks.peers.compare import fit_and_score, shortfall
from benchmarks.peers.rivals import SEED, attempt
from benchmarks.peers.settings import HARDER, load_problem

NAMES = ["ijcnn1", "a9a", "cod-rna", "w8a", "letter", "covtype.50k", "mnist", "cadata", "casp"]
SHORT = ["ijcnn1", "cod-rna", "a9a", "covtype.50k", "cadata", "mnist"]
OURS, INTEL, LIBSVM = "hssvm", "scikit-learn-intelex", "scikit-learn SVM"
RIVALS = {INTEL: "scikit-learn-intelex", LIBSVM: "scikit-learn"}
"""With the names that they have in the tables."""

LIBSVM_TEST_ROWS = 1000
"""It takes minutes for all, and as long for every row."""


def run(name, tool):
    """Fit and score one tool."""
    (X, y, X_test, y_test), parameters = load_problem(name, HARDER)
    if tool == LIBSVM:
        some = np.random.default_rng(SEED).permutation(len(y_test))[:LIBSVM_TEST_ROWS]
        X_test, y_test = X_test[some], y_test[some]
    found = fit_and_score(tool, (X, y, X_test, y_test), parameters)
    return {**size_of(X, y), "parameters": parameters, "test rows": len(y_test), **found}


def key_of(name, tool, repeat):
    return f"{name}: {tool}, run {repeat + 1}"


def run_all(results, arguments):
    for name in arguments.names:
        for repeat in range(arguments.repeats):
            for tool in (OURS, *RIVALS):
                before = results.runs.get(key_of(name, tool, repeat - 1), {})
                if repeat == 0 or ("fit" in before and tool != LIBSVM):
                    key = key_of(name, tool, repeat)
                    results.measure(key, attempt, arguments.limit, tool, run, name, tool)


def best(results, name, tool):
    """Figures of a tool, with the best times of its runs, and the most that all but a fit took."""
    start = key_of(name, tool, 0)[:-1]
    runs = [run for key, run in results.runs.items() if key.startswith(start)]
    done = [run for run in runs if "fit" in run]
    if not done:
        return runs[0] if runs else {}
    return {
        **done[0],
        "fit": min(run["fit"] for run in done),
        "predict": min(run["predict"] for run in done),
        "rest": max(run["wall"] - run["fit"] for run in done),
    }


def at_least(ours, theirs):
    """Seconds that a stopped fit has taken for certain: without what reading the data takes."""
    return theirs["stopped"] - ours["rest"]


def multiple(ours, theirs, which):
    """A cell: the time of a rival as a multiple of ours."""
    if which == "fit" and "stopped" in theirs:
        return f"> {int(at_least(ours, theirs) / ours['fit'])} x"
    return times(theirs[which] / ours[which]) if which in theirs else ABSENT


def fits_table(results):
    lines = []
    for name in prefixes(results):
        ours, *theirs = (best(results, name, tool) for tool in (OURS, *RIVALS))
        duals = [float(run["dual"]) for run in (ours, *theirs) if "dual" in run]
        if "fit" not in ours:
            continue
        lines.append(
            [
                data_set(name, ours),
                seconds(ours["fit"]),
                *(multiple(ours, run, "fit") for run in theirs),
                f"{number(ours['predict'], 2)} µs",
                *(multiple(ours, run, "predict") for run in theirs),
                percent(ours["score"]),
                percent(theirs[0].get("score")),
                shortfall(ours["dual"], max(duals)),
            ]
        )
    head = ["data set"]
    for what in ("fit", "predict a row"):
        head += [what, f"{what}, intelex", f"{what}, scikit-learn"]
    head += ["accuracy or R², %", "accuracy or R², intelex", "dual below best"]
    return table(head, lines)


def short_table(results):
    lines = []
    for name in SHORT:
        ours, *theirs = (best(results, name, tool) for tool in (OURS, *RIVALS))
        if "fit" not in ours:
            continue
        cells = [short_cell(ours, run) for run in theirs]
        size = f"{name} ({ours['rows']:,} x {ours['features']})"
        lines.append([size, number(ours["fit"], 2), *cells, percent(ours["score"])])
    head = ["data set (rows x features)", "hssvm, s", *(f"{tool}, s" for tool in RIVALS.values())]
    return table([*head, "accuracy or R², %"], lines)


def short_cell(ours, theirs):
    """Seconds of a rival, and the multiple."""
    if "stopped" in theirs:
        return f"> {int(at_least(ours, theirs))} ({multiple(ours, theirs, 'fit')})"
    if "fit" not in theirs:
        return ABSENT
    return f"{number(theirs['fit'], 2)} ({multiple(ours, theirs, 'fit')})"


TABLES = {"setup": setup, "fits": fits_table, "short": short_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    run_command("exact", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
