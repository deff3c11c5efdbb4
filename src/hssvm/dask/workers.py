"""What the workers are doing, and what keeps them from doing it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dask.utils import format_bytes
from distributed import Client

BEGUN = ("executing", "long-running")
"""States of the tasks that a worker has begun."""


@dataclass(frozen=True, eq=False)
class Workers:
    """The workers of a cluster at one moment.

    A worker that is full beyond a share of its memory limit is paused: it finishes the tasks that
    it has begun and starts no others. The scheduler still counts those as processing.

    Attributes
    ----------
    infos : mapping from addresses
        What the scheduler knows of each worker.
    tasks : mapping from addresses
        Keys of the tasks that each is to run.
    """

    infos: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[str, Collection[Any]]

    @classmethod
    def of(cls, client: Client) -> Workers:
        """Ask the scheduler."""
        # not client.scheduler_info: some versions of it tell of the first five workers only
        identity = client.sync(client.scheduler.identity)
        return cls(identity["workers"], client.processing())

    @property
    def paused(self) -> list[str]:
        """Addresses of the workers that are paused, sorted."""
        return sorted(w for w, info in self.infos.items() if info["status"] == "paused")

    def are_busy(self) -> bool:
        """Whether a worker runs anything, or will."""
        return any(self._n_begun(worker) for worker in self.tasks)

    def run_all(self, keys: Collection[Any]) -> bool:
        """Whether all of these tasks run, or will."""
        waiting = set(keys)
        for worker, own in self.tasks.items():
            if self._n_begun(worker) >= len(own):
                waiting.difference_update(own)
        return not waiting

    def _n_begun(self, worker: str) -> int:
        info = self.infos.get(worker)
        if info is None:
            return 0
        if info["status"] == "running":
            return len(self.tasks[worker])
        counts = info["metrics"].get("task_counts", {})
        return sum(counts.get(state, 0) for state in BEGUN)

    def obstacle(self) -> str:
        """Why nothing runs, and what to do about it."""
        if not self.paused:
            return (
                f"none of the {len(self.infos)} workers is doing anything. Start workers if there "
                "are none; if the rows were in the memory of a worker that was lost, load them "
                "again; then fit again"
            )
        fullest = self.infos[max(self.paused, key=self._memory)]
        return (
            f"{len(self.paused)} of {len(self.infos)} workers are paused, because they are near "
            f"their memory limit (one uses {format_bytes(fullest['metrics'].get('memory', 0))} of "
            f"{format_bytes(fullest['memory_limit'])}). Give each worker more memory "
            "(memory_limit of the cluster) or fewer rows (more workers), then fit again"
        )

    def _memory(self, worker: str) -> int:
        return int(self.infos[worker]["metrics"].get("memory", 0))
