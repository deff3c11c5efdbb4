"""Tables in Markdown from the results."""

from benchmarks.markdown import ABSENT, number, percent, setup, table
from benchmarks.paper import published
from benchmarks.paper.changes import SETS
from benchmarks.paper.grid import best, run_of


def agreement(results):
    """In words: how far the accuracies are from those of the paper, and from LIBSVM's."""
    names = [name for name in published.DATA_SETS if best(results, name, "compressed")]
    lines = []
    for setting, theirs in published.HSS.items():
        away = {
            name: best(results, name, setting)[2] - theirs[name].accuracy
            for name in names
            if best(results, name, setting)
        }
        most = max(away, key=lambda name: abs(away[name]))
        lines.append(
            f"- HSS-ANN here, {setting}: within {abs(away[most]):.2f} points of the published "
            f"accuracy on all of {len(away)} sets (the largest difference is that of {most})."
        )
    gains = {
        name: best(results, name, "compressed")[2]
        - max(theirs[name].accuracy for theirs in published.HSS.values())
        for name in names
    }
    below = [name for name, gain in gains.items() if gain <= 0]
    lines.append(
        f"- hssvm on the compressed kernel: {min(gains.values()):+.2f} to "
        f"{max(gains.values()):+.2f} points against the better of the two published accuracies"
        + (f"; not better on {', '.join(below)}." if below else ", better on every set.")
    )
    pairs = [(name, h, C) for name in names for h, Cs in [published.best_pair(name)] for C in Cs]
    differences = [
        abs(run_of(results, name, "refined", h, C)["accuracy"] - run["accuracy"])
        for name, h, C in pairs
        if "accuracy" in (run := run_of(results, name, "libsvm", h, C))
    ]
    lines.append(
        f"- hssvm refined: within {max(differences):.3f} points of LIBSVM in all "
        f"{len(differences)} runs that LIBSVM finished."
    )
    return "\n".join(lines)


def breakdowns(results):
    """Runs without a factor."""
    broken = [
        f"{name}, {setting}, h = {h:g}"
        for name in published.DATA_SETS
        for setting in published.HSS
        for h in published.H_GRID
        if "not positive definite" in run_of(results, name, setting, h).get("error", "")
    ]
    return f"Runs of HSS-ANN that ended there: {'; '.join(broken) if broken else 'none'}."


def hss_table(setting):
    """Table 4 or 5: the paper's method here and as published, and hssvm on the same grid."""

    def render(results):
        rows = []
        for name in published.DATA_SETS:
            theirs = published.HSS[setting][name]
            figures = {
                "published": [
                    *(theirs.compress, theirs.factor, theirs.memory, theirs.admm),
                    *(theirs.h, theirs.C, theirs.accuracy),
                ],
                "HSS-ANN here": best_run(results, name, setting),
                "hssvm, compressed": best_run(results, name, "compressed"),
            }
            for label, found in figures.items():
                if found is not None:
                    *costs, h, Cs, accuracy = found
                    rows.append([
                        name if label == "published" else "",
                        label,
                        *(number(cost) for cost in costs),
                        f"{h:g}",
                        ", ".join(f"{C:g}" for C in Cs),
                        percent(accuracy),
                    ])  # fmt: skip
        head = ["", "", "compress, s", "factor, s", "MB", "ADMM, s", "h", "C", "accuracy, %"]
        return table(head, rows, left=2)

    return render


def best_run(results, name, method):
    """Costs at the best h, that h, the best C and their accuracy."""
    found = best(results, name, method)
    if found is None:
        return None
    run = run_of(results, name, method, found[0])
    return [run["compress"], run["factor"], run["memory"], run["solve"], *found]


def pair_table(render_row):
    """A table of the sets, at every pair (h, C) of `published.best_pair`."""

    def render(results):
        head, _ = render_row(results, next(iter(published.DATA_SETS)), 1, 1)
        rows = []
        for name in published.DATA_SETS:
            h, Cs = published.best_pair(name)
            for C in Cs:
                _, cells = render_row(results, name, h, C)
                if any(cell != ABSENT for cell in cells[:2]):
                    rows.append([name, f"{h:g}", f"{C:g}", *cells])
        return table(["", "h", "C", *head], rows)

    return render


@pair_table
def libsvm(results, name, h, C):
    theirs = published.LIBSVM[name]
    rival, ours = (run_of(results, name, method, h, C) for method in ("libsvm", "refined"))
    head = ["LIBSVM, s", "%", "hssvm refined, s", "%", "times", "published, s", "%"]
    ratio = rival["seconds"] / ours["seconds"] if "seconds" in rival and "seconds" in ours else None
    return head, [*seconds_and_accuracy(rival), *seconds_and_accuracy(ours),
                  number(ratio, 2), *published_cells(theirs)]  # fmt: skip


@pair_table
def racqp(results, name, h, C):
    theirs = published.RACQP[name]
    run = run_of(results, name, "blocks", h, C)
    head = ["multi-block ADMM, s", "%", "sweeps", "published RACQP, s", "%"]
    return head, [*seconds_and_accuracy(run), number(run.get("sweeps")), *published_cells(theirs)]


def seconds_and_accuracy(run):
    if "stopped" in run:
        return [f"stopped after {run['stopped']:g}", ABSENT]
    if "error" in run:
        return [run["error"], ABSENT]
    return [number(run.get("seconds")), percent(run.get("accuracy"))]


def published_cells(result):
    if result is None:
        return ["stopped after 36,000", ABSENT]
    return [number(result.runtime), percent(result.accuracy)]


def changes_table(change, lines):
    """A table with a column for every set and one line per (label, figure of a run)."""

    def render(results):
        names = [name for name in SETS if run_of(results, "changes", change, name)]
        runs = [run_of(results, "changes", change, name) for name in names]
        head = ["", *(f"{name}, h = {SETS[name]:g}" for name in names)]
        return table(head, [[label, *(show(run) for run in runs)] for label, show in lines.items()])

    return render


TABLES = {
    "setup": setup,
    "agreement": agreement,
    "breakdowns": breakdowns,
    "loose": hss_table("loose"),
    "tight": hss_table("tight"),
    "libsvm": libsvm,
    "racqp": racqp,
    "definiteness": changes_table("definiteness", {
        "HSS-ANN, loose": lambda run: number(run["loose"]),
        "HSS-ANN, tight": lambda run: number(run["tight"]),
        "nested Nystroem": lambda run: number(run["nested"]),
    }),
    "one kernel": changes_table("one kernel", {
        "accuracy with k~, %": lambda run: percent(run["leafwise"]["accuracy"]),
        "accuracy with k, %": lambda run: percent(run["exact"]["accuracy"]),
        "seconds with k~": lambda run: number(run["leafwise"]["seconds"], 2),
        "seconds with k": lambda run: number(run["exact"]["seconds"], 2),
    }),
    "growing ranks": changes_table("growing ranks", {
        f"{label}: {figure}": lambda run, key=key, figure=figure: number(run[key][figure])
        for key, label in {
            "growing": "72 at the leaves, growing",
            "constant": "72 everywhere",
            "constant, more": "100 everywhere",
        }.items()
        for figure in ("error", "memory")
    }),
    "skeletons": changes_table("skeletons", {
        f"{label}: {figure}": lambda run, key=key, figure=figure: number(run[key][figure])
        for key, label in {
            "interpolation": "HSS-ANN",
            "nested": "nested Nystroem",
        }.items()
        for figure in ("error", "seconds")
    }),
    "convergence": changes_table("convergence", {
        f"{label}: {name}": lambda run, key=key, figure=figure: number(run[key][figure])
        for key, label in {"paper": "10 iterations, beta = 100", "ours": "to a gap of 1e-3"}.items()
        for figure, name in {
            "gap": "relative gap",
            "iterations": "iterations",
            "seconds": "seconds",
            "accuracy": "accuracy, %",
        }.items()
    }),
}  # fmt: skip
