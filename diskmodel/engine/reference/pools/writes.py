"""Event adapter of what a pool writes: dirty records, transaction groups, the throttle (rules X9 to X15 and X26)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from diskmodel.controller import BlockCache
from diskmodel.engine.auxiliary import Auxiliary
from diskmodel.engine.reference.auxiliary.drives import AuxiliaryDrives, Free
from diskmodel.engine.reference.clock import ARRIVE, COMPLETE, LAST, Clock
from diskmodel.engine.reference.command import Access, Command
from diskmodel.engine.reference.pools.intent_log import Entry, IntentLog
from diskmodel.engine.reference.pools.members import Members
from diskmodel.engine.reference.pools.reads import PoolReads
from diskmodel.engine.reference.pools.scan import Scan
from diskmodel.engine.reference.processors import Processors
from diskmodel.engine.steady.start import Start
from diskmodel.layout import ChildIo
from diskmodel.layout.pools import Space, commands_of, new_disk_of, vdevs_of, width_of, write_pieces
from diskmodel.records import READ, WRITE

#: Times of its own work that a write of a group waits for a processor which others want. The thread that begins it
#: has the lowest priority (nice 19), and so 15 of 1,039 parts of a processor, and does an eighth of the work. At half,
#: twice as many are written where programs want all of it.
PATIENCE = 8
#: How long the thread works on them without a pause once it has waited, ns: what Linux leaves a thread at least
#: (`sched_min_granularity_ns`, on one processor). At four times as much, disks are written half as often where eight
#: writers on a log device leave little of the processor; one by one, a fifth more often.
SLICE_NS = 750_000
Done = Callable[[Access, Command], None]


@dataclass
class Group:
    """A transaction group.

    `records` are dirty, each with whether its place has been written already, and with them the blocks `indirect`, in
    all `n_dirty` sectors; `entries` would be what the log gets of
    writes that nobody has made safe, and `direct` the records among these that go to their places at once.
    """

    records: dict[int, bool] = field(default_factory=dict)
    indirect: set[tuple[int, int]] = field(default_factory=set)
    n_dirty: int = 0
    entries: list[Entry] = field(default_factory=list)
    direct: list[int] = field(default_factory=list)


@dataclass
class Write:
    """A write of a program that is not in a group yet."""

    row: int
    sector: int
    n: int
    done: Done
    asked_ns: int
    is_safe: bool


class OwnDrives(Protocol):
    """Drives of a pool beside its vdevs."""

    @property
    def log(self) -> Auxiliary | None: ...
    @property
    def special(self) -> Auxiliary | None: ...
    @property
    def l2arc(self) -> Auxiliary | None: ...


class _Last:
    """Calls something when the last of several things has ended, whatever these are called with."""

    def __init__(self, done: Callable[[], None], left: int = 0) -> None:
        self.done, self.left = done, left

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if not self.left:
            self.done()


class PoolWrites:
    """What stands before the layout of a pool."""

    def __init__(
        self,
        clock: Clock,
        raid: Members,
        processors: Processors,
        hit_ns: int,
        host_work_ns: int,
        sector_bytes: int,
        own: OwnDrives,
    ) -> None:
        self.clock, self.raid, self.hit_ns = clock, raid, hit_ns
        self.vdevs = vdevs_of(raid.tables)
        pool = self.vdevs.pool
        self.pool, self.tables = pool, pool.writes
        self.record_blocks = pool.record // pool.block
        self.sector_bytes = sector_bytes
        self.space = Space(self.vdevs)
        self.device = len(raid.devices) + 4
        self.open = Group()
        self.syncing: Group | None = None
        #: Sectors of records that are dirty, in both groups.
        self.dirty = 0
        #: When the writing of the last group began, and whether a time for the next is set.
        self.begun_ns = 0
        self.is_timed = False
        drives = None if own.l2arc is None else AuxiliaryDrives(clock, own.l2arc, pool.scan)
        self.reads = PoolReads(clock, raid, hit_ns, sector_bytes, drives)
        self.processors = processors
        #: A processor works so long on a write of a group, one after the other.
        self.write_work_ns = host_work_ns if self.tables.record_ns < 0 else self.tables.record_ns
        self.is_in_turn = False
        #: Writes that are prepared without another wait.
        self.in_slice = 0
        #: What each of the last three of its four parts takes: the write's place, its commands, and its end.
        self.quarter_ns = self.write_work_ns // 4
        for device in raid.devices:
            device.hand_ns = self.quarter_ns // commands_of(self.vdevs, self.record_blocks)
        #: Writes that are prepared and wait for their places, and whether one is being given its place.
        self.prepared = 0
        self.is_placing = False
        #: Writes that a processor still ends: what is clean then, and whether they were on the disks.
        self.ending: deque[tuple[int, bool]] = deque()
        #: The special vdev, if there is one.
        self.special = None if own.special is None else AuxiliaryDrives(clock, own.special, pool.scan)
        of_special = [] if self.special is None else self.special.devices
        for device in of_special:
            device.hand_ns = self.quarter_ns // len(of_special)
        #: All that are given writes of a group, or what is fed to cache devices, by how much is dirty (rule X14).
        self.given = [*raid.devices, *of_special, *([] if drives is None else drives.devices)]
        drives = None if own.log is None else AuxiliaryDrives(clock, own.log, pool.scan)
        work_ns = (host_work_ns, self.write_work_ns)
        self.log = IntentLog(clock, raid, self.space, processors, work_ns, sector_bytes, drives)
        #: Records and indirect blocks of the group that are still to be written; how many writes are out on the disks,
        #: and how many on the special vdev.
        self.left_records = self.left_indirect = 0
        #: How many of them it had to write when it began.
        self.of_group = (0, 0)
        self.out = self.out_special = 0
        #: Writes of the group that may be out on the disks; one more with each of these that ends.
        self.most_out = self._first_out()
        #: Rounds of metadata that have been written of the group, and whether the blocks above its files have been.
        self.round, self.is_above_written = 0, False
        #: When the last delayed write goes on, and writes that wait until less is dirty.
        self.delayed_until_ns = 0
        self.blocked: deque[Write] = deque()
        #: A resilver or a scrub, which the groups wait for (rule X21), and whether the one that is written has data.
        self.scan = Scan(clock, raid, self) if self.vdevs.sync_action != "none" else None
        self.has_data = False
        self._dirty_changed()

    def begin(self, n_records: int, n_indirect: int, top: int) -> None:
        """Begin to write a group of so many records, whose time has come when the run begins (rule Z12)."""
        self.space.top = top
        self.space.group_begins()
        if n_records:
            self.syncing, self.has_data = Group(), True
            self.dirty = n_records * self.pool.record + n_indirect * self.tables.indirect
            self.left_records, self.left_indirect = n_records, n_indirect
            self.of_group = (n_records, n_indirect)
            self._dirty_changed()
            self._write_group()
        else:
            self._begin_group()
        if self.scan is not None:
            self.scan.begin_in_order()

    def _dirty_changed(self) -> None:
        """Give drives as many writes of a group as is due now (rule X14)."""
        n = self.tables.active_writes(self.dirty)
        for device in self.given:
            if device.most_of_group != n:
                device.most_of_group = n
                device.wake(self.clock.now)

    # ------------------------------------------------------------------ requests
    def access(
        self,
        op: int,
        sector: int,
        n: int,
        done: Done,
        is_fua: bool = False,
        row: int = 0,
        *,
        is_of_file: bool = False,
    ) -> None:
        """Start a host access of `n` sectors, `done` as of `Members.access`; writes need no places (rule Q10)."""
        self.space.asked((sector + n - 1) // self.pool.record)
        if op == READ:
            self.reads.read(row, sector, n, done)
            return
        write = Write(row, sector, n, done, self.clock.now, is_fua and self.tables.is_logged)
        if self.blocked or self.dirty >= self.tables.dirty_most:
            self.blocked.append(write)
        else:
            self._delay(write)

    # ------------------------------------------------------------------ the cache in front of it
    @property
    def l2arc_reads(self) -> tuple[int, int]:
        """Records that were looked for on cache devices: those found, and the others (rule X27)."""
        return self.reads.n_l2arc_hits, self.reads.n_l2arc_misses

    def begin_with(self, cache: BlockCache | None, start: Start) -> None:
        """Take the cache in front of it, and what it and the cache devices hold when the run begins."""
        self.reads.begin_with(cache, start)

    def hit(self, sector: int, n: int) -> None:
        """Go on with the stream of a read that the cache serves (rule K16)."""
        self.reads.hit(sector, n)

    def feed_later(self) -> None:
        """Something has come into the cache, from which the L2ARC is fed."""
        self.reads.feed_later()

    # ------------------------------------------------------------------ requests
    def flush(self, done: Callable[[], None]) -> None:
        """Make all writes before this one safe (rule X10)."""
        if not self.tables.is_logged:
            done()
            return
        entries = [Entry(self.tables.log_header)]
        for group in (self.syncing, self.open):
            if group is not None:
                entries += group.entries
                for record in group.direct:
                    self._is_placed(record)
                group.entries, group.direct = [], []
        self.log.commit(entries, lambda _: done())

    def _delay(self, write: Write) -> None:
        """A write waits behind the one before it while much is dirty (rule X15)."""
        delay, now = self.tables.delay_of(self.dirty), self.clock.now
        if not delay:
            self._fill(write)
            return
        self.delayed_until_ns = max(now, self.delayed_until_ns) + delay
        self.clock.at(self.delayed_until_ns, COMPLETE, self.device, write.row, lambda: self._fill(write))

    def _fill(self, write: Write) -> None:
        """Read what is missing of records of which only a part is written (rule X9)."""
        record = self.pool.record
        first, last = write.sector // record, (write.sector + write.n - 1) // record
        ends = {first} if write.sector % record else set()
        if (write.sector + write.n) % record:
            ends.add(last)
        missing = [number for number in sorted(ends) if not (self._holds(number) or self.reads.is_cached(number))]
        if not missing:
            self._take(write, None)
            return
        left = len(missing)

        def come(command: Command | None = None) -> None:
            nonlocal left
            left -= 1
            if not left:
                self._take(write, command)

        def read(_: Access, command: Command) -> None:
            come(command)

        for number in missing:
            if not self.reads.read_from_l2arc(number, come):
                self.raid.access(READ, number * record, record, read)

    def _holds(self, record: int) -> bool:
        return record in self.open.records or (self.syncing is not None and record in self.syncing.records)

    def _take(self, write: Write, read: Command | None) -> None:
        """A write is in the open group (rule X9)."""
        tables, record = self.tables, self.pool.record
        records = range(write.sector // record, (write.sector + write.n - 1) // record + 1)
        is_direct = bool(tables.direct_from) and write.n >= tables.direct_from
        header = tables.log_header
        entries = [Entry(header, 1)] * len(records) if is_direct else [Entry(header + write.n * self.sector_bytes)]
        for number in records:
            if number not in self.open.records:
                self._dirtied(number)
            self.open.records[number] = is_direct and write.is_safe
            self.reads.written(number)
        self._dirty_changed()
        self._set_time()
        self._begin_group()
        if write.is_safe:
            self.log.commit(entries, lambda last: self._done(write, last, 0))
            return
        if tables.is_logged:
            self.open.entries += entries
            self.open.direct += records if is_direct else []
        last = Command(0, 0, WRITE, 0, 0, self.clock.now, lambda _: None) if read is None else read
        then = self.clock.now + self.hit_ns
        self.clock.at(then, COMPLETE, self.device, write.row, lambda: self._done(write, last, self.hit_ns))

    def _dirtied(self, number: int) -> None:
        """A record is dirty in the open group, and the blocks above it (rule X9)."""
        group = self.open
        above = set(self.tables.above(number)) - group.indirect
        group.indirect |= above
        n = self.pool.record + len(above) * self.tables.indirect
        group.n_dirty += n
        self.dirty += n

    def _done(self, write: Write, last: Command, cache_ns: int) -> None:
        write.done(Access(write.done, [], write.asked_ns, write.asked_ns, cache_ns=cache_ns), last)

    def _is_placed(self, record: int) -> None:
        """A dirty record is written to its place with the log, and not again with its group (rule X10)."""
        for group in (self.syncing, self.open):
            if group is not None and record in group.records:
                group.records[record] = True

    # ------------------------------------------------------------------ transaction groups
    def _set_time(self) -> None:
        """The open group is written at the next multiple of the interval from the beginning of the last (rule X11)."""
        if self.is_timed:
            return
        self.is_timed = True
        interval, now = self.tables.group_ns, self.clock.now
        n = max(-(-(now - self.begun_ns) // interval), 1)
        self.clock.at(self.begun_ns + n * interval, ARRIVE, self.device, LAST - 1, self._timed)

    def _timed(self) -> None:
        self.is_timed = False
        self._begin_group(is_due=True)

    def _begin_group(self, *, is_due: bool = False) -> None:
        """Write the open group if it is time, or large enough, and none is being written."""
        is_large = self.open.n_dirty >= self.tables.dirty_group
        is_scanned = self.scan is not None and self.scan.has_work
        is_time = is_scanned or (bool(self.open.records) and (is_due or is_large))
        if self.syncing is not None or not is_time:
            return
        self.begun_ns = self.clock.now
        self.space.group_begins()
        self.has_data = bool(self.open.records)
        self.syncing, self.open = self.open, Group()
        records = self.syncing.records
        self.left_records = sum(not is_written for is_written in records.values())
        self.dirty -= (len(records) - self.left_records) * self.pool.record
        self.left_indirect = len(self.syncing.indirect)
        self.of_group = (self.left_records, self.left_indirect)
        self.round, self.is_above_written = 0, not self.has_data
        self.most_out = self._first_out()
        self._dirty_changed()
        if self.scan is None or not self.scan.begin_group():
            self._write_group()

    def _first_out(self) -> int:
        """How many writes of a group may be out when it begins: a special vdev counts as one more (rules X12, X26)."""
        return self.tables.allocated_first * (self.vdevs.n_groups + (self.special is not None))

    def _most_out(self) -> int:
        """How many may be out at most: more with each that ends on the disks."""
        more = self.tables.allocated - self.tables.allocated_first
        return self._first_out() + more * self.vdevs.n_groups

    def _write_group(self) -> None:
        """Keep so many writes of the group out as places are chosen ahead (rule X12)."""
        tables = self.tables
        while (self.left_records or self.left_indirect) and self.out < self.most_out and not self.is_placing:
            if not self.write_work_ns:
                self._write_next()
            elif self.prepared:
                self.prepared -= 1
                self.is_placing = True
                done_ns = self.processors.take_at_once(self.clock.now, 2 * self.quarter_ns)
                self.clock.at(done_ns, ARRIVE, self.device, LAST - 3, self._placed)
            else:
                break
        n_begun = self.prepared + self.is_placing
        if self.write_work_ns and not self.is_in_turn and self.left_records + self.left_indirect > n_begun:
            self.is_in_turn = True
            self._take_turn(self.clock.now)
        is_left = bool(self.left_records or self.left_indirect)
        if not (is_left or self.is_above_written):
            self.is_above_written = True
            self._write_objects(tables.above_file, tables.indirect_copies)
        if not (is_left or self.out or self.out_special or self.is_in_turn):
            if self.scan is not None and self.round == 0 and self.scan.begin():
                return
            self._next_round()

    def go_on_with_group(self) -> None:
        """What a sequential resilver began before the group is written (rule X25)."""
        self._write_group()

    def scanned(self) -> None:
        """The group goes on behind its part of the scan (rule X21)."""
        if self.has_data:
            self._next_round()
        else:
            self._end_group()

    def _take_turn(self, since_ns: int) -> None:
        """The next write takes a processor that nobody else wants, or has waited long enough (rule X17)."""
        now, is_busy = self.clock.now, self.processors.first_free_ns > self.clock.now
        # its thread also gives them their places, and makes their commands
        in_slice = max(SLICE_NS // (self.write_work_ns - self.quarter_ns), 1)
        latest_ns = since_ns + PATIENCE * self.write_work_ns * in_slice
        if not is_busy or self.in_slice or now >= latest_ns:
            self.in_slice = in_slice - 1 if is_busy and not self.in_slice else max(self.in_slice - 1, 0)
            done_ns = self.processors.take_at_once(now, self.write_work_ns - 3 * self.quarter_ns)
            self.clock.at(done_ns, ARRIVE, self.device, LAST - 2, self._turn_ended)
            return
        again_ns = min(self.processors.first_free_ns, latest_ns)
        self.clock.at(again_ns, ARRIVE, self.device, LAST - 2, lambda: self._take_turn(since_ns))

    def _turn_ended(self) -> None:
        self.is_in_turn = False
        self.prepared += 1
        self._write_group()

    def _placed(self) -> None:
        """A write of the group has its place, and goes there."""
        self.is_placing = False
        self._write_next()
        self._write_group()

    def _write_next(self) -> None:
        """The next record of the group is written, or the copies of an indirect block: evenly among them."""
        tables = self.tables
        n_records, n_indirect = self.of_group
        # as many of the indirect blocks have been written as of the records, or one more would be too many
        due = (n_records - self.left_records) * n_indirect // n_records if n_records else n_indirect
        if self.left_records and n_indirect - self.left_indirect >= due:
            self.left_records -= 1
            vdev, first = self.space.for_record()
            self._start(write_pieces(self.vdevs, vdev, first, self.record_blocks), self.pool.record)
            return
        self.left_indirect -= 1
        for copy in range(tables.indirect_copies):
            self._write_metadata(copy, 0, tables.indirect_blocks, 0 if copy else tables.indirect)

    def _write_objects(self, n: int, copies: int) -> None:
        for number in range(n):
            for copy in range(copies):
                self._write_metadata(copy, 1 + number % self.tables.allocators, self.tables.object_blocks)

    def _write_metadata(self, copy: int, place: int, blocks: int, cleans: int = 0) -> None:
        if self.special is not None:
            self.out_special += 1
            self._write_special(self.special, copy, place, blocks, lambda: self._on_devices(cleans, of_disks=False))
            return
        vdev, first = self.space.for_metadata(copy, place, blocks)
        self._start(write_pieces(self.vdevs, vdev, first, blocks), cleans)

    def _start(self, pieces: list[ChildIo], cleans: int) -> None:
        self.out += 1
        self.raid.start(pieces, [], lambda *_: self._on_devices(cleans, of_disks=True), is_of_group=True)

    def _write_special(
        self, special: AuxiliaryDrives, copy: int, place: int, blocks: int, done: Callable[[], None]
    ) -> None:
        """Write metadata to all drives of the special vdev (rule X26)."""
        parts, n_slabs = 1 + self.tables.allocators, special.n_slabs
        free = Free(copy * parts + place, copy * max(n_slabs // 8, 1) % n_slabs, (place, parts))
        n_bytes, ended = blocks * self.pool.block * self.sector_bytes, _Last(done)
        ended.left = special.append(free, n_bytes, n_bytes, ended, is_of_group=True)

    def _flush_group(self, done: Callable[[], None]) -> None:
        """Flush all that the group was written to: the disks, and the drives of the special vdev (rule X12)."""
        special = self.special
        own = special.flushes if special is not None and special.takes_flushes else []
        ended = _Last(done, 1 + len(own))
        self.raid.array_flushes.flush(ended)
        for drive in own:
            drive.flush(ended)

    def _on_devices(self, cleans: int, *, of_disks: bool) -> None:
        """The disks or the special vdev have a write of the group, and a processor ends it (rule X17)."""
        if not self.write_work_ns or not cleans:
            self._written(cleans, of_disks)
            return
        self.ending.append((cleans, of_disks))
        done_ns = self.processors.take_at_once(self.clock.now, self.quarter_ns)
        self.clock.at(done_ns, ARRIVE, self.device, LAST - 4, lambda: self._written(*self.ending.popleft()))

    def _written(self, cleans: int, of_disks: bool) -> None:
        if of_disks:
            self.out -= 1
            self.most_out = min(self.most_out + 1, self._most_out())
        else:
            self.out_special -= 1
        self.dirty -= cleans
        if cleans:
            self._dirty_changed()
            self._admit()
        self._write_group()

    def _admit(self) -> None:
        """Writes go on that waited until less is dirty (rule X15)."""
        while self.blocked and self.dirty < self.tables.dirty_most:
            self._delay(self.blocked.popleft())

    def _next_round(self) -> None:
        """Write the next round of metadata, or the labels behind the last (rule X12)."""
        tables = self.tables
        if self.round < tables.rounds:
            self.round += 1
            self._write_objects(tables.objects, tables.object_copies)
            return
        self._flush_group(self._write_labels)

    def _write_labels(self) -> None:
        tables, layout = self.tables, self.vdevs
        n_disks = min(tables.labeled_vdevs, layout.n_groups) * width_of(layout)
        places = [base + at for base in (tables.label_first, tables.label_last) for at in (0, tables.label_apart)]
        disks = [new_disk_of(layout, disk, None) for disk in range(n_disks)]
        pieces = [
            ChildIo(disk, WRITE, lba, tables.label_sectors) for lba in places for disk in disks if disk is not None
        ]
        n_special = len(places) if self.special is not None and layout.n_groups < tables.labeled_vdevs else 0
        left = 1 + n_special

        def written() -> None:
            nonlocal left
            left -= 1
            if not left:
                self._flush_group(self._end_group)

        for number in range(n_special):
            assert self.special is not None
            label = _Last(written)
            label.left = self.special.write_label(number, tables.label_sectors * self.sector_bytes, label)
        self.raid.start(pieces, [], lambda *_: written())

    def _end_group(self) -> None:
        self.syncing = None
        if self.open.records or (self.scan is not None and self.scan.has_work):
            is_due = self.clock.now >= self.begun_ns + self.tables.group_ns
            self._begin_group(is_due=is_due)
            if self.syncing is None:
                self._set_time()
