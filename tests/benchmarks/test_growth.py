from contextlib import contextmanager

import pytest

pytest.importorskip("distributed")

from benchmarks import cgroups
from benchmarks.scaling import exact, growth, out_of_core


def test_growth(run_command):
    results, tables = run_command(growth, 600, 900)
    assert results.runs["900 rows"]["rows"] == 900
    assert [line.split(" | ")[0] for line in tables["growth"].splitlines()[2:]] == [
        "| 600 rows", "| 900 rows"
    ]  # fmt: skip


def test_out_of_core(run_command, monkeypatch, tmp_path):
    members = tmp_path / "cgroup.procs"

    @contextmanager
    def control_group(*limits):
        yield members

    monkeypatch.setattr(out_of_core, "control_group", control_group)
    monkeypatch.setattr(out_of_core, "CASES", [(3000, None), (3000, 2.0), (4000, 2.0)])
    monkeypatch.setattr(out_of_core, "TEST_ROWS", 500)
    results, tables = run_command(out_of_core, "--trees", 1)
    assert all(run["fit"] > 0 for run in results.runs.values())
    assert members.read_text().isdigit()
    assert tables["fits"].splitlines()[3].startswith("| 3,000 rows in 2 GB | ")


def test_without_control_groups_there_is_no_limit(run_command, monkeypatch, tmp_path):
    monkeypatch.setattr(cgroups, "CGROUPS", tmp_path / "none")
    assert out_of_core.run(100, 1.0, 1) == {"error": "no control group"}


def test_the_limits_of_a_control_group(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroups, "CGROUPS", tmp_path)
    monkeypatch.setattr(cgroups.Path, "rmdir", lambda group: removed.append(group))
    for version, file in ((2, "b"), (1, "a")):
        removed = []
        if version == 1:
            (tmp_path / "cpu").mkdir()
        with cgroups.control_group("cpu", {"a": 1}, {"b": 2}) as members:
            group = members.parent
            assert group.parent == (tmp_path / "cpu" if version == 1 else tmp_path)
            assert [path.name for path in group.iterdir()] == [file]
        assert removed == [group]


def test_exact(disks, run_command, monkeypatch):
    data = disks()
    monkeypatch.setattr(exact, "load", lambda name, scale: data)
    results, tables = run_command(exact, "ijcnn1", "--workers", 2)
    local, spread = results.runs.values()
    assert float(local["duals"][0]) == pytest.approx(float(spread["duals"][0]), rel=1e-4)
    assert spread["bytes"] > 0
    lines = tables["fits"].splitlines()[2:]
    assert lines[0].startswith("| ijcnn1, 400 | - | ")
    assert lines[1].startswith("| ijcnn1, 400 | 2 | ")
