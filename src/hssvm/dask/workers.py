"""The state of the workers, and the reasons why they do not make progress."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dask.utils import format_bytes
from distributed import Client

STARTED = ("executing", "long-running")
"""States of the tasks that a worker has started."""


@dataclass(frozen=True, eq=False)
class Workers:
    """A snapshot of the workers of a cluster.

    A worker that uses more than a given fraction of its memory limit is paused: it finishes the
    tasks that it has started, and starts no others. The scheduler still counts those as processing.

    Attributes
    ----------
    infos : mapping from addresses
        The scheduler's information about each worker.
    tasks : mapping from addresses
        Keys of the tasks that are assigned to each worker.
    """

    infos: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[str, Collection[Any]]

    @classmethod
    def of(cls, client: Client) -> Workers:
        """Query the scheduler."""
        # not client.scheduler_info, which returns only the first five workers in some versions
        identity = client.sync(client.scheduler.identity)
        return cls(identity["workers"], client.processing())

    @property
    def paused(self) -> list[str]:
        """Addresses of the paused workers, sorted."""
        return sorted(w for w, info in self.infos.items() if info["status"] == "paused")

    def are_busy(self) -> bool:
        """Whether any worker runs a task, or will run one."""
        return any(self._n_started(worker) for worker in self.tasks)

    def run_all(self, keys: Collection[Any]) -> bool:
        """Whether all of these tasks run, or will run."""
        waiting = set(keys)
        for worker, own in self.tasks.items():
            if self._n_started(worker) >= len(own):
                waiting.difference_update(own)
        return not waiting

    def _n_started(self, worker: str) -> int:
        info = self.infos.get(worker)
        if info is None:
            return 0
        if info["status"] == "running":
            return len(self.tasks[worker])
        counts = info["metrics"].get("task_counts", {})
        return sum(counts.get(state, 0) for state in STARTED)

    def obstacle(self) -> str:
        """Return why no tasks run, and what to do about it."""
        if not self.paused:
            return (
                f"none of the {len(self.infos)} workers runs a task; start workers if there are "
                "none, load the rows again if they were in the memory of a lost worker, and fit "
                "again"
            )
        fullest = self.infos[max(self.paused, key=self._memory)]
        return (
            f"{len(self.paused)} of {len(self.infos)} workers are paused, because they are near "
            f"their memory limit (one uses {format_bytes(fullest['metrics'].get('memory', 0))} of "
            f"{format_bytes(fullest['memory_limit'])}); give each worker more memory "
            "(memory_limit of the cluster) or fewer rows (more workers), and fit again"
        )

    def _memory(self, worker: str) -> int:
        return int(self.infos[worker]["metrics"].get("memory", 0))
