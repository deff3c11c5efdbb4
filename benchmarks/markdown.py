"""Tables in Markdown from the results of a benchmark."""

ABSENT = "-"


def table(head, rows, left=1):
    """The first columns to the left, the others to the right."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def number(value, digits=3):
    """A number with this many significant digits, never an exponent; "-" for None."""
    if value is None:
        return ABSENT
    if value == 0:
        return "0"
    text = f"{float(f'{value:.{digits}g}'):,.10f}".rstrip("0").rstrip(".")
    return text


def percent(value):
    return ABSENT if value is None else f"{value:.2f}"


def seconds(value):
    return f"{number(value, 2)} s" if value < 600 else f"{number(value / 60, 2)} min"


def milliseconds(value):
    return f"{number(1e3 * value, 2)} ms"


def gigabytes(n_bytes):
    return f"{number(n_bytes / 1e9, 2)} GB"


def megabytes(n_bytes):
    return f"{number(n_bytes / 1e6, 2)} MB"


def share(value):
    """Of 1, in percent."""
    return f"{number(100 * value, 2)} %"


def power(value):
    """A small number, such as a gap: its order of magnitude matters."""
    return f"{value:.0e}"


def times(value):
    """One time as a multiple of another."""
    return f"{number(value, 2)} x"


def span(values, form=lambda value: number(value, 2)):
    """The smallest and the largest of some numbers."""
    return f"{form(min(values))} to {form(max(values))}"


def cell(run, which, form=number):
    """A figure of a run; "over 300 s" if the limit stopped it, "-" where there is none."""
    if "stopped" in run:
        return f"over {run['stopped']:g} s"
    value = run.get(which)
    return ABSENT if value is None else form(value)


def runs_table(head, columns, runs):
    """A line for each of the runs, by label; the columns are figures and their forms, by head."""
    lines = [
        [label, *(cell(run, which, form) for which, form in columns.values())]
        for label, run in runs.items()
    ]
    return table([head, *columns], lines)


def prefixes(results):
    """What the keys of the runs have before ": ", such as the names of the data sets."""
    return list(dict.fromkeys(key.partition(": ")[0] for key in results.runs))


def data_set(name, run):
    """A data set with what `size_of` says about its rows, and the parameters of the run if any."""
    parts = [name, f"{run['rows']:,} x {run['features']}{' CSR' if run['sparse'] else ''}"]
    if run["classes"] > 2:
        parts.append(f"{run['classes']} classes")
    parts += [f"{key} = {number(value)}" for key, value in run.get("parameters", {}).items()]
    return ", ".join(parts)


def setup(results):
    """The commands, the commit, the machine and the runs."""
    about = results.about
    stopped = sum("stopped" in run for run in results.runs.values())
    threads = "1 thread" if about["threads"] == 1 else f"{about['threads']} threads"
    n_runs = len(results.runs)
    runs = {1: "The run", 2: "Both runs"}.get(n_runs, f"All {n_runs} runs")
    commands = ", ".join(f"`{command}`" for command in results.commands)
    minutes = f"{results.minutes:.0f} minutes" if results.minutes > 1.5 else "about a minute"
    text = (
        f"{commands}, commit {about['commit']}, on {about['processor']}, {threads} on "
        f"{about['cores']} cores, with Python {about['python']}, NumPy {about['numpy']}, SciPy "
        f"{about['scipy']} and scikit-learn {about['scikit-learn']}. {runs} took {minutes}"
    )
    return f"{text}; the limit stopped {stopped} of them." if stopped else f"{text}."
