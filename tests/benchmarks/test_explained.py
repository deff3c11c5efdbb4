"""The benchmark of explanations, with a stand-in for shap."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.micro import explained
from hssvm import HSS, Cells


class Explainer:
    """Exact values plus 0.01, from as many predictions as there are sets of two features."""

    def __init__(self, function, background):
        self.function, self.background = function, background

    def shap_values(self, rows, silent):
        values = []
        for x in rows:
            swapped = np.stack([self.background[:, 0], np.full(len(self.background), x[1])], axis=1)
            other = np.stack([np.full(len(self.background), x[0]), self.background[:, 1]], axis=1)
            none, second, first, both = (
                self.function(points).mean()
                for points in (self.background, swapped, other, x[None])
            )
            values.append([(first - none + both - second) / 2, (second - none + both - first) / 2])
        return np.array(values) + 0.01


def test_explained(disks, run_command, monkeypatch):
    pytest.importorskip("pyarrow")
    parameters = {"C": 10.0, "gamma": 1.0}
    X, y, X_test, y_test = disks(n_rows=600)
    data = (X, y, X_test, y_test), parameters
    monkeypatch.setattr(explained, "load_setting", lambda name: data)
    monkeypatch.setitem(sys.modules, "shap", SimpleNamespace(KernelExplainer=Explainer))
    models = {
        "exact": {"refine": True},
        "compressed kernels": {"refine": False, "approximation": HSS(n_trees=2, leaf_size=100)},
        "cells": {"refine": False, "approximation": Cells(size=100, n_trees=2)},
    }
    monkeypatch.setattr(explained, "MODELS", models)
    results, tables = run_command(explained, "--rows", 20, "--repeats", 1)
    runs = results.runs
    assert all(runs[f"model: {name}"]["sum_error"] < 1e-10 for name in models)
    assert runs["model: exact"]["support"] > runs["model: cells"]["support"] / 2
    for which in ("hssvm", "scikit-learn"):
        found = runs[f"KernelExplainer: {which}"]
        assert found["error"] == pytest.approx(0.01, abs=0.005)
        assert found["samples"] == 2052
    assert runs["cod-rna"]["rows"] == 600 and runs["cod-rna"]["sum_error"] < 1e-4
    assert tables["models"].splitlines()[2].startswith("| exact | ")
    assert tables["kernel_explainer"].splitlines()[3].startswith("| predictions of scikit-learn | ")
    assert "| cod-rna | " not in tables["file"] and "600" in tables["file"]
