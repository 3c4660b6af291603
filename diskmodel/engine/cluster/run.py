"""A run of requests through a pool of a cluster (rules E1 to E15)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from diskmodel.drive import SCRUB_HOURS, ClusterPool, ClusterTables
from diskmodel.engine.cluster.member import Member, member_of, scaled
from diskmodel.engine.cluster.operations import ChildIo, Cluster
from diskmodel.engine.cluster.placement import group_of, pieces, placed
from diskmodel.engine.cluster.stations import Calendar
from diskmodel.engine.scenario import Scenario, refuse_before, too_long
from diskmodel.records import FLUSH, PARTS, WRITE, Completions, DeviceCounters, Requests, Run
from diskmodel.units import MAX_NS, in_hours_or_days
from diskmodel.workload import Streams

_LINK, _QUEUE, _OVERHEAD, _TRANSFER, _SYNC = (
    PARTS.index(name) for name in ("link", "queue", "overhead", "transfer", "sync")
)


def run(scenario: Scenario, requests: Requests) -> Run:
    """Run `requests` through the pool of `scenario`, to the last completion.

    Raises
    ------
    CoverageError
        When something stands before the pool that is not modeled there.
    """
    tables = scenario.drive
    assert isinstance(tables, ClusterTables)
    refuse_before(scenario, requests, "a pool of a cluster")
    began = time.perf_counter()
    simulation = Simulation(tables.pool, requests, int(scenario.phase_ns[0]), scenario.sample_every)
    end_ns = simulation.run()
    return simulation.outcome(end_ns, time.perf_counter() - began)


@lru_cache(maxsize=16)
def _groups(described: str, seed: int) -> tuple[tuple[int, ...], ...]:
    return tuple(placed(ClusterPool.model_validate_json(described), seed))


class Simulation:
    """One run: clients, and the cluster that they ask.

    Parameters
    ----------
    pool : ClusterPool
    requests : Requests
    seed : int
        Of where data lies and of the drives' times.
    sample_every : int
        Levels are recorded after so many completions; 0: never.
    """

    def __init__(self, pool: ClusterPool, requests: Requests, seed: int, sample_every: int) -> None:
        reads, writes = (math.exp(each) for each in pool.slowness)
        self.pool, self.requests = pool, requests
        self.calendar = Calendar()
        self.cluster = Cluster(
            self.calendar,
            pool,
            pool.own_costs.scaled(reads, writes),
            _moved(member_of(pool.drive), reads, writes),
            None if pool.db is None else _moved(member_of(pool.db), reads, writes),
            round(pool.trip_ns * reads),
            seed,
        )
        self.groups: Sequence[tuple[int, ...]] = _groups(_shape(pool).model_dump_json(), seed)
        if pool.slow_osd > 1:
            # one that no failed node has: the primary of the first group (rule E13)
            self.cluster.osds[self.groups[0][0]].drive.slow_down(pool.slow_osd)
        n = len(requests)
        self.left, self.every = n, sample_every
        self.issue_ns, self.done_ns = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.parts_ns = np.zeros((n, len(PARTS)), np.int64)
        self.levels: list[tuple[int, int, int, int, int]] = []
        self.streams = Streams(requests, lambda time_ns, _, action: self.calendar.at(time_ns, action), self._issue)
        self.waiting: dict[int, int] = {}
        #: Writes of each client that wait for a sync.
        self.unsynced: dict[tuple[int, int], int] = {}
        self.offset, self.length = requests.offset.tolist(), requests.length.tolist()
        objects = np.arange(int((requests.offset + requests.length).max(initial=0)) // (4 << 20) + 1, dtype=np.int64)
        self.group = group_of(objects, len(self.groups)) if len(objects) < (1 << 20) else None
        connections = np.cumsum([0, *(rule.n_clients or 1 for rule in requests.streams)])
        self.first_client = connections.tolist()

    def run(self) -> int:
        """Return when the last request is done, ns."""
        if not self.left:
            return 0
        self.cluster.start_recovery(self.groups)
        self.cluster.start_scrubs(self.groups)
        self.streams.start()
        step, calendar = self.calendar.step, self.calendar
        while self.left:
            step()
            if calendar.now > MAX_NS:
                raise too_long()
        return calendar.now

    def _issue(self, row: int) -> None:
        now = self.calendar.now
        self.issue_ns[row] = now
        # an open stream is the sum of what all clients ask
        streams, stream = self.streams, self.streams.stream[row]
        closed = self.requests.streams[stream].n_clients
        number = self.first_client[stream] + streams.client[row] if closed else row
        connection = number % self.pool.n_clients
        if streams.op[row] == FLUSH:
            # every write was safe when it was answered, or drives have to be flushed (rule E10)
            lasts_ns = self.cluster.flush_ns()
            self.calendar.at(now + lasts_ns, lambda: self._done(row, ChildIo(commit_ns=lasts_ns)))
            return
        parts = pieces(self.offset[row], self.length[row])
        self.waiting[row] = len(parts)
        is_write = streams.op[row] == WRITE
        for number, first, n in parts:
            osds = self.groups[self._group(number)]
            self.cluster.ask(connection, osds, first, n, is_write=is_write, then=self._answer(row))

    def _group(self, number: int) -> int:
        if self.group is not None:
            return int(self.group[number])
        return int(group_of(np.array([number], np.int64), len(self.groups))[0])

    def _answer(self, row: int) -> Callable[[ChildIo], None]:
        def answered(piece: ChildIo) -> None:
            left = self.waiting[row] - 1
            self.waiting[row] = left
            if not left:
                del self.waiting[row]
                self._written(row, piece)

        return answered

    def _written(self, row: int, piece: ChildIo) -> None:
        """End a request, after the flush that its client waits for where drives have to be flushed (rule E10)."""
        rule = self.requests.streams[self.streams.stream[row]]
        if not self.pool.flushes or not rule.sync or self.streams.op[row] != WRITE:
            self._done(row, piece)
            return
        key = (self.streams.stream[row], self.streams.client[row])
        n = self.unsynced.get(key, 0) + 1
        is_due = n >= rule.sync_every
        self.unsynced[key] = 0 if is_due else n
        if not is_due:
            self._done(row, piece)
            return
        lasts_ns = self.cluster.flush_ns()
        piece.commit_ns += lasts_ns
        self.calendar.at(self.calendar.now + lasts_ns, lambda: self._done(row, piece))

    def _done(self, row: int, piece: ChildIo) -> None:
        now = self.calendar.now
        self.done_ns[row] = now
        left = now - int(self.issue_ns[row])
        for column, spent in (
            (_LINK, piece.link_ns),
            (_TRANSFER, piece.device_ns),
            (_SYNC, piece.commit_ns),
            (_OVERHEAD, piece.work_ns),
        ):
            taken = min(spent, left)
            self.parts_ns[row, column] = taken
            left -= taken
        self.parts_ns[row, _QUEUE] = left
        self.left -= 1
        if self.every and (len(self.done_ns) - self.left) % self.every == 0:
            self.levels.append((now, 0, 0, 0, min(self.cluster.busiest(now).busy_ns, now)))
        self.streams.completed(row, int(self.issue_ns[row]), now)

    def _about_scrubs(self, end_ns: int) -> tuple[str, ...]:
        """Return how long deep scrubs of all data take beside this load."""
        pool = self.pool
        if not pool.scrubs or not self.cluster.scrubbed_bytes:
            return ()
        left = pool.n_drives - pool.failed_nodes * pool.drives
        hours = left * pool.drive.capacity_bytes * pool.nearfull_ratio / self.cluster.scrubbed_bytes * end_ns / 3.6e12
        each = self.cluster.scrubbed_bytes / left / end_ns * 1e3
        verdict = (
            "as Ceph wants it every week" if hours <= SCRUB_HOURS else "which is longer than the week that Ceph wants"
        )
        return (
            f"deep scrubs read {each:,.0f} MB/s of each drive beside this load: all data of a full pool in "
            f"{in_hours_or_days(hours)}, {verdict}; without them the load is faster the other days",
        )

    def outcome(self, end_ns: int, wall_s: float) -> Run:
        """Return what became of all requests; the one device is the station that is busiest."""
        busiest = self.cluster.busiest(end_ns)
        response_ns = self.done_ns - self.issue_ns
        return Run(
            completions=Completions(self.issue_ns, self.done_ns, self.parts_ns, np.zeros(len(response_ns), np.bool_)),
            devices=DeviceCounters.of_one(self.requests, response_ns, min(busiest.busy_ns, end_ns)),
            engine="cluster",
            wall_s=wall_s,
            end_ns=end_ns,
            rebuilt_bytes=self.cluster.recovered_bytes,
            levels=np.array(self.levels, np.int64).reshape(-1, 5),
            busiest=busiest.name,
            n_behind=self.cluster.n_drive_ios,
            said=self._about_scrubs(end_ns),
        )


def _moved(member: Member, reads: float, writes: float) -> Member:
    return member if reads == writes == 1 else scaled(member, reads, writes)


def _shape(pool: ClusterPool) -> ClusterPool:
    """Return the pool with only what its placement depends on, so that pools that differ elsewhere share it."""
    return pool.model_copy(update={"slowness": (0.0, 0.0), "uncertainty": None, "slow_osd": 1.0})
