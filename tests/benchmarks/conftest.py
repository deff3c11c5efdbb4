import sys

import numpy as np
import pytest

from benchmarks.results import Results


@pytest.fixture
def disks(rng):
    """Training rows, their classes, test rows and theirs: rings around the origin."""

    def draw(n_classes=2, n_rows=400):
        X = rng.standard_normal((2, n_rows, 2)).astype(np.float32)
        y = np.minimum(np.hypot(X[..., 0], X[..., 1]).astype(int), n_classes - 1)
        return X[0], y[0], X[1], y[1]

    return draw


@pytest.fixture
def waves(rng):
    """Like `disks`, with values instead of classes."""
    X = rng.standard_normal((2, 400, 2)).astype(np.float32)
    y = np.sin(2 * X[..., 0]) + 0.1 * rng.standard_normal((2, 400))
    return X[0], y[0], X[1], y[1]


@pytest.fixture
def run_command(tmp_path, monkeypatch):
    """Run a benchmark with all its runs in this process; return the results and its tables."""

    def run(module, *arguments):
        others = ("benchmarks.peers.rivals", "benchmarks.tables.runs", "benchmarks.frames.runs")
        for place in (module, *map(sys.modules.get, others)):
            if hasattr(place, "limited"):
                monkeypatch.setattr(place, "limited", lambda seconds, run, *what: run(*what))
        argv = [module.__file__, *map(str, arguments), "--output", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", argv)
        module.main()
        file = max(tmp_path.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        results = Results.read(file)
        return results, {name: make(results) for name, make in module.TABLES.items()}

    return run
