"""Cost of communication: parts that do nothing else, and few processes that act as many parts."""

import pickle
import time

import numpy as np
import psutil
from distributed import wait
from distributed.protocol import to_serialize
from distributed.protocol.core import dumps

from benchmarks.scaling.tops import ROOT_RANK, make_tiers, on_the_way
from hssvm.dask.communicator import ActorCommunicator, RemoteTop
from hssvm.dask.coordinator import Coordinator
from hssvm.dask.messages import Link, Reply, Request

WARM_UP = 20


class Echo:
    """A top without arithmetic, for the price of the messages alone."""

    def __init__(self, n_parts, rank):
        self.ranks = rank * np.arange(n_parts + 1)

    def far_field(self, c, exchange):
        """Return what came, once there is nothing from above."""
        exchange(c[:0])
        return c


def start_coordinator(client, top, n_parts, worker, above=None):
    (top,) = client.scatter([top])
    future = client.submit(
        Coordinator, top, np.arange(n_parts), 1, above, actor=True, workers=[worker], pure=False
    )
    return future.result(timeout=600)


def attend(coordinator, part, R, k, n_rounds, n_parts):
    """Be a part that only communicates: seconds and bytes (per part) of a solve and of a sum."""
    communicator = ActorCommunicator(Link(coordinator, part), part, n_parts)
    solve_top = RemoteTop(communicator).factor(R)
    c, sums = np.ones((ROOT_RANK, k), np.float32), np.ones(3 * k)

    def solve():
        communicator.allreduce_async(sums[:k])
        solve_top(c)

    found = {}
    kinds = {"solve": solve, "sum": lambda: communicator.allreduce(sums)}
    for kind, synchronize in kinds.items():
        for _ in range(WARM_UP):
            synchronize()
        sent, start = loopback_bytes(), time.perf_counter()
        for _ in range(n_rounds):
            synchronize()
        found[kind] = (time.perf_counter() - start) / n_rounds
        found[f"{kind} bytes"] = (loopback_bytes() - sent) / n_rounds / n_parts
    return found


def loopback_bytes():
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def bare(client, workers, k=1, n_rounds=300):
    """One part on every worker, a real top, the coordinator on the first; nothing to compute."""
    (tier,) = make_tiers(len(workers))
    coordinator = start_coordinator(client, tier.top, len(workers), workers[0])
    tasks = [
        client.submit(
            attend,
            coordinator,
            part,
            tier.R[part],
            k,
            n_rounds,
            len(workers),
            workers=[worker],
            pure=False,
        )
        for part, worker in enumerate(workers)
    ]
    found = client.gather(tasks)
    return {
        "parts": len(workers),
        "columns": k,
        **{kind: float(np.mean([one[kind] for one in found])) for kind in found[0]},
    }


def play(coordinator, parts, k, n_rounds, first):
    """Be many parts: send the messages of all of them, then wait for all answers."""
    request = Request("far_field", [np.ones((ROOT_RANK, k), np.float32)], [np.ones(k)])
    for number in range(first, first + n_rounds):
        answers = [coordinator.synchronize(part, number, request) for part in parts]
        for answer in answers:
            answer.result(timeout=600)


def crowd(client, n_parts, k=1, n_rounds=10):
    """Rounds of many parts, played by all workers but the first, which has the coordinator.

    Returns wall seconds of a round, and those of the processor in the process of the coordinator.
    """
    host, *players = sorted(client.nthreads())
    coordinator = start_coordinator(client, Echo(n_parts, ROOT_RANK), n_parts, host)
    shares = np.array_split(np.arange(n_parts), len(players))

    def rounds(first, n):
        tasks = [
            client.submit(
                play, coordinator, share.tolist(), k, n, first, workers=[player], pure=False
            )
            for player, share in zip(players, shares, strict=True)
        ]
        wait(tasks)
        client.gather(tasks)

    rounds(0, 2)  # opens the connections
    before, start = client.run(processor_seconds, workers=[host])[host], time.perf_counter()
    rounds(2, n_rounds)
    wall = time.perf_counter() - start
    busy = client.run(processor_seconds, workers=[host])[host] - before
    return {
        "parts": n_parts,
        "columns": k,
        "round": wall / n_rounds,
        "processor": busy / n_rounds,
    }


def tree(client, n_parts, k=1, n_rounds=20):
    """Synchronizations through all tiers, with real levels: seconds of a solve.

    A worker has the coordinator of one group of every tier, two if there are more tiers than
    workers; the last one plays the parts of the lowest group, and all other members of the groups
    above it.
    """
    tiers = make_tiers(n_parts)
    *hosts, player = sorted(client.nthreads())
    coordinators, above = [], None
    for i, tier in reversed(list(enumerate(tiers))):
        coordinator = start_coordinator(
            client, tier.top, tier.slots.size, hosts[i % len(hosts)], above
        )
        coordinators.insert(0, coordinator)
        above = pickle.dumps(coordinator), 0
    (R,) = client.scatter([[tier.R for tier in tiers]])
    seconds = client.submit(
        synchronize_tiers, coordinators, R, k, n_rounds, workers=[player], pure=False
    ).result(timeout=600)
    return {"parts": n_parts, "columns": k, "on the way": on_the_way(n_parts), "solve": seconds}


def synchronize_tiers(coordinators, R, k, n_rounds):
    """Be all members of a group of every tier, but those that the tier below plays."""

    def everybody(number, kind, arrays):
        answers = []
        for tier, (coordinator, own) in enumerate(zip(coordinators, arrays, strict=True)):
            for member in range(min(tier, 1), len(own)):
                request = Request(kind, [own[member]], [np.ones(k)], 1)
                answers.append(coordinator.synchronize(member, number, request))
        for answer in answers:
            answer.result(timeout=600)

    everybody(0, "factor", R)
    c = [[np.ones((ROOT_RANK, k), np.float32)] * len(own) for own in R]
    numbers = iter(range(1, 1 + WARM_UP + n_rounds))
    for _ in range(WARM_UP):
        everybody(next(numbers), "solve", c)
    start = time.perf_counter()
    for _ in range(n_rounds):
        everybody(next(numbers), "solve", c)
    return (time.perf_counter() - start) / n_rounds


def processor_seconds():
    times = psutil.Process().cpu_times()
    return times.user + times.system


def message_bytes(k):
    """Bytes of numbers and of frames in one message up and down, of a solve and of a sum."""
    c, sums = np.ones((ROOT_RANK, k), np.float32), np.ones(k)
    solve = Request("solve", [c], [sums], 1), Reply([c], [sums], None, 1)
    total = Request("sum", [], [np.ones(3 * k)]), Reply([], [np.ones(3 * k)], None, 0)
    return {
        "columns": k,
        "solve numbers": 2 * (c.nbytes + sums.nbytes),
        "solve": framed(*solve),
        "sum numbers": 2 * 3 * k * 8,
        "sum": framed(*total),
    }


def framed(request, answer):
    """Bytes that Dask sends for the call of an actor and its result."""
    call = {
        "op": "actor_execute",
        "function": "synchronize",
        "actor": f"Coordinator-{'0' * 32}",
        "args": [to_serialize(value) for value in (999, 9999, request)],
        "kwargs": {},
        "reply": True,
    }
    result = {"status": "OK", "result": to_serialize(answer)}
    return sum(memoryview(frame).nbytes for message in (call, result) for frame in dumps(message))
