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


def setup(results):
    """The command, the commit, the machine and the runs."""
    about = results.about
    stopped = sum("stopped" in run for run in results.runs.values())
    threads = "1 thread" if about["threads"] == 1 else f"{about['threads']} threads"
    text = (
        f"`{about['command']}`, commit {about['commit']}, on {about['processor']}, {threads} on "
        f"{about['cores']} cores, with Python {about['python']}, NumPy {about['numpy']}, SciPy "
        f"{about['scipy']} and scikit-learn {about['scikit-learn']}. All {len(results.runs)} runs "
        f"took {results.minutes:.0f} minutes"
    )
    return f"{text}; the limit stopped {stopped} of them." if stopped else f"{text}."
