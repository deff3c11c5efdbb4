"""Tables in Markdown from the results of a benchmark, and the pages they are filled into."""

import re

ABSENT = "-"


def fill(page, tables, results):
    """Renew everything between ``<!-- begin NAME -->`` and ``<!-- end -->`` in a page.

    `tables` are functions by name, from the results to Markdown.
    """

    def renew(match):
        return f"{match[1]}\n{tables[match[2]](results)}\n{match[3]}"

    pattern = r"(<!-- begin ([\w .-]+) -->)\n.*?(<!-- end -->)"
    page.write_text(re.sub(pattern, renew, page.read_text(), flags=re.DOTALL))


def table(head, rows, left=1):
    """The first columns to the left, the others to the right."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def number(value, digits=3):
    """So many significant digits, never an exponent; "-" for None."""
    if value is None:
        return ABSENT
    if value == 0:
        return "0"
    text = f"{float(f'{value:.{digits}g}'):,.10f}".rstrip("0").rstrip(".")
    return text


def percent(value):
    return ABSENT if value is None else f"{value:.2f}"


def setup(results):
    """The machine and the run, in two sentences."""
    machine = results.machine
    stopped = sum("stopped" in run for run in results.runs.values())
    return (
        f"{machine['processor']}, {machine['threads']} threads on {machine['cores']} cores; "
        f"Python {machine['python']}, NumPy {machine['numpy']}, SciPy {machine['scipy']}, "
        f"scikit-learn {machine['scikit-learn']}. All {len(results.runs)} runs took "
        f"{results.minutes:.0f} minutes; the limit stopped {stopped} of them."
    )
