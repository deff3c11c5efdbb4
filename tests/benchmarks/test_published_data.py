"""The data sets of the benchmarks, in the cache and as their publishers offer them.

Each set is written in its publisher's format from the copy in the cache, served, and fetched into
an empty cache: it must be the same again.
"""

import csv
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.publishers import publish, serving

from benchmarks.data import cache
from benchmarks.data.fetch import ALL_SETS, cached, fetch
from benchmarks.datasets import load
from benchmarks.pages import BLOCK
from benchmarks.peers.exact import short_table
from benchmarks.results import ROOT, Results

PUBLISHED_LABELS = {
    "diabetes": np.negative,
    "satimage": lambda y: np.where(y == 6, 7, y),
    "usps": lambda y: y + 1,
}
"""Labels as published, where ours are others."""

SMALL = ["heart_scale", "diabetes", "satimage", "pmlb/banana", "pmlb/503_wind"]
SMALL_SPLITS = ["heart_scale", "pendigits"]
FETCHED = [name for name, about in ALL_SETS.items() if about.parts]


def slow_unless(small, names):
    return [n if n in small else pytest.param(n, marks=pytest.mark.slow) for n in names]


def publish_copy(folder, name):
    """Write the files of a set as its publisher has them."""
    about, change = ALL_SETS[name], PUBLISHED_LABELS.get(name, np.asarray)
    rows = [cache.read(file, about.features) for file in about.files(name)]
    publish(folder, about.parts, [(X, change(y)) for X, y in rows])


@pytest.mark.parametrize("name", slow_unless(SMALL, FETCHED))
def test_a_set_from_its_publisher_equals_ours(name, tmp_path, monkeypatch):
    """`fetch` compares the digests."""
    publish_copy(tmp_path / "site", name)
    monkeypatch.setenv("HSSVM_DATA", str(tmp_path / "cache"))
    with serving(tmp_path / "site") as (address, _):
        fetch(name, address)
    assert cached(name)


def splits():
    with Path(__file__).with_name("splits.tsv").open() as file:
        return list(csv.reader(file, delimiter="\t"))


@pytest.mark.parametrize("name", slow_unless(SMALL_SPLITS, dict.fromkeys(s[0] for s in splits())))
def test_splits_stay_the_same(name):
    """Digests of the training and test rows, by name, scale and number of training rows."""
    for _, scale, max_train, train, test in (s for s in splits() if s[0] == name):
        X, y, X_test, y_test = load(name, scale or None, int(max_train) if max_train else None)
        assert (cache.digest(X, y), cache.digest(X_test, y_test)) == (train, test)


def accuracies(table):
    """Of a table in the README, by data set."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    return {row[0].split()[0]: float(row[-1]) for row in cells}


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="no clone")
def test_a_clone_and_the_documented_commands_repeat_figures_of_the_readme(tmp_path, monkeypatch):
    """From an empty cache; the accuracies, which are those of any machine."""
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    block = re.search(r"## Get the data.*?```sh\n(.*?)```", page, re.DOTALL)[1]
    fetching, measuring = re.findall(r"^python (.*)$", block, re.MULTILINE)
    names = shlex.split(fetching)[3:]
    for name in names:
        publish_copy(tmp_path / "site", name)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    monkeypatch.setenv("HSSVM_DATA", str(tmp_path / "cache"))
    with serving(tmp_path / "site") as (address, _):
        for command in (f"{fetching} --from {address}", measuring):
            subprocess.run([sys.executable, *shlex.split(command)], cwd=clone, check=True)
    blocks = BLOCK.finditer((ROOT / "README.md").read_text())
    (shown,) = (m[0] for m in blocks if (m[2], m[3]) == ("exact", "short"))
    readme = accuracies("\n".join(shown.splitlines()[1:-1]))
    found = accuracies(short_table(Results.read(clone / "results" / "exact.json")))
    assert list(found) == names
    assert len(found) == 3
    for name, accuracy in found.items():
        assert accuracy == pytest.approx(readme[name], abs=0.02)
