import ast
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.command import run_here
from helpers.mutants import unzipped, zipped
from rich.console import Console
from typer.main import get_command

import hssvm
from hssvm.cli import options
from hssvm.cli.app import app
from hssvm.cli.messages import (
    ADVICE,
    OPTIONS,
    PHRASES,
    as_option,
    in_options,
    warnings_as_lines,
)
from hssvm.cli.parsing import parse_separator
from hssvm.cli.tables import scores
from hssvm.exceptions import DataWarning
from hssvm.messages import Message, api
from hssvm.solvers import Status


def marked_words():
    """Words that the library marks with `api`, except those it fills in."""
    for path in sorted(Path(hssvm.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FormattedValue) and ast.unparse(node.value) == "api":
                pieces = node.format_spec.values
                if all(isinstance(piece, ast.Constant) for piece in pieces):
                    yield "".join(piece.value for piece in pieces)


WORDS = sorted(set(marked_words()))

CHOICES = {
    "--kernel": ["", *options.Kernel],
    "--multi-class": ["", *options.MultiClass],
    "--probability": ["", *options.Probability],
    "--refine": ["", *options.Refine],
    "--scale": ["", *options.Scaling],
    "--task": list(options.Task),
}


@pytest.mark.parametrize("words", sorted({*WORDS, *OPTIONS}))
def test_messages_name_options_that_exist(words):
    known = {name for command in get_command(app).commands.values()
             for parameter in command.params for name in parameter.opts}  # fmt: skip
    said = as_option(words)
    assert said.startswith("--") or words in PHRASES
    for option, value in re.findall(r"(--[\w-]+)(?: ([\w.]+))?", said):
        assert option in known
        assert value in CHOICES.get(option, [value]) or words in PHRASES.keys() - {"SVC", "SVR"}


def test_the_library_says_every_phrase():
    assert set(PHRASES) <= set(WORDS)


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        (f"{api:C} must be positive, got 0.0", "--C must be positive, got 0.0"),
        (f"the {api:memory_limit} of 2 GB; lower {api:max_rank or leaf_size}",
         "the --memory-limit of 2 GB; lower --max-rank"),
        (f"rows.csv has one column; did you mean {api:separator=';'}?",
         "rows.csv has one column; did you mean --separator ';'?"),
        (f"did you mean {api:separator={chr(9)!r}}?", "did you mean --separator '\\t'?"),
        (f"{api:scaling='minmax'} or {api:scaling=None}", "--scale minmax or --scale none"),
        (f"take {api:refine=False}, which", "take --refine no, which"),
        (f"too large; {api:read with dtype=np.float64}", "too large; use --double"),
        (f"pass {api:format='csv'} or 'numpy'", "pass --format csv or 'numpy'"),
        (f"{api:leaf_size} must be an integer", "leaf_size must be an integer"),
        ("the exact kernel and C:/data/target.csv", "the exact kernel and C:/data/target.csv"),
        ("/data/gamma/tol.csv has no column 'nu'", "/data/gamma/tol.csv has no column 'nu'"),
        ("take refine=False", "take refine=False"),
    ],
)  # fmt: skip
def test_marked_words_become_options(said, ours):
    assert in_options(Message(said)) == ours
    assert in_options(ValueError(Message(said))) == ours


def test_other_messages_are_unchanged():
    text = "rows.csv lacks 'gamma'; lower max_rank"
    assert in_options(text) == in_options(ValueError(text)) == text
    assert in_options(ValueError()) == ""
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff".decode()
    assert in_options(caught.value) == str(caught.value)


def test_errors_about_a_corrupted_file_are_unchanged(tmp_path, rng):
    X, path = rng.standard_normal((60, 2)), tmp_path / "model.hssvm"
    hssvm.SVC(kernel="poly", degree=2).fit(X, X[:, 0] > 0).save(path)
    (name, document), *arrays = unzipped(path.read_bytes())
    damaged = document.replace(b'"degree": 2', b'"degree": 2000')
    path.write_bytes(zipped([(name, damaged), *arrays]))
    with pytest.raises(ValueError, match="the degree of its kernel") as error:
        hssvm.load(path)
    assert run_here("info", path, cwd=tmp_path).stderr == f"hssvm: {error.value}\n"


def test_info_names_options_in_saved_advice(tmp_path, rng):
    X = rng.standard_normal((600, 2)) * [1, 1e-3]
    with pytest.warns(DataWarning, match='fit with scaling="standard"'):
        hssvm.SVC().fit(X, X[:, 0] > 0).save(tmp_path / "model.hssvm")
    shown = run_here("info", "model.hssvm", cwd=tmp_path).stdout
    assert "fit with --scale standard, or" in shown


def test_every_status_has_advice():
    fine = {Status.CONVERGED.name, Status.FIXED.name}
    assert set(ADVICE) == {status.name for status in Status} - fine


def test_a_warning_is_one_line():
    console = Console(width=40, force_terminal=False)
    with warnings.catch_warnings(), console.capture() as caught:
        warnings.simplefilter("default")
        with warnings_as_lines(console):
            warnings.warn(
                Message(f"features differ; try {api:scaling='standard'} [now]"),
                UserWarning,
                stacklevel=1,
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
