import ast
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import hssvm
from hssvm.cli import messages
from hssvm.cli.messages import ADVICE, OPTIONS, PHRASES, in_options, warnings_as_lines
from hssvm.cli.parsing import parse_separator
from hssvm.cli.tables import scores
from hssvm.solvers import Status


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("C must be positive, got 0.0", "--C must be positive, got 0.0"),
        ("the memory_limit of 2 GB; lower max_rank or leaf_size",
         "the --memory-limit of 2 GB; lower --max-rank"),
        ("rows.csv has one column; did you mean separator=';'?",
         "rows.csv has one column; did you mean --separator ';'?"),
        ("scale the features: scaling='standard'", "scale the features: --scale standard"),
        ('take scaling="minmax" or scaling=None', "take --scale minmax or --scale none"),
        ("take refine=False, which", "take --refine no, which"),
        ("too large; read with dtype=np.float64", "too large; use --double"),
        ("pass format='csv' or 'numpy'", "pass --format csv or 'numpy'"),
        ("name the column of labels by target", "name the column of labels by --target"),
        ("it has data, target", "it has data, target"),
        ("the exact kernel and C:/data/target.csv", "the exact kernel and C:/data/target.csv"),
        ("/data/gamma/tol.csv has no column 'nu'", "/data/gamma/tol.csv has no column 'nu'"),
        ("kernel must be one of 'rbf'", "--kernel must be one of 'rbf'"),
    ],
)  # fmt: skip
def test_parameters_become_options(said, ours):
    assert in_options(said) == ours


def test_every_parameter_has_an_option_that_exists():
    from typer.main import get_command

    from hssvm.cli.app import app

    known = {name for command in get_command(app).commands.values()
             for parameter in command.params for name in parameter.opts}  # fmt: skip
    assert set(OPTIONS.values()) <= known


def strings_of(path):
    """Texts in a file of Python, without what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(getattr(part, "value", "")) for part in node.values)
        elif isinstance(node, ast.Constant):
            yield str(node.value)


def test_the_library_says_what_is_translated():
    """A phrase that has changed in the library would be left as it is."""
    files = set(Path(hssvm.__file__).parent.rglob("*.py")) - {Path(messages.__file__)}
    said = [text for path in files for text in strings_of(path)]
    assert [phrase for phrase in PHRASES if not any(phrase in text for text in said)] == []


def test_every_status_has_advice():
    fine = {Status.CONVERGED.name, Status.FIXED.name}
    assert set(ADVICE) == {status.name for status in Status} - fine


def test_a_warning_is_one_line():
    console = Console(width=40, force_terminal=False)
    with warnings.catch_warnings(), console.capture() as caught:
        warnings.simplefilter("default")
        with warnings_as_lines(console):
            warnings.warn(
                "features differ; try scaling='standard' [now]", UserWarning, stacklevel=1
            )
    assert caught.get() == "hssvm: features differ; try --scale standard [now]\n"


def test_separators_of_a_shell():
    assert [parse_separator(s) for s in (None, ";", "\\t", "tab", "\t")] == [None, ";", *"\t\t\t"]


@pytest.mark.parametrize(("n_gammas", "n_Cs"), [(2, 3), (3, 2)])
def test_scores_as_a_grid_or_a_list(n_gammas, n_Cs):
    """The chosen one need not be the highest: the others may come from fewer rows."""
    values = np.arange(n_gammas * n_Cs, dtype=float).reshape(n_gammas, n_Cs, 1) / 100
    search = SimpleNamespace(
        scores_=values,
        gammas_=np.arange(n_gammas) + 0.5,
        Cs_=np.arange(n_Cs) + 1.0,
        best_position=lambda: (1, 0),
    )
    bold = f"[bold]{values[1, 0, 0]:.4f}[/bold]"
    grid = scores(search)
    first, second = ("C", "gamma = 0.5") if n_gammas < n_Cs else ("gamma", "C = 1")
    assert [column.header for column in grid.columns[:2]] == [first, second]
    cells = [cell for column in grid.columns[1:] for cell in column.cells]
    assert cells.count(bold) == 1
    assert len(cells) == values.size
    values[0, 0] = np.nan
    listed = scores(search)
    assert [column.header for column in listed.columns] == ["C", "gamma", "score"]
    assert [next(iter(column.cells)) for column in listed.columns] == ["1", "1.5", bold]
    others = list(listed.columns[2].cells)[1:]
    assert others == sorted(others, reverse=True)
    assert len(others) == values.size - 2
