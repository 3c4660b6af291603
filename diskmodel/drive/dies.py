"""A flash drive's dies, channels, interface and write buffer: when each page is read and programmed (rules F1 to F12).

Pure decisions on integers. Reads are assigned when they come; programs wait in the buffer and start when their die is
free, so a read that comes before that goes first. `advance` catches up with what has started by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush
from typing import NamedTuple

from diskmodel.drive.ftl import Ftl
from diskmodel.drive.reservations import Wire
from diskmodel.drive.tables import FlashTables

NS_PER_S = 1_000_000_000


class Work(IntEnum):
    """What waits for a die in the background."""

    PROGRAM = 0
    COPY_READ = 1
    COPY_PROGRAM = 2
    ERASE = 3


class Job(NamedTuple):
    """Background work of a die, not before `ready_ns`; a PROGRAM takes `page` out of the buffer when it ends."""

    work: Work
    ready_ns: int
    page: int = -1
    n_units: int = 0


class Served(NamedTuple):
    """When a command is done, and how long it moved data without waiting; the rest was waiting."""

    done_ns: int
    transfer_ns: int
    is_hit: bool = False


@dataclass(slots=True)
class Incoming:
    """A write whose sectors are not all in the buffer yet."""

    key: int
    lba: int
    end: int
    done_ns: int = 0
    transfer_ns: int = 0


class Dies:
    """State of one flash drive.

    Parameters
    ----------
    tables : FlashTables

    Notes
    -----
    Call `advance` with the current time first, then `read` and `write` for the commands of that instant in order, then
    `settle`. Time never goes back.
    """

    def __init__(self, tables: FlashTables) -> None:
        self.tables = tables
        n = tables.n_dies
        self.sectors_per_unit = tables.mapping_bytes // tables.sector_bytes
        self.units_per_page = tables.page_bytes // tables.mapping_bytes
        self.free_ns = [0] * n
        self.busy_ns = 0
        self.jobs: list[deque[Job]] = [deque() for _ in range(n)]
        self._starts: list[tuple[int, int]] = []
        # what ends when: time, page that leaves the buffer (or -1), units of room, time for which the die was held
        self._ends: list[tuple[int, int, int, int]] = []
        self._channels = [Wire() for _ in range(tables.channels)]
        self._interface = Wire()
        self._floor_ns = 0
        self._last_ns = 0
        self._page_ns = tables.page_bytes * NS_PER_S // tables.channel_bytes_per_s
        # where units are that were written in this run: number of their page in order of programming
        self.page_of: dict[int, int] = {}
        self._resident: set[int] = set()
        self._incoming: deque[Incoming] = deque()
        self._room = max(tables.write_buffer_bytes // tables.mapping_bytes, self.units_per_page)
        self._used = 0
        self._page = 0
        self._filling: list[int] = []
        self._filling_ready_ns = 0
        # the page that is still in a die's register after a read, and when it got there
        self._register: list[tuple[int, int] | None] = [None] * n
        self.ftl = Ftl(tables.ftl)
        self._owed_units = 0
        self._owed_reads = 0
        self._owed_within = 0
        self._copied_units = 0
        # pages programmed since the last erase; staggered, so that dies do not erase in step
        self._since_erase = [die * tables.pages_per_block // n for die in range(n)]

    # ------------------------------------------------------------------ time
    def advance(self, now: int) -> None:
        """Start background work whose turn came before `now`, and free the buffer of programs that ended (rule F5)."""
        self._floor_ns, self._last_ns = self._last_ns, now
        self._start_until(now - 1)
        while self._ends and self._ends[0][0] <= now:
            _, page, n_units, held_ns = heappop(self._ends)
            self.busy_ns += held_ns
            self._used -= n_units
            self._resident.discard(page)

    def settle(self, now: int) -> list[tuple[int, Served]]:
        """Keys of writes that are all in the buffer now, then start what may start at `now`."""
        served = list(self._accept(now))
        self._start_until(now)
        return served

    def next_change_ns(self) -> int | None:
        """When room in the buffer may next appear, if a write waits for it."""
        if not self._incoming:
            return None
        return min(heap[0][0] for heap in (self._ends, self._starts) if heap)

    def _start_until(self, now: int) -> None:
        """An entry of the heap is never later than the true start of its die's first job."""
        starts = self._starts
        while starts and starts[0][0] <= now:
            seen, die = heappop(starts)
            if self.jobs[die] and self._next_start(die) == seen:
                self._start(die, seen)
            if self.jobs[die]:
                heappush(starts, (self._next_start(die), die))

    def _next_start(self, die: int) -> int:
        return max(self.free_ns[die], self.jobs[die][0].ready_ns)

    def _add_job(self, die: int, job: Job) -> None:
        self.jobs[die].append(job)
        if len(self.jobs[die]) == 1:
            heappush(self._starts, (self._next_start(die), die))

    def _start(self, die: int, at: int) -> int:
        """Start the first job of a die; tells when it ends (rule F6)."""
        job, tables = self.jobs[die].popleft(), self.tables
        self._register[die] = None
        if job.work is Work.COPY_READ:
            end = at + tables.read_ns
            self._wire(self._channels[die % tables.channels], end, self._page_ns)
        elif job.work is Work.ERASE:
            end = at + tables.erase_ns
        else:
            channel = self._channels[die % tables.channels]
            end = self._wire(channel, at, self._page_ns) + tables.program_ns
        self.free_ns[die] = end
        heappush(self._ends, (end, job.page, job.n_units, end - at))
        return end

    def _wire(self, wire: Wire, earliest_ns: int, duration_ns: int) -> int:
        """End of a transfer."""
        if not duration_ns:
            return earliest_ns
        return wire.reserve(earliest_ns, duration_ns, self._floor_ns) + duration_ns

    def _interface_ns(self, n_sectors: int) -> int:
        return n_sectors * self.tables.sector_bytes * NS_PER_S // self.tables.interface_bytes_per_s

    # ------------------------------------------------------------------ reads
    def read(self, now: int, lba: int, n_sectors: int) -> Served:
        """Sense, transfer and send the pages of a read that is ready `now` (rules F2 to F4)."""
        done, moved, is_hit = now, 0, True
        for page, count in self._pages(lba, lba + n_sectors):
            if page in self._resident:
                ready, took = now, 0
            else:
                is_hit = False
                ready, took = self._sense(now, page, count)
            send_ns = self._interface_ns(count)
            end = self._wire(self._interface, ready, send_ns)
            if end >= done:
                done, moved = end, took + send_ns
        return Served(done + self.tables.read_latency_ns, moved, is_hit)

    def _pages(self, lba: int, end: int) -> list[tuple[int, int]]:
        """Pages that hold these sectors and the sectors wanted of each, in order of the first one (rule F2).

        A page written in this run has its number in order of programming; -1 - p is page p as laid out at first.
        """
        counts: dict[int, int] = {}
        per_unit = self.sectors_per_unit
        while lba < end:
            unit = lba // per_unit
            stop = min((unit + 1) * per_unit, end)
            page = self.page_of.get(unit)
            if page is None:
                page = -1 - unit // self.units_per_page
            counts[page] = counts.get(page, 0) + stop - lba
            lba = stop
        return list(counts.items())

    def _die_of(self, page: int) -> int:
        return (page if page >= 0 else -1 - page) % self.tables.n_dies

    def _sense(self, now: int, page: int, n_sectors: int) -> tuple[int, int]:
        """When the wanted part of a page has left its die, and how long that took without waiting."""
        tables, die = self.tables, self._die_of(page)
        if self._incoming and self.jobs[die] and self.jobs[die][0].ready_ns <= now:
            # writes wait for room: reads must not starve the programs (rule F7)
            self._start(die, max(self.free_ns[die], now))
        move_ns = n_sectors * tables.sector_bytes * NS_PER_S // tables.channel_bytes_per_s
        channel, register = self._channels[die % tables.channels], self._register[die]
        if register is not None and register[0] == page:
            return self._wire(channel, max(now, register[1]), move_ns), move_ns
        start = max(now, self.free_ns[die])
        sensed = start + tables.read_ns
        self.free_ns[die] = sensed
        self.busy_ns += tables.read_ns
        self._register[die] = (page, sensed)
        return self._wire(channel, sensed, move_ns), tables.read_ns + move_ns

    # ------------------------------------------------------------------ writes
    def write(self, now: int, key: int, lba: int, n_sectors: int) -> list[tuple[int, Served]]:
        """Take a write that is ready `now`; tells which writes are in by that (rules F8 to F10)."""
        self._incoming.append(Incoming(key, lba, lba + n_sectors))
        return list(self._accept(now))

    def _accept(self, now: int) -> Iterator[tuple[int, Served]]:
        """Move incoming sectors into the buffer while there is room, first come, first served."""
        incoming = self._incoming
        while incoming:
            write = incoming[0]
            while write.lba < write.end:
                if self._used >= self._room and self.tables.write_buffer_bytes:
                    return
                self._accept_units(write, now)
            incoming.popleft()
            yield write.key, Served(write.done_ns + self.tables.write_latency_ns, write.transfer_ns)

    def _accept_units(self, write: Incoming, now: int) -> None:
        """As many units as fit the room and the page that is being filled."""
        per_unit, is_buffered = self.sectors_per_unit, self.tables.write_buffer_bytes > 0
        first = write.lba // per_unit
        last = (write.end - 1) // per_unit
        count = min(last - first + 1, self.units_per_page - len(self._filling))
        if is_buffered:
            count = min(count, self._room - self._used)
        stop = min((first + count) * per_unit, write.end)
        send_ns = self._interface_ns(stop - write.lba)
        arrival = self._wire(self._interface, now, send_ns)
        ready = max(arrival, self._complete_units(now, write.lba, stop))
        write.lba = stop
        self._filling.extend(range(first, first + count))
        self._filling_ready_ns = max(self._filling_ready_ns, ready)
        self._resident.add(self._page)
        for unit in range(first, first + count):
            self.page_of[unit] = self._page
        if is_buffered:
            self._used += count
            write.done_ns, write.transfer_ns = arrival, send_ns
            if len(self._filling) == self.units_per_page:
                self._collect(self._close_page())
        elif len(self._filling) == self.units_per_page or write.lba == write.end:
            done = self._program_now()
            if done >= write.done_ns:
                write.done_ns = done
                write.transfer_ns = send_ns + self._page_ns + self.tables.program_ns

    def _complete_units(self, now: int, lba: int, end: int) -> int:
        """Read what a unit holds besides the sectors that are written of it; tells when that is there (rule F9)."""
        per_unit, ready = self.sectors_per_unit, now
        partial = {lba // per_unit} if lba % per_unit else set()
        if end % per_unit and end < self.tables.n_sectors:
            partial.add(end // per_unit)
        for unit in sorted(partial):
            page = self.page_of.get(unit, -1 - unit // self.units_per_page)
            if page not in self._resident:
                ready = max(ready, self._sense(now, page, per_unit)[0])
        return ready

    def _close_page(self) -> int:
        """The page is full: it will be programmed on the next die (rule F10)."""
        die, is_buffered = self._die_of(self._page), self.tables.write_buffer_bytes > 0
        n_units = len(self._filling) if is_buffered else 0
        self._add_job(die, Job(Work.PROGRAM, self._filling_ready_ns, self._page, n_units))
        self._page += 1
        return die

    def _program_now(self) -> int:
        """Without a buffer: program the page behind all that its die has to do; tells the end (rule F11)."""
        die = self._close_page()
        end = 0
        while self.jobs[die]:
            end = self._start(die, self._next_start(die))
        self._collect(die)
        return end

    def _collect(self, die: int) -> None:
        """Garbage collection that the page just closed has to pay for, on its die (rule F15)."""
        ftl, per_page, ready = self.ftl, self.units_per_page, self._filling_ready_ns
        for unit in self._filling + [-1] * (per_page - len(self._filling)):
            units, pages = ftl.write(unit)
            if units:
                self._owed_units += units
                self._owed_reads += pages
                self._owed_within = ftl.until_cleaning
        self._filling, self._filling_ready_ns = [], 0
        n_reads, n_units = self._owed_reads, self._owed_units
        if self._owed_within > per_page:
            n_reads = n_reads * per_page // self._owed_within
            n_units = n_units * per_page // self._owed_within
        self._owed_reads -= n_reads
        self._owed_units -= n_units
        self._owed_within -= per_page
        n_programs, self._copied_units = divmod(self._copied_units + n_units, per_page)
        for _ in range(n_reads):
            self._add_job(die, Job(Work.COPY_READ, ready))
        for _ in range(n_programs):
            self._add_job(die, Job(Work.COPY_PROGRAM, ready))
        self._since_erase[die] += 1 + n_programs
        while self._since_erase[die] >= self.tables.pages_per_block:
            self._since_erase[die] -= self.tables.pages_per_block
            if ftl.is_cleaning:
                self._add_job(die, Job(Work.ERASE, ready))
