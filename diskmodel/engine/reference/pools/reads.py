"""Event adapter of what a pool reads: streams that it reads ahead of, and records in memory (rules X18 and X19)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from diskmodel.controller import BlockCache, ZfsArc
from diskmodel.engine.reference.auxiliary.drives import AuxiliaryDrives
from diskmodel.engine.reference.clock import ARRIVE, COMPLETE, LAST, Clock
from diskmodel.engine.reference.command import Access, Command
from diskmodel.engine.reference.pools.members import Members
from diskmodel.engine.steady.start import Start
from diskmodel.layout.pools import Devices, L2arc, Region, Stream, Streams, vdevs_of
from diskmodel.records import READ

Done = Callable[[Access, Command], None]


@dataclass
class Reader:
    """A read that waits for records: how many, and since when it was asked for."""

    done: Done
    asked_ns: int
    out: int = 0


@dataclass
class InFlight:
    """A record that is being read into memory: who waits for it, and whether it is kept for others."""

    readers: list[Reader] = field(default_factory=list)
    is_kept: bool = True
    stream: Stream | None = None
    is_ahead: bool = False


class PoolReads:
    """What stands before the reads of a pool."""

    def __init__(
        self, clock: Clock, raid: Members, hit_ns: int, sector_bytes: int, drives: AuxiliaryDrives | None = None
    ) -> None:
        self.clock, self.raid, self.hit_ns = clock, raid, hit_ns
        self.vdevs = vdevs_of(raid.tables)
        pool = self.vdevs.pool
        self.record, self.record_bytes = pool.record, pool.record * sector_bytes
        self.streams = Streams(pool.reads, pool.writes.n_records)
        #: Records in memory that a reader has not come past, the oldest first.
        self.held: dict[int, None] = {}
        self.in_flight: dict[int, InFlight] = {}
        #: The cache of OpenZFS in front of the pool, where it has a size (rule K16); its blocks are records.
        self.arc: BlockCache | None = None
        #: What the cache devices hold, and when they are free (rule X27).
        self.l2arc: L2arc | None = None if pool.l2arc is None else L2arc(pool.l2arc)
        self.cache_devices = None
        if pool.l2arc is not None and pool.l2arc.figures is not None:
            self.cache_devices = Devices(pool.l2arc.figures, pool.l2arc.devices)
        self.drives = drives
        #: Records of the last feed that are being written to these, and when the next one is due.
        self.writing = self.next_feed_ns = 0
        self.is_fed = False
        #: Records that were looked for on the L2ARC: those found, and the others.
        self.n_l2arc_hits = self.n_l2arc_misses = 0
        self.device = len(raid.devices) + 4

    def begin_with(self, arc: BlockCache | None, start: Start) -> None:
        """Take the cache in front of the pool, and what it and the cache devices hold when the run begins."""
        self.arc = arc
        pool = self.vdevs.pool
        if pool.l2arc is not None:
            self.l2arc = L2arc(pool.l2arc, [Region(*region) for region in start.l2arc_regions], start.l2arc_taken)
        lost = deque(zip(start.l2arc_lost_at.tolist(), start.l2arc_lost.tolist(), strict=True))
        if arc is None:
            return
        for at, (record, is_written) in enumerate(start.uses()):
            while lost and lost[0][0] <= at:
                self.written(lost.popleft()[1])
            evicted = (arc.write if is_written else arc.insert)(record)
            if self.l2arc is None or at < start.l2arc_from:
                continue
            if evicted is not None and evicted not in self.l2arc:
                self.l2arc.insert(evicted)
            # a list that feeds look at to its end leaves nothing for them to find later
            is_seen = isinstance(arc, ZfsArc) and arc.n_beside(record) <= start.l2arc_seen
            if is_seen and record not in self.l2arc:
                self.l2arc.insert(record)
        if isinstance(arc, ZfsArc) and start.arc is not None:
            held = start.arc
            arc.begin_with([of.tolist() for of in held.lists], held.apart.tolist(), held.share)

    def read(self, row: int, sector: int, n: int, done: Done) -> None:
        """Read what is neither in memory nor being read, and ahead of a reader that goes on."""
        first, end = sector // self.record, -(-(sector + n) // self.record)
        is_whole = (sector + n) % self.record == 0
        stream, comes_to_others = self.streams.read(first, end, self.clock.now)
        if stream is None and not any(map(self._is_near, range(first, end))):
            self.n_l2arc_misses += end - first if self.l2arc is not None else 0
            self.raid.access(READ, sector, n, done)
            return
        reader, is_hasty = Reader(done, self.clock.now), False
        for record in range(first, end):
            is_kept = record == end - 1 and not is_whole
            if record in self.held:
                if not is_kept:
                    del self.held[record]
                continue
            if self.is_cached(record):
                continue
            reader.out += 1
            if record not in self.in_flight:
                self.in_flight[record] = InFlight([reader], is_kept)
                self._fetch(record)
                continue
            read = self.in_flight[record]
            read.readers.append(reader)
            read.is_kept = is_kept
            is_hasty |= read.is_ahead
            read.is_ahead = False
        if is_hasty:
            self._promote(range(first, end))
        if not reader.out:
            self.clock.at(self.clock.now + self.hit_ns, COMPLETE, self.device, row, lambda: self._answer(reader))
        if stream is not None and comes_to_others:
            self._read_ahead(stream, is_missed=reader.out > 0)

    def hit(self, sector: int, n: int) -> None:
        """Go on with the stream of a read that the cache serves (rule K16)."""
        first, end = sector // self.record, -(-(sector + n) // self.record)
        stream, comes_to_others = self.streams.read(first, end, self.clock.now)
        for record in range(first, end):
            self.held.pop(record, None)
        if stream is not None and comes_to_others:
            self._read_ahead(stream, is_missed=False)

    def is_cached(self, record: int) -> bool:
        """Whether the cache in front of the pool has a record."""
        return self.arc is not None and record in self.arc

    def _knows(self, record: int) -> bool:
        return record in self.held or record in self.in_flight or self.is_cached(record)

    def _is_near(self, record: int) -> bool:
        """Whether a record need not come from the disks."""
        return self._knows(record) or self.is_on_l2arc(record)

    def is_on_l2arc(self, record: int) -> bool:
        """Whether a cache device has a record (rule X27)."""
        return self.l2arc is not None and record in self.l2arc

    def read_from_l2arc(self, record: int, done: Callable[[], None]) -> bool:
        """Read a record from the cache devices, if they have it."""
        if self.l2arc is None:
            return False
        if record not in self.l2arc:
            self.n_l2arc_misses += 1
            return False
        self.n_l2arc_hits += 1
        if self.drives is None:
            assert self.cache_devices is not None
            self.clock.at(self.cache_devices.read(record, self.clock.now), COMPLETE, self.device, LAST, done)
            return True
        left, devices = 0, self.l2arc.tables.devices

        def part_read(_: Command) -> None:
            nonlocal left
            left -= 1
            if not left:
                done()

        left = self.drives.read(record % devices, record // devices, self.record_bytes, part_read)
        return True

    def written(self, record: int) -> None:
        """What a cache device has of a record is of no use any more."""
        if self.l2arc is not None:
            self.l2arc.invalidate(record)

    def feed_later(self) -> None:
        """Something has come into the ARC, from which the L2ARC is fed a while later, if it is not yet to be."""
        if self.l2arc is not None and not self.is_fed:
            self.is_fed = True
            self._feed_in(self.l2arc.tables.feed_ns)

    def _feed_in(self, wait_ns: int) -> None:
        self.clock.at(self.clock.now + wait_ns, ARRIVE, self.device, LAST - 5, self._feed)

    def _feed(self) -> None:
        """The L2ARC takes what the ARC evicts next, and comes again unless there was nothing."""
        assert self.l2arc is not None
        tables = self.l2arc.tables
        n_before = self.l2arc.n_come
        is_busy = isinstance(self.arc, ZfsArc) and self.l2arc.feed(self.arc)
        n_fed = self.l2arc.n_come - n_before
        self.is_fed = n_fed > 0
        wait_ns = tables.busy_feed_ns if is_busy else tables.feed_ns
        if self.drives is not None:
            self.next_feed_ns = self.clock.now + wait_ns
            fed = list(self.l2arc.order)[len(self.l2arc.order) - n_fed :]
            for record, _ in fed:
                device, n_bytes = record % tables.devices, self.record_bytes
                self.writing += self.drives.append_to(device, n_bytes, lambda _: self._is_written())
        elif self.is_fed:
            self._feed_in(wait_ns)

    def _is_written(self) -> None:
        """A record of the last feed is on its drive: when all are, the next feed may come."""
        self.writing -= 1
        if not self.writing:
            self._feed_in(max(self.next_feed_ns - self.clock.now, 0))

    def _read_ahead(self, stream: Stream, *, is_missed: bool) -> None:
        for record in self.streams.ahead(stream, is_missed=is_missed):
            if not self._knows(record):
                self.in_flight[record] = InFlight([], stream=stream, is_ahead=True)
                self._fetch(record, is_ahead=True)

    def _fetch(self, record: int, *, is_ahead: bool = False) -> None:
        if self.read_from_l2arc(record, lambda: self._came(record)):
            return
        self.raid.read_record(record, self.record, lambda *_: self._came(record), is_ahead=is_ahead)

    def _promote(self, records: range) -> None:
        """What somebody waits for now is of another class (rule X14)."""
        for device in self.raid.devices:
            device.promote(records)

    def _came(self, record: int) -> None:
        read = self.in_flight.pop(record)
        if read.is_kept:
            self.held[record] = None
            if len(self.held) > self.streams.tables.held:
                del self.held[next(iter(self.held))]
        if read.stream is not None:
            self.streams.came(read.stream, record)
        for reader in read.readers:
            reader.out -= 1
            if not reader.out:
                self._answer(reader)

    def _answer(self, reader: Reader) -> None:
        """All is in memory; the time that it waited for counts as the cache's."""
        now = self.clock.now
        access = Access(reader.done, [], reader.asked_ns, reader.asked_ns, cache_ns=now - reader.asked_ns)
        reader.done(access, Command(0, 0, READ, 0, 0, now, lambda _: None))
