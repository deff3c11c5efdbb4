"""What the OpenMP runtime is told when the core is loaded."""

import pytest
from helpers.processes import run_python

LOAD = """
    import os
    before = dict(os.environ)
    import hssvm
    from hssvm import _core
    assert _core.thread_count() >= 1
    assert dict(os.environ) == before  # children inherit nothing
"""


@pytest.mark.parametrize(
    "chosen, rounds, milliseconds",
    [
        ({}, 10000, 1),
        ({"GOMP_SPINCOUNT": "17", "KMP_BLOCKTIME": "17"}, 17, 17),
        ({"OMP_WAIT_POLICY": "passive"}, 0, 0),
    ],
)
def test_spinning_is_bounded_unless_chosen(chosen, rounds, milliseconds):
    environment = {"GOMP_SPINCOUNT": None, "KMP_BLOCKTIME": None, "OMP_WAIT_POLICY": None, **chosen}
    shown = run_python(LOAD, OMP_DISPLAY_ENV="VERBOSE", **environment).stderr
    if "GOMP_SPINCOUNT" in shown:
        assert f"GOMP_SPINCOUNT = '{rounds}'" in shown
    elif "KMP_BLOCKTIME" in shown:
        assert f"KMP_BLOCKTIME='{milliseconds}'" in shown
    else:
        pytest.skip("the OpenMP runtime is neither libgomp nor LLVM's")


@pytest.mark.parametrize(
    "quota, chosen, limit",
    [(0.3, None, 1), (1.0, None, 1), (1.5, None, 2), (1.0, "3", 3), (None, "3", 3)],
)
def test_no_more_threads_than_the_quota_has_cpus_unless_chosen(quota, chosen, limit):
    code = f"""
    import os
    import hssvm._openmp
    hssvm._openmp.cpu_quota = lambda: {quota}
    from hssvm import _core
    from hssvm._threads import openmp_threads
    with openmp_threads(3):
        print(_core.thread_count())
    """
    run = run_python(code, OMP_NUM_THREADS=chosen)
    assert int(run.stdout) == limit
