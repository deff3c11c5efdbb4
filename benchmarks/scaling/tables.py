"""Tables of docs/dask.md and docs/internet_scale.md, from the results of `cluster`."""

from benchmarks.markdown import ABSENT, gigabytes, number, seconds, setup, share, table
from benchmarks.markdown import milliseconds as ms
from benchmarks.scaling.exact_model import exact_runs, growth, predict_exact
from benchmarks.scaling.model import (
    Cluster,
    Constants,
    largest,
    on_this_machine,
    predict,
)

PLANS = [(1e7, 10), (1e8, 10), (1e8, 100), (1e9, 100), (1e9, 1000)]
MACHINE_BYTES = 64e9
EXACT_PLANS = [(1e6, 2), (1e6, 10), (1e7, 10), (1e7, 100)]


def of_kind(results, kind):
    """Runs of a kind, in the order they were made."""
    return [run for key, run in results.runs.items() if key.startswith(f"{kind} ")]


def overhead(results, steps):
    """Seconds per iteration of bare synchronizations; of the solve, and of each sum."""
    bare = results.runs[f"sync {steps['workers']}, 1 columns"]
    n_syncs = steps["syncs"] / steps["iterations"]
    return n_syncs, bare["solve"] + (n_syncs - 1) * bare["sum"]


def iteration(results):
    """An iteration in all its parts, by number of workers."""
    runs = of_kind(results, "iterations")
    bare = [results.runs[f"sync {run['workers']}, 1 columns"] for run in runs]
    times = [run["seconds"]["solve"] / run["iterations"] for run in runs]
    costs = [overhead(results, run) for run in runs]
    waited = [min(run["waited"]) / run["iterations"] for run in runs]
    alone = {run["workers"]: run["iteration"] for run in of_kind(results, "alone")}
    without = [alone.get(run["workers"]) for run in runs]
    lines = [
        ["one iteration", *map(ms, times)],
        ["the same rows without a cluster", *(ABSENT if s is None else ms(s) for s in without)],
        ["synchronizations per iteration", *(number(n, 2) for n, _ in costs)],
        ["a bare synchronization: solve", *(ms(run["solve"]) for run in bare)],
        ["a bare synchronization: sum", *(ms(run["sum"]) for run in bare)],
        ["bare synchronizations per iteration", *(ms(cost) for _, cost in costs)],
        [
            "share of the iteration",
            *(share(cost / time) for (_, cost), time in zip(costs, times, strict=True)),
        ],
        ["waiting time, slowest part", *map(ms, waited)],
    ]
    return table(["", *(f"{r['workers']} workers x {r['rows']:,} rows" for r in runs)], lines)


def fits(results):
    lines = [
        [
            f"{run['workers']} x {run['rows']:,}",
            *(number(run["seconds"][stage], 2) for stage in ("describe", "shuffle", "compress")),
            *(number(run["seconds"][stage], 2) for stage in ("factor", "solve", "finish")),
            number(run["fit"], 3),
            str(run["iterations"]),
            f"{run['accuracy']:.2f} %",
        ]
        for run in of_kind(results, "fit")
    ]
    head = ["workers x rows", "describe", "shuffle", "compress", "factor", "solve", "finish"]
    return table([*head, "fit, seconds", "iterations", "accuracy"], lines)


def memory(results):
    """Bytes per row."""
    lines = [
        [
            f"{run['workers']} x {run['rows']:,}",
            str(run["trees"]),
            *(number(run[what], 3) for what in ("matrix", "factor")),
            number(run["matrix"] + run["factor"], 3),
            number(run["peak"], 3),
            f"{run['accuracy']:.2f} %",
        ]
        for run in [*of_kind(results, "fit"), *of_kind(results, "forest")]
    ]
    head = ["matrix", "factor", "both", "peak of a worker"]
    head = [f"{name}, bytes per row" for name in head]
    return table(["workers x rows", "trees", *head, "accuracy"], lines, left=2)


def one_machine(results):
    """How many rows a machine of 64 GB holds."""
    (forest,) = of_kind(results, "forest")
    peak = forest["peak"]
    n_rows = MACHINE_BYTES / peak
    return (
        f"With a forest of {forest['trees']} compressed kernels, a worker took up to "
        f"{number(peak / 1e3, 2)} kB per row (18 features, float32), so a machine of 64 GB holds "
        f"about {number(n_rows / 1e6, 2)} million rows."
    )


def driver(results):
    run = results.runs.get("driver")
    if run is None:
        return "Not measured yet."
    data = 4 * run["features"] * run["rows"] * run["workers"]
    return (
        f"Fitting {run['workers'] * run['rows']:,} rows of {run['features']} features, "
        f"{gigabytes(data)} in float32, made the process that calls `fit` grow by "
        f"{number(run['driver'] / 1e6, 2)} MB at its peak, {share(run['driver'] / data)} of the "
        "data; the scheduler is in that process too."
    )


def messages(results):
    """Bytes of a worker and iteration, up and down."""
    steps = largest(results.runs, "iterations")
    n_sums = steps["syncs"] / steps["iterations"] - 1
    lines = []
    for k in (1, 10):
        sent = results.runs[f"messages {k}"]
        wire = results.runs[f"sync {steps['workers']}, {k} columns"]
        lines.append(
            [
                str(k),
                *(number(sent[kind] / 1e3, 2) for kind in ("solve numbers", "solve")),
                number(wire["solve bytes"] / 1e3, 2),
                *(number(sent[kind] / 1e3, 2) for kind in ("sum numbers", "sum")),
                number(wire["sum bytes"] / 1e3, 2),
                number((sent["solve"] + n_sums * sent["sum"]) / 1e3, 2),
            ]
        )
    head = [f"{kind}: {what}" for kind in ("solve", "sum") for what in ("numbers", "sent", "wire")]
    return table(["columns", *head, "per iteration, kB"], lines)


def tops(results):
    """The levels above many parts, and synchronizations through their coordinators."""
    lines = []
    for top in of_kind(results, "top"):
        tree, crowd = (results.runs[f"{kind} {top['parts']}"] for kind in ("tree", "crowd"))
        lines.append(
            [
                f"{top['parts']:,}",
                str(top["on the way"]),
                seconds(top["compress"]),
                seconds(top["factor"]),
                *(ms(top[f"{what} {k}"]) for k in (1, 10) for what in ("solve", "far field")),
                gigabytes(top["bytes"]),
                ms(tree["solve"]),
                ms(crowd["round"]),
            ]
        )
    head = ["parts", "on the way", "compress", "factor", "solve, 1 column", "product, 1"]
    head += ["solve, 10", "product, 10", "memory", "a synchronization", "with one coordinator"]
    return table(head, lines)


def threads(results):
    one, two = (results.runs[f"threads {n}"] for n in (1, 2))
    lines = [
        [stage, seconds(one[stage]), seconds(two[stage]), share(one[stage] / two[stage] / 2)]
        for stage in ("tree", "compress", "factor", "iteration")
    ]
    return table(["", "1 thread", "2 threads", "efficiency"], lines)


def plan(results):
    """The predictions."""
    constants = Constants.of(results.runs)
    lines = []
    for n_rows, workers in PLANS:
        cost = predict(constants, n_rows, Cluster(workers))
        lines.append(
            [
                f"{int(n_rows):,}",
                f"{workers:,}",
                gigabytes(cost.memory),
                gigabytes(cost.memory_first),
                seconds(cost.read),
                seconds(cost.build),
                ms(cost.iteration),
                share(cost.sync / cost.iteration),
                f"{number(cost.traffic / 1e6, 2)} MB",
                seconds(cost.total),
            ]
        )
    head = ["rows", "workers", "memory of a worker", "of one with a coordinator", "read twice"]
    head += [
        "build",
        "an iteration",
        "of that, synchronizations and top levels",
        "traffic of an iteration",
    ]
    return table([*head, "in all"], lines, left=2)


def exact(results):
    """Exact fits on one thread."""
    lines = []
    for run in exact_runs(results.runs):
        s, u, values = run["support"], run["working"], run["product values"]
        lines.append(
            [
                *(f"{run[what]:,}" for what in ("rows", "support", "free", "working", "rounds")),
                number(values / (run["rows"] * s), 2),
                number(run["block values"] / (s * u), 2),
                *(seconds(run[what]) for what in ("product", "block", "smo")),
            ]
        )
    head = ["rows", "support vectors", "free", "working set", "rounds", "values / (n s)"]
    return table([*head, "values / (s u)", "products", "working set", "SMO"], lines)


def working_sets(results):
    """The same problem with smaller working sets."""
    runs = [exact_runs(results.runs)[0], *of_kind(results, "working set")]
    lines = [
        [
            f"{run['working']:,}",
            number(run["working"] / run["free"], 2),
            f"{run['rounds']:,}",
            seconds(run["product"] + run["block"] + run["smo"]),
        ]
        for run in runs
    ]
    return table(["working set", "per free support vector", "rounds", "seconds"], lines)


def refinement(results):
    """Synchronizations and bytes of an exact fit on a cluster."""
    (run,) = of_kind(results, "refine")
    rounds = run["rounds"]
    return (
        f"On {run['workers']} workers with {run['rows']:,} rows each, a fit on the exact kernel "
        f"took {rounds} rounds, with {number(run['syncs'] / rounds, 2)} synchronizations and "
        f"{number(run['bytes'] / rounds / 1e3, 2)} kB per round at the first worker: "
        f"{number(run['bytes'] / rounds / run['working'], 2)} bytes per row of the working set."
    )


def exact_plan(results):
    """Predictions of exact fits."""
    constants, lines = Constants.of(results.runs), []
    for n_rows, workers in EXACT_PLANS:
        cluster = Cluster(workers)
        cost = predict_exact(results.runs, n_rows, cluster)
        start = predict(constants, n_rows, cluster).total
        lines.append(
            [
                f"{int(n_rows):,}",
                f"{workers:,}",
                number(cost.support, 2),
                number(cost.working, 2),
                gigabytes(cost.memory),
                seconds(start),
                *(seconds(part) for part in (cost.products, cost.block + cost.smo, cost.syncs)),
                f"{number(cost.traffic / 1e6, 2)} MB",
                seconds(start + cost.total),
            ]
        )
    head = ["rows", "workers", "support vectors", "working set", "its matrix", "start", "products"]
    head += ["matrix and SMO", "synchronizations", "traffic of a round"]
    return table([*head, "in all"], lines, left=2)


def exact_growth(results):
    """The exponents of the model of exact fits."""
    powers = {what: growth(results.runs, what)[1] for what in ("support", "free", "rounds")}
    return (
        f"Support vectors grow like n^{number(powers['support'], 2)}, free ones like "
        f"n^{number(powers['free'], 2)}, and rounds like n^{number(powers['rounds'], 2)} between "
        "the last two of these sizes, and the model assumes that these rates continue."
    )


def constants(results):
    """What goes into the model."""
    c = Constants.of(results.runs)
    lines = [
        ["read, both passes", f"{number(1e6 * c.read, 2)} µs per row"],
        ["tree and compression", f"{number(1e6 * c.compress, 2)} µs per row"],
        ["factor", f"{number(1e6 * c.factor, 2)} µs per row, {c.n_factors} times"],
        ["iteration", f"{number(1e6 * c.iteration, 2)} µs per row, {c.n_iterations} times"],
        [
            "synchronization",
            f"{ms(c.sync_fixed)} per tier and {number(1e6 * c.sync_part, 2)} µs per member",
        ],
        ["synchronizations per iteration", number(c.syncs, 2)],
        ["group: compression", f"{ms(c.top_compress)} per member"],
        ["group: factor", f"{ms(c.top_factor)} per member"],
        ["group: solve", f"{number(1e6 * c.top_solve, 2)} µs per member"],
        ["group: memory", f"{number(c.top_bytes / 1e6, 2)} MB per member"],
        ["messages", f"{number(c.message / 1e3, 2)} kB per worker and iteration"],
        ["peak of a worker, at most", f"{number(c.peak / 1e3, 2)} kB per row"],
        ["a task of the shuffle", ms(c.task)],
    ]
    return table(["one thread", ""], lines)


def checked(results):
    """The model beside the measured fits."""
    c, cores = Constants.of(results.runs), results.about["cores"]
    lines = []
    for run in of_kind(results, "fit"):
        cost = on_this_machine(c, run, cores)
        lines.append(
            [
                f"{run['workers']} x {run['rows']:,}",
                seconds(cost.total),
                seconds(run["fit"]),
                gigabytes(cost.memory),
                gigabytes(run["before"] + run["peak"] * run["rows"]),
            ]
        )
    head = ["workers x rows", "fit, predicted", "measured", "memory, predicted", "measured"]
    return table(head, lines)


TABLES = {
    "setup": setup,
    "iteration": iteration,
    "fits": fits,
    "memory": memory,
    "one machine": one_machine,
    "driver": driver,
    "messages": messages,
    "tops": tops,
    "threads": threads,
    "constants": constants,
    "plan": plan,
    "exact": exact,
    "working sets": working_sets,
    "refinement": refinement,
    "exact growth": exact_growth,
    "exact plan": exact_plan,
    "checked": checked,
}
