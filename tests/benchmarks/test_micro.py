import os
import threading
import time

import numpy as np
import pytest

from benchmarks.micro import busy, engine, profile, reduced, rounds, threads, values
from hssvm import Cells

PARAMETERS = {"C": 10.0, "gamma": 1.0}


def test_threads(disks, run_command, monkeypatch):
    monkeypatch.setattr(threads, "load_problem", lambda name, changed: (disks(), PARAMETERS))
    monkeypatch.setattr(threads, "ROWS", 500)
    monkeypatch.setattr(threads._core, "thread_count", lambda: 2)
    results, tables = run_command(threads, "any", "--repeats", 1)
    assert [run["threads"] for run in results.runs.values()] == [2, 2]
    assert tables["speeds"].splitlines()[3].startswith("| any, 400 rows | ")


def test_one_thread_has_nothing_to_compare(run_command, monkeypatch):
    monkeypatch.setattr(threads._core, "thread_count", lambda: 1)
    with pytest.raises(SystemExit, match="OMP_NUM_THREADS"):
        run_command(threads)


def test_the_serial_share():
    share = threads.serial_share(alone=10.0, together=6.0, n_threads=2)  # 2 s serial, 8 s parallel
    assert share == pytest.approx(0.2)
    assert threads.speed_up(share, 4) == pytest.approx(10 / (2 + 8 / 4))


def test_profile(disks, run_command, monkeypatch):
    monkeypatch.setattr(
        profile, "load_problem", lambda name, changed: (disks(n_rows=9000), PARAMETERS)
    )
    monkeypatch.setattr(profile, "FITS", {"any": {}, "any, cells": {"approximation": Cells(50)}})
    monkeypatch.setattr(profile, "BOUND_ROWS", 500)
    before = profile._core.kernel_block
    results, tables = run_command(profile, "any", "any, cells")
    assert profile._core.kernel_block is before
    exact, cells = results.runs.values()
    for run in (exact, cells):
        assert 0 < sum(run["seconds"].values()) <= run["fit"]
    assert exact["seconds"]["SMO"] > 0 and 0 < exact["values"] < 4
    assert cells["seconds"]["parts"] > 0 and "bound" not in cells
    lines = tables["shares"].splitlines()
    assert lines[2].startswith("| any (9,000 rows) |") and lines[2].endswith(" % |")
    assert lines[3].endswith("| - | - |")


def test_calls_that_run_side_by_side_share_the_time(monkeypatch):
    monkeypatch.setattr(profile, "STAGES", {"short": ["smo"], "long": ["project"]})
    monkeypatch.setattr(profile._core, "smo", lambda: time.sleep(0.1))
    monkeypatch.setattr(profile._core, "project", lambda: time.sleep(0.3))
    begin = time.perf_counter()
    with profile.Clock().installed() as clock:
        other = threading.Thread(target=profile._core.project)
        other.start()
        profile._core.smo()
        other.join()
    total = time.perf_counter() - begin
    assert clock.seconds["long"] > clock.seconds["short"] > 0.04
    assert 0.25 < sum(clock.seconds.values()) <= total


def test_busy(run_command, monkeypatch):
    made = []

    def fits_at_once(name, count, members=None, **environment):
        made.append((count, members, environment))
        return 10.0 / len(made)

    monkeypatch.setattr(busy, "fits_at_once", fits_at_once)
    results, tables = run_command(busy, "any", "--repeats", 2)
    found = results.runs["any"]["seconds"]
    n_cases = len(found)
    assert len(made) == 2 * n_cases
    assert found[busy.ALONE] == pytest.approx(10 / (n_cases + 1), rel=1e-4)  # of the second turn
    assert made[0] == (1, None, {"OMP_NUM_THREADS": "1"})
    ratio = found["one fit, all cores"] / found[busy.ALONE]
    assert tables["cases"].splitlines()[2].startswith("| one fit, one thread | ")
    assert f"| one fit, all cores | {ratio:.2f} |" in tables["cases"]


def test_fits_at_once_start_together(monkeypatch):
    child = "import os; print('ready', flush=True); input(); print(os.environ['OMP_NUM_THREADS'])"
    monkeypatch.setattr(busy, "CHILD", child)
    assert busy.fits_at_once("any", 2, OMP_NUM_THREADS="7") == 7
    monkeypatch.setattr(busy, "CHILD", "print('broken')")
    with pytest.raises(RuntimeError, match="ended before it began"):
        busy.fits_at_once("any", 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")  # a fit has the defaults of its own
    count = "import os; print('ready'); input(); print(len(os.environ.get('OMP_NUM_THREADS', '')))"
    monkeypatch.setattr(busy, "CHILD", count)
    assert busy.fits_at_once("any", 1) == 0


def test_other_work_ends(monkeypatch):
    started = []

    class Process:
        def __init__(self, command):
            started.append(self)

        def kill(self):
            started.remove(self)

        def wait(self):
            pass

    monkeypatch.setattr(busy.subprocess, "Popen", Process)
    with busy.other_work():
        assert len(started) == os.cpu_count()
    assert started == []


def test_reduced(disks, run_command, monkeypatch):
    monkeypatch.setattr(reduced, "load_setting", lambda name: (disks(n_rows=600), PARAMETERS))
    sizes = ["--rows", 500, "--test-rows", 500]
    results, tables = run_command(reduced, *sizes, "--max-loss", 0.05)
    found = results.runs["500 rows"]
    assert found["`max_loss=0.05`"]["support"] < found["exact"]["support"]
    assert found["exact"]["accuracy"] > 85
    assert tables["models"].splitlines()[3].startswith("| `max_loss=0.05` | ")


def test_single_rows(disks, run_command, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    from benchmarks.micro import single_rows

    monkeypatch.setattr(single_rows, "load", lambda name: disks(n_rows=300))
    monkeypatch.setattr(single_rows, "ROWS", [1, 100])
    results, tables = run_command(single_rows)
    assert all(run["NumPy, 100"] > 0 for run in results.runs.values())
    assert tables["times"].splitlines()[4].startswith("| forest | ONNX | ")


def test_streaming(run_command, monkeypatch):
    pytest.importorskip("pyarrow")
    from benchmarks.micro import streaming

    monkeypatch.setattr(streaming, "TRAINING_ROWS", 300)
    monkeypatch.setattr(streaming, "PART", 40)
    results, tables = run_command(streaming, "--rows", 100, "--trees", 1)
    assert results.runs["1 tree"]["peak"] > 1e7
    assert tables["files"].splitlines()[2].startswith("| 1 tree | 100 | ")


def test_engine(disks, run_command, monkeypatch):
    monkeypatch.setattr(engine, "load_setting", lambda name: (disks(n_rows=1500), PARAMETERS))
    results, tables = run_command(engine, "any", "--repeats", 1, "--threads", 1)
    found = results.runs["any"]
    assert found["error"] < 0.1
    assert np.all(np.array(found["ranks"]) > 0)
    lines = tables["engine"].splitlines()
    assert lines[2:4] == ["| rows x features | 1,500 x 2 |", "| gamma | 1 |"]
    assert "| the dense matrix | 0.018 GB |" in lines


def test_values(run_command, monkeypatch):
    monkeypatch.setattr(values, "FEATURES", [8])
    monkeypatch.setattr(values, "N_Y", 100)
    results, tables = run_command(values, "--repeats", 2)
    assert list(results.runs) == [f"{form} {dtype}: 8" for form, dtype in values.FORMATS]
    lines = tables["rates"].splitlines()
    assert len(lines) == 6
    assert lines[2].startswith("| dense float32 | 8 | ")
    run = results.runs["dense float32: 8"]
    assert lines[2].endswith(f" {values.number(run['Gaussian'] / run['L1'], 2)} |")


def test_rounds(run_command, monkeypatch):
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    client = pytest.importorskip("distributed").Client
    monkeypatch.setattr(rounds, "two_workers", lambda: client(processes=False, **options))
    monkeypatch.setattr(rounds, "ROUNDS", 3)
    _, *engines = rounds.ENGINES
    results, tables = run_command(rounds, "--engines", *engines)
    assert all(0 < run["seconds"] < 10 for run in results.runs.values())
    assert [line.split("|")[1].strip() for line in tables["rounds"].splitlines()[2:]] == engines
