"""``hssvm info``."""

from __future__ import annotations

from hssvm.cli import options


def info(model: options.Model) -> None:
    """Describe a model, and the accuracy and cost of its fit."""
    from hssvm.cli import tables
    from hssvm.cli.checks import check_inputs
    from hssvm.cli.context import out, working
    from hssvm.cli.messages import ADVICE_BY_TEXT
    from hssvm.cli.streams import load_parts

    check_inputs(model)
    with working():
        loaded, encoder = load_parts(model)
        report = loaded.fit_report_
        report.advice = [ADVICE_BY_TEXT.get(text, text) for text in report.advice]
        text = f"{tables.describe(loaded, encoder)}\n\n{loaded}\n{report.summary()}"
        out.print(text, highlight=False, soft_wrap=True, markup=False)
