"""The workloads for asv run, with few rows."""

import inspect
import json
from importlib import import_module

import pytest

from benchmarks.asv.workloads import rows
from benchmarks.results import ROOT

MODULES = [import_module(f"benchmarks.asv.workloads.{m}") for m in ("fits", "parts", "predictions")]
WORKLOADS = [
    pytest.param(cls, name, id=f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}.{name}")
    for module in MODULES
    for _, cls in inspect.getmembers(module, inspect.isclass)
    if cls.__module__ == module.__name__
    for name in vars(cls)
    if name.startswith("time_")
]


@pytest.mark.parametrize(("cls", "name"), WORKLOADS)
@pytest.mark.filterwarnings("ignore::hssvm.exceptions.DataWarning")
def test_workloads_run(cls, name, monkeypatch):
    monkeypatch.setattr(rows, "SHRINK", 20)
    workload, arguments = cls(), [*getattr(cls, "params", ())][:1]
    workload.setup(*arguments)
    getattr(workload, name)(*arguments)
    getattr(workload, "teardown", lambda: None)()


def test_the_folder_of_the_workloads():
    folder = ROOT / "benchmarks" / "asv"
    config = json.loads((folder / "asv.conf.json").read_text())
    names = {path.stem for path in (folder / config["benchmark_dir"]).glob("*.py")}
    assert names == {"__init__", "fits", "parts", "predictions", "rows"}
