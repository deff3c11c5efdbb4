import pytest
from helpers.platforms import posix

from hssvm._cgroup import cpu_quota, memory_quota
from hssvm._memory import installed_memory

pytestmark = posix


@pytest.fixture
def machine(tmp_path):
    """A folder with files of /proc and /sys, made from a dict."""

    def make(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


V1 = {"proc/self/cgroup": "5:memory:/other\n4:cpu,cpuacct:/outer/inner\n1:name=systemd:/x\n"}
V2 = {"proc/self/cgroup": "0::/outer/inner\n"}


@pytest.mark.parametrize(
    "files, quota",
    [
        ({}, None),
        (V2, None),
        (V2 | {"sys/fs/cgroup/outer/inner/cpu.max": "max 100000\n"}, None),
        (V2 | {"sys/fs/cgroup/outer/inner/cpu.max": "150000 100000\n"}, 1.5),
        (
            V2
            | {
                "sys/fs/cgroup/outer/inner/cpu.max": "400000 100000\n",
                "sys/fs/cgroup/outer/cpu.max": "20000 10000\n",
                "sys/fs/cgroup/cpu.max": "max 100000\n",
            },
            2.0,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        (V2 | {"sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),  # a path of the host
        ({"proc/self/cgroup": "0::/../a\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        (V2 | {"sys/fs/cgroup/unified/outer/cpu.max": "100000 100000\n"}, 1.0),
        (
            V1
            | {
                "sys/fs/cgroup/cpu,cpuacct/outer/inner/cpu.cfs_quota_us": "300000\n",
                "sys/fs/cgroup/cpu,cpuacct/outer/inner/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu,cpuacct/outer/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu,cpuacct/outer/cpu.cfs_period_us": "100000\n",
            },
            3.0,
        ),
        (
            V1
            | {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/memory/cpu.cfs_quota_us": "1\n",
                "sys/fs/cgroup/memory/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (V2 | {"sys/fs/cgroup/cpu.max": "nonsense\n"}, None),
        (V2 | {"sys/fs/cgroup/cpu.max": "100000 0\n"}, None),
    ],
)
def test_quota(files, quota, machine):
    assert cpu_quota(machine(files)) == quota


@pytest.mark.parametrize(
    "files, quota",
    [
        ({}, None),
        (V2 | {"sys/fs/cgroup/outer/inner/memory.max": "max\n"}, None),
        (
            V2
            | {
                "sys/fs/cgroup/outer/inner/memory.max": "3000000000\n",
                "sys/fs/cgroup/outer/memory.max": "2000000000\n",
            },
            2e9,
        ),
        (V1 | {"sys/fs/cgroup/memory/other/memory.limit_in_bytes": "5000000000\n"}, 5e9),
        (V1 | {"sys/fs/cgroup/cpu/other/memory.limit_in_bytes": "1\n"}, None),
    ],
)
def test_memory_quota(files, quota, machine):
    assert memory_quota(machine(files)) == quota


def test_the_memory_of_a_container_is_its_own(monkeypatch):
    machine = installed_memory()
    monkeypatch.setattr("hssvm._memory.memory_quota", lambda: 1e6)
    assert installed_memory() == 1e6 < machine
    monkeypatch.setattr("hssvm._memory.memory_quota", lambda: 1e30)
    assert installed_memory() >= machine


def test_quota_of_this_machine():
    quota = cpu_quota()
    assert quota is None or quota > 0
