"""Resident memory of processes while something runs."""

import threading

import psutil


class Peak:
    """Largest resident size of some processes, looked at in a thread.

    Attributes
    ----------
    before, largest : dict
        Bytes by process id.
    """

    def __init__(self, pids, every=0.05):
        self.processes = {pid: psutil.Process(pid) for pid in pids}
        self.every = every
        self.before = self._look()
        self.largest = dict(self.before)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _look(self):
        return {pid: process.memory_info().rss for pid, process in self.processes.items()}

    def _watch(self):
        while not self._end.wait(self.every):
            for pid, size in self._look().items():
                self.largest[pid] = max(self.largest[pid], size)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._end.set()
        self._thread.join()

    def growth(self, pid):
        """Bytes above those of the start."""
        return self.largest[pid] - self.before[pid]
