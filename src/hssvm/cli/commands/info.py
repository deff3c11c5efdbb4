"""``hssvm info``."""

from __future__ import annotations

from hssvm.cli import options, tables
from hssvm.cli.context import out, working
from hssvm.cli.messages import in_options
from hssvm.cli.streams import load_model


def info(model: options.Model) -> None:
    """Describe a model, and the accuracy and cost of its fit."""
    with working():
        loaded = load_model(model)
        report = in_options(loaded.fit_report_.summary())
        text = f"{tables.describe(loaded)}\n\n{loaded}\n{report}"
        out.print(text, highlight=False, soft_wrap=True, markup=False)
