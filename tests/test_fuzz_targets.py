"""The targets of tools/fuzz without the fuzzer: seeds are loaded, and changed ones are read."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

TARGETS = ["models", "encoders", "libsvm_models", "data"]


@pytest.fixture(params=TARGETS)
def target(request, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "tools"))
    if request.param == "encoders":
        pytest.importorskip("skrub")
    yield import_module(f"fuzz.{request.param}")
    for name in [name for name in sys.modules if name.partition(".")[0] == "fuzz"]:
        del sys.modules[name]


@pytest.mark.filterwarnings("ignore")
def test_seeds_are_loaded_and_changed_ones_are_read(target, tmp_path, rng):
    for seed in target.seeds():
        assert target.read(seed, tmp_path) == "loaded"
        for _ in range(3):
            changed = target.changed(seed, rng, lambda part: part[:-1])
            assert target.read(changed, tmp_path) in ("loaded", "refused")
