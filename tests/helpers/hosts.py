"""A cluster whose scheduler and workers have network namespaces of their own, joined by a bridge.

Unlike a `LocalCluster`, its processes have addresses and links that can fail, as on real hosts. No
packet leaves the machine. Needs root, and `ip` of iproute2.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest

BRIDGE = "hssvm0"
SUBNET = "10.213.77"
PORT = 8786


def has_namespaces():
    """Whether network namespaces can be made here."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    made = subprocess.run(["ip", "netns", "add", "hssvm-try"], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", "hssvm-try"], capture_output=True, check=False)
    return made.returncode == 0


hosts_needed = pytest.mark.skipif(not has_namespaces(), reason="needs root and iproute2")


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Host:
    """A network namespace with one link to the bridge, and the process that runs in it."""

    def __init__(self, number):
        self.name, self.link = f"hssvm-{number}", f"hssvm-v{number}"
        self.address = f"{SUBNET}.{number + 2}"
        self.process = None

    def create(self):
        ip("netns", "add", self.name)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("link", "set", self.link, "master", BRIDGE, "up")
        for command in (
            ["addr", "add", f"{self.address}/24", "dev", "eth0"],
            ["link", "set", "eth0", "up"],
            ["link", "set", "lo", "up"],
        ):
            ip("netns", "exec", self.name, "ip", *command)

    def delete(self):
        self.kill()
        subprocess.run(["ip", "link", "del", self.link], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True, check=False)

    def start(self, *command):
        """Run a module of Python that can import what this process can."""
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.name, sys.executable, "-m", *command],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.signal(signal.SIGKILL)
            self.process.wait()

    def cut_off(self, seconds):
        """Take the link down for a while."""
        ip("link", "set", self.link, "down")
        time.sleep(seconds)
        ip("link", "set", self.link, "up")

    def freeze(self, seconds):
        """Stop the process for a while."""
        self.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.signal(signal.SIGCONT)


class Hosts:
    """A scheduler and workers of one thread each."""

    def __init__(self, n_workers):
        self.scheduler, *self.workers = (Host(number) for number in range(n_workers + 1))
        self.address = f"tcp://{self.scheduler.address}:{PORT}"

    def start_scheduler(self):
        self.scheduler.start(
            "distributed.cli.dask_scheduler", "--host", self.scheduler.address,
            "--port", str(PORT), "--no-dashboard",
        )  # fmt: skip

    def start_worker(self, worker):
        worker.start(
            "distributed.cli.dask_worker", self.address, "--host", worker.address,
            "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0",
            "--death-timeout", "60",
        )  # fmt: skip


@contextmanager
def start_hosts(n_workers):
    """Start a cluster; its client runs outside of the namespaces."""
    hosts = Hosts(n_workers)
    with ExitStack() as stack:
        ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(ip, "link", "del", BRIDGE)
        ip("addr", "add", f"{SUBNET}.1/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for host in [hosts.scheduler, *hosts.workers]:
            stack.callback(host.delete)
            host.create()
        hosts.start_scheduler()
        for worker in hosts.workers:
            hosts.start_worker(worker)
        yield hosts
