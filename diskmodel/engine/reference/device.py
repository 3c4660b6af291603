"""What every simulated disk has: a queue in front, a command slot limit, counters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from diskmodel.engine.reference.clock import COMPLETE, DISPATCH, Clock, Port
from diskmodel.engine.reference.command import Command
from diskmodel.queue import Head, Policy, Positioning
from diskmodel.records import FLUSH, READ, WRITE

#: Waiting commands, from the one that came first, among which a read looks for others to include (rule X8): enough for
#: any load that a disk carries, and few enough that an overload costs no more time. A scan looks at all: no more wait
#: than it may have begun.
LOOKED_AT = 256
#: Bits of a time in ns below which writes of a group count as equally old (`VDQ_T_SHIFT`): 0.54 s.
AGE_BITS = 29
#: Classes of commands on a disk of a pool: reads and writes that somebody waits for, reads ahead, writes of a group or
#: of a scan, reads of a scan (rule X14).
READS, AWAITED, AHEAD, OF_GROUP, OF_SCAN = range(5)


class ScanLimits(Protocol):
    """Reads of a scan that a drive is given: beside others, alone, after how many of them, and until others end."""

    @property
    def segment(self) -> int: ...
    @property
    def active_least(self) -> int: ...
    @property
    def active_most(self) -> int: ...
    @property
    def quiet(self) -> int: ...
    @property
    def credit(self) -> int: ...


def _kind_of(command: Command) -> tuple[int, bool, bool]:
    """Kind of a command on a disk of a pool, of which several become one (rule X8)."""
    return command.op, command.is_of_group, command.is_of_scan


@dataclass
class Counters:
    """What a device did (see `diskmodel.records.DeviceCounters`)."""

    busy_ns: int = 0
    response_ns: int = 0
    n_reads: int = 0
    n_writes: int = 0
    read_sectors: int = 0
    write_sectors: int = 0
    n_cache_hits: int = 0
    read_response_ns: int = 0
    n_flushes: int = 0
    n_units_written: int = 0
    n_units_programmed: int = 0
    n_charged: int = 0


class Device(ABC):
    """A disk: commands wait in its queue until the drive takes them (rules Q0, Q9, N2, D1 to D3)."""

    #: Sectors up to which adjacent waiting commands become one; 0: they do not.
    merge_limit = 0
    #: Blocks of one arm: what lies on different arms does not merge.
    merge_border = 1 << 62
    #: Blocks of a zone that is written in order, where such zones begin, and sectors up to which the writes that wait
    #: for one become one (rule N2); 0: the drive has no zones.
    zone_sectors = 0
    first_zoned = 0
    zone_merge_limit = 0
    #: Blocks that a read may skip to include another one that waits, and its most blocks then; 0: it includes none.
    gather_gap = 0
    write_gap = 0
    gather_limit = 0
    #: Commands of one class of a pool that the drive is given at once, and writes of a transaction group (rule X14).
    most_active = 0
    most_of_group = 0
    most_ahead = 0
    #: What a processor does for each write of a group that another one includes (rule X17), ns.
    hand_ns = 0
    #: Reads of a scan that the drive is given (rule X14); None: it is no disk of a pool.
    scan: ScanLimits | None = None

    def __init__(self, clock: Clock, index: int, scheduler: Policy, depth: int) -> None:
        self.clock = clock
        self.index = index
        self.scheduler = scheduler
        self.depth = depth
        self.waiting: list[Command] = []
        #: How many of them are of a scan, and of each class of a pool.
        self.n_waiting_of_scan = 0
        self.n_waiting_of = [0] * 5
        #: Flushes that the drive has not been given.
        self.flushes: list[Command] = []
        #: Zones with a write in the queue or in the drive, and the writes that wait for it.
        self.written_zones: dict[int, deque[Command]] = {}
        self.pending = 0
        self.in_drive = 0
        self.electronics_free_ns = 0
        self.handed_end = 0
        self.completed_end = 0
        self.counters = Counters()
        self._wakes: set[int] = set()
        #: Of a pool: commands of each class that the drive has.
        self.active = [0] * 5
        #: Reads of a scan that the drive may be given beside other commands, or that have ended since (rule X14).
        self.credit = 0

    @property
    def outstanding(self) -> int:
        """Commands that have not completed, without those of a scan that wait (rule X6)."""
        return self.pending - self.n_waiting_of_scan

    def submit(self, command: Command) -> None:
        """Put a command into the queue, now."""
        self.reserve()
        self.submit_reserved(command)

    def flush(self, command: Command) -> None:
        """Give a flush to the drive, now: it passes the queue and takes no slot (rule D10)."""
        self._asked(command)
        command.arrived_ns = self.clock.now
        self.flushes.append(command)
        self.wake(self.clock.now)

    def load(
        self, programmed: list[tuple[int, int]], buffered: list[tuple[int, int, int]], room: Sequence[int]
    ) -> None:
        """Give the drive what it holds when the run begins (rules Z5, F18).

        Parameters
        ----------
        programmed : list of (int, int)
            Writes that are on its media, by first block and sectors.
        buffered : list of (int, int, int)
            Those in its buffer, by number, first block and sectors.
        room : sequence of int
            Sectors of room that each numbered write takes there.
        """
        raise NotImplementedError(f"{type(self).__name__} holds nothing when a run begins")

    def load_log(self, writes: list[tuple[int, int]], runs: list[tuple[int, int]]) -> None:
        """Give the drive what its media cache holds when the run begins, by first block and sectors (rule G9)."""
        raise NotImplementedError(f"{type(self).__name__} has no media cache")

    def reserve(self) -> None:
        """Count a command that is to come: whoever chooses a disk sees it already (rule Q11)."""
        self.pending += 1

    def submit_reserved(self, command: Command) -> None:
        """Put a command that has been counted into the queue, now, unless it waits for a write of its zone."""
        self._asked(command)
        zone = self._written_zone(command)
        if zone in self.written_zones:
            self.written_zones[zone].append(command)
            return
        if zone >= 0:
            self.written_zones[zone] = deque()
        self._enqueue(command)

    def _asked(self, command: Command) -> None:
        self.clock.said(Port.VOLUME_TO_DRIVE, command.op, command.lba, command.n_sectors, self.index)

    def _answered(self, command: Command) -> None:
        self.clock.said(Port.DRIVE_TO_VOLUME, command.op, command.lba, command.n_sectors, self.index)

    def _enqueue(self, command: Command) -> None:
        command.arrived_ns = self.clock.now
        if not self._merge(command):
            self.waiting.append(command)
            self._count_waiting(command, 1)
            self.wake(self.clock.now)

    def _count_waiting(self, command: Command, n: int) -> None:
        """A command joins those that wait (1) or leaves them (-1)."""
        self.n_waiting_of_scan += n * command.is_of_scan
        self.n_waiting_of[self._class_of(command)] += n

    def _written_zone(self, command: Command) -> int:
        """Zone that a write has to itself (rule N2); -1 where it has none."""
        is_zoned = self.zone_sectors and command.op == WRITE and command.lba >= self.first_zoned
        return command.lba // self.zone_sectors if is_zoned else -1

    def _release_zone(self, zone: int) -> None:
        """The next write of a zone enters the queue, with those behind it that continue it (rule N2)."""
        behind = self.written_zones[zone]
        if not behind:
            del self.written_zones[zone]
            return
        first = behind.popleft()
        while behind and self._continues(first, behind[0]):
            part = behind.popleft()
            first.n_sectors += part.n_sectors
            first.merged.append(part)
        self._enqueue(first)

    def _continues(self, first: Command, part: Command) -> bool:
        is_behind = first.lba + first.n_sectors == part.lba
        is_near = first.lba // self.merge_border == part.lba // self.merge_border
        return is_behind and is_near and first.n_sectors + part.n_sectors <= self.zone_merge_limit

    def follow(self, command: Command) -> None:
        """Take a write behind a read that holds the disk; a disk without an arm has nothing to hold (rule L12)."""
        self.submit(command)

    def _merge(self, command: Command) -> bool:
        """Join `command` to the first waiting one that it continues or precedes (rule Q9)."""
        for other in self.waiting if self.merge_limit and not command.holds else ():
            n = other.n_sectors + command.n_sectors
            is_behind = other.lba + other.n_sectors == command.lba
            is_before = command.lba + command.n_sectors == other.lba
            is_near = other.lba // self.merge_border == command.lba // self.merge_border
            if self.zone_sectors:
                is_near = is_near and other.lba // self.zone_sectors == command.lba // self.zone_sectors
            if (
                is_near
                and (other.op, other.is_fua) == (command.op, command.is_fua)
                and not other.holds
                and n <= self.merge_limit
                and (is_behind or is_before)
            ):
                other.lba, other.n_sectors = min(other.lba, command.lba), n
                other.merged.append(command)
                return True
        return False

    @property
    def n_buffered(self) -> int:
        """Sectors in the drive's buffer that are not on the media (rule Z7); 0 where they are not followed."""
        return 0

    def wake(self, time_ns: int) -> None:
        """See what can be started at `time_ns`, after everything else of that instant."""
        if time_ns not in self._wakes:
            self._wakes.add(time_ns)
            self.clock.at(time_ns, DISPATCH, self.index, 0, self._woken)

    def _woken(self) -> None:
        now = self.clock.now
        self._wakes.discard(now)
        self._hand_over(now)
        self.dispatch(now)

    def _hand_over(self, now: int) -> None:
        """Commands from the queue into the drive while it has slots (rule D2), flushes behind them (rule D10)."""
        while self.waiting and self.in_drive < self.depth:
            if self.gather_limit:
                at = self._choose_class()
                if at is None:
                    break
                command = self.waiting.pop(at)
                self._count_waiting(command, -1)
                self._gather(command, now)
                if command.is_of_group:
                    work_ns = len(command.merged) * self.hand_ns
                    self.electronics_free_ns = max(now + work_ns, self.electronics_free_ns)
                self._count_active(self._class_of(command))
            else:
                head = Head(self.handed_end, self.positioning(now))
                command = self.waiting.pop(self.scheduler.choose(self.waiting, head, now))
                self._count_waiting(command, -1)
            self.handed_end = command.lba + command.n_sectors
            self._accept(command, now)
        for command in self.flushes:
            self._process(command, now)
        self.flushes.clear()

    def _choose_class(self) -> int | None:
        """Which command that waits a pool gives to the drive (rule X14); None: none now."""
        for kind in (READS, AWAITED):
            if self.n_waiting_of[kind] and self.active[kind] < self.most_active:
                return next(at for at, command in enumerate(self.waiting) if self._class_of(command) == kind)
        by_place = (
            (AHEAD, self.most_ahead),
            (OF_GROUP, self.most_of_group),
            (OF_SCAN, self._most_of_scan()),
        )
        for kind, most in by_place:
            if self.n_waiting_of[kind] and self.active[kind] < most:
                return self._next_by_place(kind)
        return None

    def _next_by_place(self, kind: int) -> int:
        of_kind = [(at, command) for at, command in enumerate(self.waiting) if self._class_of(command) == kind]
        oldest = min(command.arrived_ns >> AGE_BITS for _, command in of_kind)
        places = [(c.lba, c.seq, at) for at, c in of_kind if c.arrived_ns >> AGE_BITS == oldest]
        behind = [place for place in places if place[0] >= self.handed_end]
        return min(behind or places)[2]

    def _class_of(self, command: Command) -> int:
        """Class of a command on a disk of a pool; writes of a sequential resilver are of that of its reads (X25)."""
        is_in_order = self.scan is not None and self.scan.segment > 0
        if command.is_of_scan and (command.op == READ or is_in_order):
            return OF_SCAN
        if command.op == READ:
            return READS if command.ahead_of < 0 else AHEAD
        return OF_GROUP if command.is_of_group or command.is_of_scan else AWAITED

    def _most_of_scan(self) -> int:
        """Reads of a scan that the drive may have now (rule X14)."""
        tables = self.scan
        if tables is None:
            return 0
        if sum(self.active[:OF_SCAN]):
            return min(self.credit, tables.active_least)
        return tables.active_most if self.credit >= tables.quiet else tables.active_least

    def _count_active(self, kind: int) -> None:
        """The drive is given a command of a class."""
        self.active[kind] += 1
        others = sum(self.active[:OF_SCAN])
        if kind != OF_SCAN:
            if others == 1:
                self.credit = 1
        elif others:
            self.credit -= 1

    def _count_ended(self, kind: int) -> None:
        """A command of a class has ended."""
        self.active[kind] -= 1
        others = sum(self.active[:OF_SCAN])
        if kind != OF_SCAN:
            self.credit = self.scan.credit if others and self.scan is not None else 0
        elif not others:
            self.credit += 1

    def promote(self, records: range) -> None:
        """Somebody waits for these records, of which a pool reads ahead what still waits here (rule X19)."""
        found = [command for command in self.waiting if command.ahead_of in records]
        for command in found:
            self._count_waiting(command, -1)
            command.ahead_of = -1
            self._count_waiting(command, 1)
        if found:
            self.wake(self.clock.now)

    def _gather(self, first: Command, now: int) -> None:
        """Let a command include those that have waited near it: first those before it, then those behind (rule X8)."""
        if first.arrived_ns == now:
            return
        gap = self.gather_gap if first.op == READ else 0 if first.is_of_scan else self.write_gap
        low = high = (first.lba, first.seq)
        begin, end = first.lba, first.lba + first.n_sectors
        near = sorted(
            (
                other
                for other in self.waiting[: None if first.is_of_scan else LOOKED_AT]
                if _kind_of(other) == _kind_of(first)
                and other.arrived_ns < now
                and other.lba // self.merge_border == first.lba // self.merge_border
            ),
            key=lambda other: (other.lba, other.seq),
        )
        taken: list[Command] = []
        for other in reversed(near):
            if (other.lba, other.seq) < low:
                other_end = other.lba + other.n_sectors
                if begin - other_end > gap or max(end, other_end) - other.lba > self.gather_limit:
                    break
                low, begin, end = (other.lba, other.seq), other.lba, max(end, other_end)
                taken.append(other)
        for other in near:
            if (other.lba, other.seq) > high:
                other_end = other.lba + other.n_sectors
                if other.lba - end > gap or max(end, other_end) - begin > self.gather_limit:
                    break
                high, end = (other.lba, other.seq), max(end, other_end)
                taken.append(other)
        for other in taken:
            self.waiting.remove(other)
            self._count_waiting(other, -1)
        first.lba, first.n_sectors = begin, end - begin
        first.merged += taken

    def _accept(self, command: Command, now: int) -> None:
        self.in_drive += 1
        self._process(command, now)

    def _process(self, command: Command, now: int) -> None:
        """The drive's processor works on a command (rule D1)."""
        command.overhead_ns = self.overhead_ns(command)
        self.electronics_free_ns = self.processor_from(now) + command.overhead_ns
        command.ready_ns = self.electronics_free_ns
        command.arrived_ns = now
        self.take(command, now)

    def processor_from(self, now: int) -> int:
        """When the drive's processor begins with a command that is handed over now (rule D3)."""
        return max(now, self.electronics_free_ns)

    def finish(self, command: Command, done_ns: int) -> None:
        """Let `command` complete at `done_ns` (not before now)."""
        command.done_ns = done_ns
        self.clock.at(done_ns, COMPLETE, self.index, command.seq, lambda: self._complete(command))

    def _complete(self, command: Command) -> None:
        self._answered(command)
        counters = self.counters
        if command.op == FLUSH:
            counters.n_flushes += 1
            command.done(command)
            return
        self.in_drive -= 1
        self._count_ended(self._class_of(command))
        self.pending -= 1
        if not command.is_bitmap:
            self.completed_end = command.lba + command.n_sectors
        zone = self._written_zone(command)
        if zone >= 0:
            self._release_zone(zone)
        counters.response_ns += command.done_ns - command.submitted_ns
        counters.n_cache_hits += command.is_hit
        if command.op:
            counters.n_writes += 1
            counters.write_sectors += command.n_sectors
        else:
            counters.n_reads += 1
            counters.read_sectors += command.n_sectors
            counters.read_response_ns += command.done_ns - command.submitted_ns
        self.wake(command.done_ns)
        command.done(command)
        for part in command.merged:
            self.pending -= 1
            counters.response_ns += command.done_ns - part.submitted_ns
            counters.read_response_ns += 0 if command.op else command.done_ns - part.submitted_ns
            part.done_ns, part.is_hit = command.done_ns, command.is_hit
            part.overhead_ns, part.seek_ns = command.overhead_ns, command.seek_ns
            part.rotation_ns, part.transfer_ns = command.rotation_ns, command.transfer_ns
            self._answered(part)
            part.done(part)

    def counters_until(self, end_ns: int) -> Counters:
        """Counters of a run that ended at `end_ns` (rule D7)."""
        return self.counters

    @abstractmethod
    def overhead_ns(self, command: Command) -> int:
        """Time of the drive's processor for a command."""

    @abstractmethod
    def positioning(self, now: int) -> Positioning:
        """Return a function that gives the positioning time of a command from `now`."""

    @abstractmethod
    def take(self, command: Command, now: int) -> None:
        """The drive has been given a command; it may be served from `command.ready_ns` on."""

    @abstractmethod
    def dispatch(self, now: int) -> None:
        """Start what can be started now."""
