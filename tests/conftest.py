"""Every test must pass for any seed: a new one is drawn per run, or given with --seed."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import settings

from benchmarks.data.cache import MissingData

settings.register_profile("hssvm", deadline=None, print_blob=True)
settings.load_profile("hssvm")


N_PROBLEMS = 6
"""Number of random problems of every test that compares with scikit-learn's solvers."""


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=None, help="seed of the rng fixture")
    parser.addoption("--n-problems", type=int, default=N_PROBLEMS, help="random problems of a test")


def pytest_configure(config):
    if config.getoption("--seed") is None:
        drawn = int(np.random.SeedSequence().entropy % 2**31)
        config.option.seed = getattr(config, "workerinput", {}).get("seed", drawn)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Give all processes of pytest-xdist the seed that was drawn in the first one."""
    node.workerinput["seed"] = node.config.getoption("--seed")


def pytest_terminal_summary(terminalreporter, config):
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"repeat with --seed {config.getoption('--seed')}")
    if config.getoption("--n-problems") > N_PROBLEMS:
        reports = terminalreporter.stats.get("passed", [])
        kinds = Counter(v for r in reports for k, v in r.user_properties if k == "kind")
        for kind, count in sorted(kinds.items()):
            terminalreporter.write_line(f"{count:6} {kind}")


@pytest.fixture(autouse=True)
def global_seed(request):
    """Estimators with random_state=None draw from NumPy's global generator."""
    np.random.seed(request.config.getoption("--seed"))  # noqa: NPY002


@pytest.fixture
def rng(request):
    return np.random.default_rng(request.config.getoption("--seed"))


@pytest.fixture(scope="session")
def data():
    """The loader of data sets; a test is skipped if the one it loads is not in the cache."""
    from benchmarks.datasets import load

    return load


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except MissingData as missing:
        pytest.skip(str(missing))
