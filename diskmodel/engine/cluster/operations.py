"""What a request makes the daemons of a cluster do (rules E5 to E15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from diskmodel.drive import OBJECT_BYTES, ClusterPool, Costs
from diskmodel.engine.cluster.member import Member
from diskmodel.engine.cluster.stations import Calendar, Committer, DriveStation, Link, Processors, Threads

#: What a message has beside its data, bytes: headers, the name of the object, footers.
HEADER_BYTES = 250
#: What a transaction adds to RocksDB's log, bytes: an object's metadata, and an entry of the placement group's log.
#: About 1.5 to 2.5 KB in Ceph's own figures of write amplification of 4 KiB writes.
LOG_BYTES = 2048
#: Writes up to this length go to the log first on hard disks (`bluestore_prefer_deferred_size_hdd`).
DEFERRED_BYTES = 64 << 10
#: What a deep scrub reads of an object at a time: `osd_deep_scrub_stride` before it was 4 MiB, and about what Linux
#: hands to a drive at once of these.
SCRUBBED_BYTES = 512 << 10
#: Objects that an OSD recovers at the same time (`osd_max_backfills` placement groups, some objects each).
RECOVERING = 3


@dataclass
class ChildIo:
    """Where the time of a part of a request went, along what ended last."""

    link_ns: int = 0
    device_ns: int = 0
    commit_ns: int = 0
    work_ns: int = 0


class Busy(NamedTuple):
    """How long a station was busy, of one of its servers on average."""

    busy_ns: int
    name: str


class Osd:
    """A daemon: its threads, and the drive and the log that it uses."""

    def __init__(
        self, node: int, messengers: Threads, workers: Threads, others: Processors, drive: DriveStation, log: Committer
    ) -> None:
        self.node, self.messengers, self.workers, self.others = node, messengers, workers, others
        self.drive, self.log = drive, log
        self.n_recovering = 0


class Cluster:
    """All stations of a cluster, and what a request does at them.

    Parameters
    ----------
    calendar : Calendar
    pool : ClusterPool
    costs : Costs
    member, log_member : Member, Member or None
        The drive of the data, and of RocksDB where it has one of its own.
    trip_ns : int
        Of a small message one way.
    seed : int
    """

    def __init__(
        self,
        calendar: Calendar,
        pool: ClusterPool,
        costs: Costs,
        member: Member,
        log_member: Member | None,
        trip_ns: int,
        seed: int,
    ) -> None:
        self.calendar, self.pool, self.costs, self.trip_ns = calendar, pool, costs, trip_ns
        self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0xCE95,))))
        self._draws: list[int] = []
        rate = pool.network_bytes_per_s
        self.processors = [Processors(calendar, pool.n_processors) for _ in range(pool.nodes)]
        self.sends, self.receives = ([Link(rate, costs.stack_ns) for _ in range(pool.nodes)] for _ in range(2))
        self.client_sends, self.client_receives = ([Link(rate) for _ in range(pool.n_clients)] for _ in range(2))
        self.client_free = [0] * pool.n_clients
        self.client_busy = [0] * pool.n_clients
        self.drives: list[DriveStation] = []
        self.logs: list[DriveStation] = []
        self.osds: list[Osd] = []
        self.drive_flush_ns = round(member.flush_ns)
        flushes = 0 if log_member is None else self.drive_flush_ns
        for node in range(pool.nodes):
            drives = [DriveStation(member, self._draw) for _ in range(pool.drives)]
            logs = [DriveStation(log_member, self._draw) for _ in range(pool.db_drives)] if log_member else []
            self.drives += drives
            self.logs += logs
            for at in range(pool.osds_per_node):
                drive = drives[at // pool.osds_per_drive]
                log = logs[at % len(logs)] if logs else drive
                self.osds.append(
                    Osd(
                        node,
                        self._threads(node, costs.messengers),
                        self._threads(node, pool.n_workers),
                        self.processors[node],
                        drive,
                        Committer(
                            calendar,
                            log,
                            flush_ns=flushes,
                            work_ns=costs.commit_work_ns,
                            log_bytes=LOG_BYTES,
                            n_syncs=costs.commit_syncs,
                            sleeps=pool.power_saving,
                        ),
                    )
                )
        self.recovered_bytes = self.scrubbed_bytes = 0

    def _threads(self, node: int, n: int) -> Threads:
        return Threads(
            self.processors[node], n, self._draw, waking_ns=self.costs.waking_ns, sleeps=self.pool.power_saving
        )

    def _draw(self) -> int:
        """Return a random whole number, made in advance many at a time."""
        if not self._draws:
            self._draws = self.rng.integers(0, 1 << 30, 4096).tolist()
        return self._draws.pop()

    # ------------------------------------------------------------------ messages
    def _message_ns(self, n_bytes: int) -> int:
        return self.costs.message_ns + int(n_bytes * 1e9 / self.costs.payload_bytes_per_s)

    def _pass(self, sends: Link, receives: Link, n_bytes: int, then: Callable[[], None]) -> None:
        """Pass a message over two links, the second as it comes from the first (rule E6)."""
        total = n_bytes + HEADER_BYTES
        begins = sends.begins(self.calendar.now, total)
        arrives = receives.begins(begins + self.trip_ns, total) + receives.lasts_ns(total)
        self.calendar.at(arrives, then)

    def _between(self, source: Osd, target: Osd, n_bytes: int, then: Callable[[], None]) -> None:
        """Send from one OSD to another: both have a messenger's work."""

        def sent() -> None:
            self._pass(self.sends[source.node], self.receives[target.node], n_bytes, arrived)

        def arrived() -> None:
            target.messengers.run(self._message_ns(n_bytes), then)

        source.messengers.run(self._message_ns(n_bytes), sent)

    # ------------------------------------------------------------------ requests
    def ask(
        self,
        client: int,
        osds: tuple[int, ...],
        first: int,
        n_bytes: int,
        *,
        is_write: bool,
        then: Callable[[ChildIo], None],
    ) -> None:
        """Send a part of a request to its primary, and call `then` when the client has its answer.

        Parameters
        ----------
        client : int
            Connection.
        osds : tuple of int
            Of the placement group, primary first.
        first, n_bytes : int
            Place in the object, and length.
        is_write : bool
        then : callable
            Gets where its time went.
        """
        calendar, costs = self.calendar, self.costs
        primary, piece = self.osds[osds[0]], ChildIo()
        asked, answered = (n_bytes, 0) if is_write else (0, n_bytes)
        # a connection's thread takes each request, and long ones as fast as it copies (rule E2)
        own_ns = costs.client_write_ns if is_write else costs.client_read_ns
        lasts = max(own_ns, int(n_bytes * 1e9 / costs.client_bytes_per_s))
        begins = max(calendar.now, self.client_free[client])
        self.client_free[client] = begins + lasts
        self.client_busy[client] += lasts
        is_local = self.pool.program.is_local
        piece.work_ns += lasts
        if not is_local:
            piece.work_ns += self._message_ns(asked) + self._message_ns(answered)
            piece.link_ns += 2 * self.trip_ns + primary_link_ns(self.receives[primary.node], n_bytes)

        def begin() -> None:
            if is_local:
                taken()
            else:
                self._pass(self.client_sends[client], self.receives[primary.node], asked, arrived)

        def arrived() -> None:
            primary.messengers.run(self._message_ns(asked), taken)

        def taken() -> None:
            if self.pool.data is not None:
                self._coded(osds, first, n_bytes, is_write, piece, done)
            elif is_write:
                self._replicated_write(osds, n_bytes, piece, done)
            else:
                self._read(primary, n_bytes, piece, done)

        def done() -> None:
            if is_local:
                then(piece)
                return
            primary.others.run(2 * costs.kernel_ns, _nothing)
            primary.messengers.run(self._message_ns(answered), send)

        def send() -> None:
            self._pass(self.sends[primary.node], self.client_receives[client], answered, lambda: then(piece))

        calendar.at(begins + lasts, begin)

    def _read(self, osd: Osd, n_bytes: int, piece: ChildIo, then: Callable[[], None]) -> None:
        def worked() -> None:
            ends = osd.drive.read(self.calendar.now, n_bytes)
            piece.device_ns = ends - self.calendar.now
            self.calendar.at(ends, then)

        piece.work_ns += self.costs.read_work_ns
        osd.workers.run(self.costs.read_work_ns, worked)

    def _store(self, osd: Osd, n_bytes: int, then: Callable[[int, int], None]) -> None:
        """Write to an OSD's own drive; `then` gets the times of the drive and of the commit (rules E8, E9)."""
        began = self.calendar.now
        if not self.pool.program.has_log:
            self._store_without_log(osd, n_bytes, then)
            return
        defers = self.pool.defers and n_bytes <= DEFERRED_BYTES

        def written() -> None:
            stored = self.calendar.now

            def committed() -> None:
                osd.others.run(self.costs.after_write_ns + 2 * self.costs.kernel_ns, _nothing)
                if defers:
                    osd.drive.write(self.calendar.now, n_bytes)
                then(stored - began, self.calendar.now - stored)

            osd.log.add(n_bytes if defers else 0, committed)

        if defers:
            written()
        else:
            self.calendar.at(osd.drive.write(began, n_bytes), written)

    def _store_without_log(self, osd: Osd, n_bytes: int, then: Callable[[int, int], None]) -> None:
        """Answer when the drive has it, and write what a journal had afterwards (rule E15)."""
        began, later = self.calendar.now, self.costs.later_writes if n_bytes <= DEFERRED_BYTES else 0

        def written() -> None:
            for _ in range(later):
                osd.drive.write(self.calendar.now, n_bytes)
            then(self.calendar.now - began, 0)

        self.calendar.at(osd.drive.write(began, n_bytes, in_order=later > 0), written)

    def flush_ns(self) -> int:
        """Return how long a flush of the host takes: a round trip to the other copies, and the drives' own (E10)."""
        if not self.pool.flushes:
            return 1
        return 2 * self.trip_ns + 4 * self.costs.message_ns + self.drive_flush_ns

    def _replicated_write(self, osds: tuple[int, ...], n_bytes: int, piece: ChildIo, then: Callable[[], None]) -> None:
        """Have all copies written; the slowest one decides (rule E7)."""
        primary = self.osds[osds[0]]

        def worked() -> None:
            self._write_all(osds, n_bytes, piece, then)

        piece.work_ns += self.costs.write_work_ns
        primary.workers.run(self.costs.write_work_ns, worked)

    def _write_all(self, osds: tuple[int, ...], n_bytes: int, piece: ChildIo, then: Callable[[], None]) -> None:
        primary = self.osds[osds[0]]
        left = len(osds)

        def stored(device_ns: int, commit_ns: int, more_link_ns: int, more_work_ns: int) -> None:
            nonlocal left
            left -= 1
            if not left:
                piece.device_ns += device_ns
                piece.commit_ns += commit_ns
                piece.link_ns += more_link_ns
                piece.work_ns += more_work_ns
                then()

        self._store(primary, n_bytes, lambda device, commit: stored(device, commit, 0, 0))
        for number in osds[1:]:
            self._copy(primary, self.osds[number], n_bytes, stored)

    def _copy(self, primary: Osd, other: Osd, n_bytes: int, stored: Callable[[int, int, int, int], None]) -> None:
        link_ns = 2 * self.trip_ns + primary_link_ns(self.receives[other.node], n_bytes)
        work_ns = 2 * self._message_ns(n_bytes) + 2 * self._message_ns(0) + self.costs.write_work_ns

        def arrived() -> None:
            other.workers.run(self.costs.write_work_ns, worked)

        def worked() -> None:
            self._store(other, n_bytes, committed)

        def committed(device_ns: int, commit_ns: int) -> None:
            self._between(other, primary, 0, lambda: stored(device_ns, commit_ns, link_ns, work_ns))

        self._between(primary, other, n_bytes, arrived)

    # ------------------------------------------------------------------ erasure-coded pools
    def _coded(
        self, osds: tuple[int, ...], first: int, n_bytes: int, is_write: bool, piece: ChildIo, then: Callable[[], None]
    ) -> None:
        """Read k fragments of all stripes that a request touches; a write then writes all of theirs (rule E11)."""
        pool, unit = self.pool, self.pool.stripe_unit_bytes
        n_data = pool.data or 1
        width = n_data * unit
        stripes = -(-(first + n_bytes) // width) - first // width
        primary = self.osds[osds[0]]

        def write() -> None:
            piece.work_ns += self.costs.write_work_ns
            primary.workers.run(self.costs.write_work_ns, lambda: self._write_all(osds, stripes * unit, piece, then))

        if not is_write:
            self._gather(osds[:n_data], stripes * unit, piece, then)
            return
        partial = (first % width > 0) + ((first + n_bytes) % width > 0)
        partial = min(partial, stripes)
        if partial:
            self._gather(osds[:n_data], partial * unit, piece, write)
        else:
            write()

    def _gather(self, osds: tuple[int, ...], n_bytes: int, piece: ChildIo, then: Callable[[], None]) -> None:
        """Read a fragment from each of some OSDs at their first."""
        primary = self.osds[osds[0]]
        left = len(osds)

        def read() -> None:
            nonlocal left
            left -= 1
            if not left:
                then()

        def of(other: Osd) -> None:
            def arrived() -> None:
                self._read(other, n_bytes, ChildIo(), back)

            def back() -> None:
                self._between(other, primary, n_bytes, read)

            self._between(primary, other, 0, arrived)

        self._read(primary, n_bytes, piece, read)
        for number in osds[1:]:
            of(self.osds[number])
        if len(osds) > 1:
            piece.link_ns += 2 * self.trip_ns
            piece.work_ns += 2 * self._message_ns(0) + 2 * self._message_ns(n_bytes)

    # ------------------------------------------------------------------ recovery
    def start_recovery(self, groups: Sequence[tuple[int, ...]]) -> None:
        """Begin to copy what failed nodes had, where that goes on (rule E12)."""
        pool = self.pool
        if not pool.recovers:
            return
        up = sorted({osd for group in groups for osd in group})
        gap_ns = round(OBJECT_BYTES * 1e9 * len(up) / pool.recovery_bytes_per_s)
        for number in up:
            self._recover(number, up, gap_ns, self._draw() % gap_ns)

    def _recover(self, number: int, up: list[int], gap_ns: int, after_ns: int) -> None:
        target = self.osds[number]
        n_sources = self.pool.data or 1
        n_bytes = OBJECT_BYTES // n_sources

        def due() -> None:
            self._recover(number, up, gap_ns, gap_ns)
            if target.n_recovering >= RECOVERING:
                return
            target.n_recovering += 1
            left = n_sources

            def read() -> None:
                nonlocal left
                left -= 1
                if not left:
                    self._store(target, n_bytes, written)

            def written(_device_ns: int, _commit_ns: int) -> None:
                target.n_recovering -= 1
                self.recovered_bytes += n_bytes

            for _ in range(n_sources):
                source = self.osds[up[self._draw() % len(up)]]
                ends = source.drive.read(self.calendar.now, n_bytes)
                self.calendar.at(ends, partial(self._between, source, target, n_bytes, read))

        self.calendar.at(self.calendar.now + after_ns, due)

    # ------------------------------------------------------------------ scrubs
    def start_scrubs(self, groups: Sequence[tuple[int, ...]]) -> None:
        """Begin deep scrubs of all OSDs that are left, as many at a time as each takes part in (rule E14)."""
        pool = self.pool
        if not pool.scrubs:
            return
        gap_ns = round(pool.scrubs_at_once * OBJECT_BYTES * 1e9 / pool.scrub_bytes_per_s)
        for number in sorted({osd for group in groups for osd in group}):
            for _ in range(pool.scrubs_at_once):
                self._scrub(self.osds[number], gap_ns, self._draw() % gap_ns)

    def _scrub(self, osd: Osd, gap_ns: int, after_ns: int) -> None:
        """Read and check one object after the other, none sooner than mClock's limit allows."""
        digest_ns = int(SCRUBBED_BYTES * 1e9 / self.costs.payload_bytes_per_s)

        def due() -> None:
            began = self.calendar.now
            left = OBJECT_BYTES

            def read() -> None:
                self.calendar.at(osd.drive.read(self.calendar.now, SCRUBBED_BYTES), arrived)

            def arrived() -> None:
                osd.workers.run(digest_ns, checked)

            def checked() -> None:
                nonlocal left
                left -= SCRUBBED_BYTES
                self.scrubbed_bytes += SCRUBBED_BYTES
                if left:
                    read()
                else:
                    self._scrub(osd, gap_ns, max(gap_ns - (self.calendar.now - began), 0))

            read()

        self.calendar.at(self.calendar.now + after_ns, due)

    # ------------------------------------------------------------------ what limits
    @property
    def n_drive_ios(self) -> int:
        """Reads and writes of all drives, those of logs among them."""
        return sum(drive.n_reads + drive.n_writes for drive in (*self.drives, *self.logs))

    def busiest(self, now: int) -> Busy:
        """Return the station that was busy longest until now, and for how long, of each of its servers."""
        pool = self.pool
        found = [
            Busy(max(self.client_busy), "the clients' connections"),
            Busy(max(each.busy_ns // each.n for each in self.processors), "the processors of a node"),
            Busy(max(osd.messengers.busy_ns // osd.messengers.n for osd in self.osds), "the messengers of an OSD"),
            Busy(max(osd.workers.busy_ns // osd.workers.n for osd in self.osds), "the workers of an OSD"),
            Busy(max(link.busy_ns for link in (*self.sends, *self.receives)), "the network of a node"),
            Busy(max(link.busy_ns for link in (*self.client_sends, *self.client_receives)), "the network of a client"),
            Busy(max(drive.busy_ns // drive.servers for drive in self.drives), f"a drive ({pool.drive.name})"),
        ]
        found += (
            [Busy(max(drive.busy_ns // drive.servers for drive in self.logs), "a drive of RocksDB")]
            if self.logs
            else []
        )
        return max(Busy(min(each.busy_ns, now), each.name) for each in found)


def primary_link_ns(link: Link, n_bytes: int) -> int:
    """Return how long data pass a link."""
    return link.lasts_ns(n_bytes + HEADER_BYTES)


def _nothing() -> None:
    pass
