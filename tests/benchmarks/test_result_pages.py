"""Tables of the documentation are what the results in the repository give."""

import re

import pytest

from benchmarks import command, markdown, pages, results
from benchmarks.results import RESULTS, Results

PATHS = {str(path.relative_to(results.ROOT)): path for path in pages.paths()}


@pytest.mark.parametrize("page", PATHS)
def test_the_page_is_what_the_results_give(page):
    text = PATHS[page].read_text()
    emptied = pages.BLOCK.sub(lambda match: f"{match[1]}{match[4]}other{match[4]}{match[5]}", text)
    assert len(re.findall("<!-- begin", text)) == len(pages.blocks(text))
    for name in {name for name, _ in pages.blocks(text)}:
        found = Results.read(RESULTS / f"{name}.json")
        emptied = pages.filled(emptied, name, pages.tables_of(name), found)
    assert emptied == text


@pytest.mark.parametrize("name", pages.measured())
def test_every_table_is_on_a_page(name):
    shown = {block for path in PATHS.values() for block in pages.blocks(path.read_text())}
    assert {(name, table) for table in pages.tables_of(name)} <= shown


@pytest.mark.parametrize("name", pages.measured())
def test_results_say_where_they_come_from(name):
    about = Results.read(RESULTS / f"{name}.json").about
    assert re.match(r"python -m benchmarks\.\w+", about["command"])
    assert re.fullmatch(r"[0-9a-f]{7,}", about["commit"])
    assert about["processor"]


@pytest.fixture
def page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- begin any: runs -->\nolder\n<!-- end -->\n"
        "It takes <!-- begin any: fit -->9<!-- end --> s. <!-- begin other: fit -->9<!-- end -->\n"
    )
    monkeypatch.setattr(pages, "paths", lambda: [page])
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    return page


def test_a_command_keeps_results_and_fills_in_pages(page, tmp_path):
    calls = []

    def fit(seconds):
        calls.append(seconds)
        return {"fit": seconds}

    def run(*options):
        parser = command.parser_of("A benchmark.")
        parser.set_defaults(output=tmp_path)
        command.run("any", parser, lambda r, _: r.measure("a", fit, 2.0), TABLES, options)

    TABLES = {
        "runs": lambda results: ", ".join(results.runs),
        "fit": lambda results: markdown.number(results.runs["a"]["fit"]),
    }
    run()
    shown = (
        "<!-- begin any: runs -->\na\n<!-- end -->\n"
        "It takes <!-- begin any: fit -->2<!-- end --> s. <!-- begin other: fit -->9<!-- end -->\n"
    )
    assert page.read_text() == shown
    run("--resume")
    assert calls == [2.0]  # known runs stay
    page.write_text(shown.replace("2", "3"))
    run("--render")
    assert page.read_text() == shown
    assert calls == [2.0]
    run()
    assert calls == [2.0, 2.0]


def test_results_elsewhere_do_not_change_the_pages(page, tmp_path, capsys):
    text = page.read_text()
    parser = command.parser_of("A benchmark.")
    table = {"runs": lambda results: ", ".join(results.runs)}
    where = ["--output", str(tmp_path / "trial")]
    command.run("any", parser, lambda r, _: r.measure("first", dict), table, where)
    assert page.read_text() == text
    assert capsys.readouterr().out.endswith("\nruns:\nfirst\n")


def test_results_of_two_commits_are_not_mixed(tmp_path, monkeypatch):
    file = tmp_path / "any.json"
    Results(file).add("first", {"fit": 1.0})
    assert Results.resume(file).runs == {"first": {"fit": 1.0}}
    monkeypatch.setattr(results, "last_commit", lambda: "another")
    with pytest.raises(SystemExit, match=r"commit .* measure all of them again"):
        Results.resume(file)


def test_runs_of_two_commands_keep_both(tmp_path, monkeypatch):
    file = tmp_path / "any.json"
    monkeypatch.setattr(results.sys, "argv", ["benchmarks/any.py", "--rows", "10"])
    Results(file).add("first", {"wall": 1.0})
    Results.resume(file).add("second", {"wall": 1.0})
    monkeypatch.setattr(results.sys, "argv", ["benchmarks/any.py", "--rows", "20", "--resume"])
    Results.resume(file).add("third", {"wall": 1.0})
    found = Results.read(file)
    known, new = (f"python -m benchmarks.any --rows {rows}" for rows in (10, 20))
    assert [run.get("command") for run in found.runs.values()] == [None, None, new]
    assert found.commands == [known, new]
    assert markdown.setup(found).startswith(f"`{known}`, `{new}`, commit ")


def test_tables_without_results(tmp_path):
    parser = command.parser_of("A benchmark.")
    with pytest.raises(FileNotFoundError, match=r"any\.json"):
        command.run("any", parser, None, {}, ["--output", str(tmp_path), "--render"])


@pytest.mark.parametrize(
    ("argv", "command_line"),
    [
        (
            ["/x/benchmarks/peers/exact.py", "--resume", "a9a"],
            "python -m benchmarks.peers.exact a9a",
        ),
        (["/x/benchmarks/paper/__main__.py"], "python -m benchmarks.paper"),
    ],
)
def test_the_command_of_a_reader(argv, command_line):
    assert results.command_line(argv) == command_line


def test_the_setup_counts_runs_and_minutes(tmp_path):
    found = Results(tmp_path / "any.json")
    found.add("first", {"wall": 20.0})
    assert markdown.setup(found).endswith(". The run took about a minute.")
    found.add("second", {"wall": 220.0, "stopped": 220})
    assert markdown.setup(found).endswith(
        ". Both runs took 4 minutes; the limit stopped 1 of them."
    )
    found.add("third", {"wall": 60.0})
    assert markdown.setup(found).endswith(
        ". All 3 runs took 5 minutes; the limit stopped 1 of them."
    )


def test_numbers_of_a_run():
    run = {"fit": 700.0, "gap": 3.2e-4, "peak": 1.64e9}
    assert markdown.cell(run, "fit", markdown.seconds) == "12 min"
    assert markdown.cell(run, "gap", markdown.power) == "3e-04"
    assert markdown.cell(run, "peak", markdown.gigabytes) == "1.6 GB"
    assert markdown.cell(run, "score") == "-"
    assert markdown.cell({"stopped": 60.0}, "fit") == "over 60 s"
    assert markdown.span([2.34, 1.1, 1.7]) == "1.1 to 2.3"
