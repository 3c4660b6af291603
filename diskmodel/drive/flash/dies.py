"""Dies, channels, interface and write buffer of a flash drive: reads and programs of pages (rules F1 to F12, F18, F19).

Pure decisions on integers. Reads are scheduled when they arrive; programs wait in the buffer and start when their die
is free, so that a read that arrives earlier goes first. `advance` catches up with background work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush, heapreplace
from typing import NamedTuple

from diskmodel.drive.flash.first_layout import FirstLayout
from diskmodel.drive.flash.ftl import Ftl
from diskmodel.drive.flash.gate import LATELY_NS, Copied, Gate
from diskmodel.drive.flash.reservations import Wire
from diskmodel.drive.flash.tables import FlashTables
from diskmodel.drive.generator import DrawnTimes
from diskmodel.units import NS_PER_S


class Work(IntEnum):
    """Kinds of background work of a die."""

    PROGRAM = 0
    COPY_READ = 1
    COPY_PROGRAM = 2
    ERASE = 3


class Job(NamedTuple):
    """Background work of a die, from `ready_ns` on; at its end, a PROGRAM removes `page` from the buffer."""

    work: Work
    ready_ns: int
    page: int = -1
    n_units: int = 0


class Served(NamedTuple):
    """When a command completes, how much of that is latency, and how long it moves data; the rest is waiting."""

    done_ns: int
    transfer_ns: int
    is_hit: bool = False
    latency_ns: int = 0


@dataclass(slots=True)
class Running:
    """The background work that a die started last.

    Attributes
    ----------
    nth : int
        How many works the die has started.
    end_ns : int
        When it ends, as far as is known.
    resumes_ns : int
        When it goes on after the reads that suspended it; 0: it was never suspended.
    is_suspendable : bool
    """

    nth: int = 0
    end_ns: int = 0
    resumes_ns: int = 0
    is_suspendable: bool = False


@dataclass(slots=True)
class Incoming:
    """A write whose sectors are not yet all in the buffer."""

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
    ftl : Ftl, optional
        State of the flash, for this drive alone. Default: the tables' own.
    drive : int
        Number of the drive in the array.
    first_layout : FirstLayout, optional
        Where units lie that are not written in the run. Default: in order.
    first_draw : int
        Where the draws of delays begin.

    Notes
    -----
    At each instant, call `advance` first, then `read` and `write` for its commands in order, then `settle`. Times must
    not decrease.
    """

    def __init__(
        self,
        tables: FlashTables,
        ftl: Ftl | None = None,
        drive: int = 0,
        first_layout: FirstLayout | None = None,
        first_draw: int = 0,
    ) -> None:
        self.tables = tables
        self._first_layout = first_layout or FirstLayout()
        n = tables.n_dies
        self.sectors_per_unit = tables.sectors_per_unit
        self.units_per_page = tables.units_per_page
        self.free_ns = [0] * n
        self.busy_ns = 0
        self.jobs: list[deque[Job]] = [deque() for _ in range(n)]
        self._starts: list[tuple[int, int]] = []
        # ends of background work: time, page that leaves the buffer (or -1), units that it frees, busy time of the die,
        # the die, and which of its works that is
        self._ends: list[tuple[int, int, int, int, int, int]] = []
        self._running = [Running() for _ in range(n)]
        self._is_suspending = len(tables.suspend_ns) > 0 and tables.write_buffer_bytes > 0
        self._channels = [Wire() for _ in range(tables.channels)]
        self._interface = Wire()
        self._floor_ns = 0
        self._last_ns = 0
        self._page_ns = tables.page_bytes * NS_PER_S // tables.channel_bytes_per_s
        # units written in this run: number of their page, in order of programming
        self.page_of: dict[int, int] = {}
        self._resident: set[int] = set()
        self._incoming: deque[Incoming] = deque()
        self._room = tables.buffer_units
        self._used = 0
        self._page = 0
        self._filling: list[int] = []
        self._filling_ready_ns = 0
        # when a die last sensed for a read (rule F27)
        self._read_ns = -LATELY_NS - 1
        # the page in a die's register after a read, and when it was read into it
        self._register: list[tuple[int, int] | None] = [None] * n
        self.ftl = Ftl(tables.ftl) if ftl is None else ftl
        self._read_delays = DrawnTimes(tables.read_delay_ns, first_draw)
        self._write_delays = DrawnTimes(tables.write_delay_ns, ~first_draw % (1 << 32))
        self._suspensions = DrawnTimes(tables.suspend_ns, (first_draw + (1 << 31)) % (1 << 32))
        # units that the host wrote in the run, and those programmed for them (rule F22)
        self.n_units_written = 0
        self.n_units_programmed = 0
        self._owed_units = 0
        self._owed_reads = 0
        self._owed_within = 0
        self._copied_units = 0
        self._gate = Gate(tables, drive)
        # pages programmed since the last erase; staggered, so that neither dies nor drives erase in step
        turn = 618 * drive % 1000
        self._since_erase = [(1000 * die + turn) * tables.pages_per_block // (1000 * n) for die in range(n)]

    @property
    def n_buffered(self) -> int:
        """Sectors in the buffer, as of the last call of `advance`; whole units."""
        return self._used * self.sectors_per_unit

    # ------------------------------------------------------------------ before the run
    def load(self, programmed: Iterable[tuple[int, int]], buffered: Iterable[tuple[int, int]]) -> None:
        """Writes of before the run: first blocks and sectors of programmed ones, and of the rest (rule F18)."""
        for lba, n_sectors in programmed:
            self._put(lba, lba + n_sectors, None)
        first = self._page
        for lba, n_sectors in buffered:
            self._put(lba, lba + n_sectors, first)

    def _put(self, lba: int, end: int, first_waiting: int | None) -> None:
        """Take in a write of before the run; pages from `first_waiting` on wait for their program, None: none does."""
        is_buffered = self.tables.write_buffer_bytes > 0
        while lba < end:
            first, count = self._portion(lba, end)
            lba = min((first + count) * self.sectors_per_unit, end)
            self._fill(first, count)
            self._used += count if is_buffered else 0
            is_full = len(self._filling) == self.units_per_page
            if first_waiting is not None and is_full:
                nth, die = self._page - first_waiting, self._close_page()
                jobs, copied = self._collect(die)
                self._gate.set_price(copied)
                self._hold(die, nth, jobs)
                self._add_jobs(die, jobs)
            elif is_full or (lba == end and not is_buffered):
                self._resident.discard(self._page)
                self._used -= self.units_per_page if is_buffered else 0
                die = self._die_of(self._page)
                self._page += 1
                self._gate.set_price(self._collect(die, is_before=True)[1])

    def _hold(self, die: int, nth: int, jobs: list[Job]) -> None:
        """At 0 the die of the `nth` page that waits is busy: dies become free one after the other, evenly."""
        tables, n = self.tables, self.tables.n_dies
        if 0 < nth < n:
            n_reads = sum(job.work is Work.COPY_READ for job in jobs)
            n_programs = 1 + sum(job.work is Work.COPY_PROGRAM for job in jobs)
            until = nth * (n_programs * tables.program_ns + n_reads * tables.read_ns) // n
            self.free_ns[die] = until
            heappush(self._ends, (until, -1, 0, until, die, 0))

    # ------------------------------------------------------------------ time
    def advance(self, now: int) -> None:
        """Start background work due before `now`, and remove programmed pages from the buffer (rule F5)."""
        self._floor_ns, self._last_ns = self._last_ns, now
        self._start_until(now - 1)
        while (end := self._next_end()) is not None and end <= now:
            _, page, n_units, held_ns, _, _ = heappop(self._ends)
            self.busy_ns += held_ns
            self._used -= n_units
            self._resident.discard(page)

    def settle(self, now: int) -> list[tuple[int, Served]]:
        """Return the writes that are now completely in the buffer, then start work that may start at `now`."""
        served = list(self._accept(now))
        self._start_until(now)
        return served

    def next_change_ns(self) -> int | None:
        """Return when the buffer may next have room, if a write waits for it."""
        if not self._incoming:
            return None
        start = self._starts[0][0] if self._starts else None
        changes = (self._next_end(), start, self._gate.opens_ns(self._last_ns))
        return min(when for when in changes if when is not None)

    def _waits_for_room(self, now: int) -> bool:
        """Whether a write waits for programs to end."""
        return len(self._incoming) > 0 and self._gate.opens_ns(now) is None

    def _next_end(self) -> int | None:
        """Return when background work next ends; what was suspended ends later than was known when it started."""
        ends = self._ends
        while ends:
            end, page, n_units, held_ns, die, nth = ends[0]
            running = self._running[die]
            if nth != running.nth or end >= running.end_ns:
                return end
            heapreplace(ends, (running.end_ns, page, n_units, held_ns, die, nth))
        return None

    def _start_until(self, now: int) -> None:
        """Start jobs until `now`; heap entries are never later than the true start of their die's first job."""
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
        """Start the first job of a die; return when it ends (rule F6)."""
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
            if at - self._read_ns <= LATELY_NS:
                end += tables.program_beside_reads_ns
        self.free_ns[die] = end
        is_suspendable = self._is_suspending and job.work is not Work.COPY_READ
        running = self._running[die] = Running(self._running[die].nth + 1, end, 0, is_suspendable)
        heappush(self._ends, (end, job.page, job.n_units, end - at, die, running.nth))
        return end

    def _wire(self, wire: Wire, earliest_ns: int, duration_ns: int) -> int:
        """Reserve a transfer; return its end."""
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
        latency_ns = self.tables.read_latency_ns + self._read_delays.draw()
        if not is_hit:
            latency_ns += self._gate.read_ns(now)
        return Served(done + latency_ns, moved, is_hit, latency_ns)

    def _pages(self, lba: int, end: int) -> list[tuple[int, int]]:
        """Return the pages of these sectors with the number of sectors in each, in order of the first one (rule F2).

        A page written in this run has its number in order of programming; -1 - p is page p of the initial layout.
        """
        counts: dict[int, int] = {}
        per_unit = self.sectors_per_unit
        while lba < end:
            unit = lba // per_unit
            stop = min((unit + 1) * per_unit, end)
            page = self._page_with(unit)
            counts[page] = counts.get(page, 0) + stop - lba
            lba = stop
        return list(counts.items())

    def _page_with(self, unit: int) -> int:
        page = self.page_of.get(unit)
        return -1 - self._first_layout.slot_of(unit) // self.units_per_page if page is None else page

    def _die_of(self, page: int) -> int:
        return (page if page >= 0 else -1 - page) % self.tables.n_dies

    def _sense(self, now: int, page: int, n_sectors: int) -> tuple[int, int]:
        """Return when the requested part of a page has left its die, and how long that took without waiting."""
        tables, die = self.tables, self._die_of(page)
        if self._waits_for_room(now) and self.jobs[die] and self.jobs[die][0].ready_ns <= now:
            # writes wait for room: reads must not starve the programs (rule F7)
            self._start(die, max(self.free_ns[die], now))
        move_ns = n_sectors * tables.sector_bytes * NS_PER_S // tables.channel_bytes_per_s
        channel, register = self._channels[die % tables.channels], self._register[die]
        if register is not None and register[0] == page:
            return self._wire(channel, max(now, register[1]), move_ns), move_ns
        self.busy_ns += tables.read_ns
        self._read_ns = now
        sensed = self._suspend(now, die)
        if sensed is None:
            sensed = self.free_ns[die] = max(now, self.free_ns[die]) + tables.read_ns
            self._register[die] = (page, sensed)
        return self._wire(channel, sensed, move_ns), tables.read_ns + move_ns

    def _suspend(self, now: int, die: int) -> int | None:
        """Interrupt a program or an erase for a read; return when that is sensed, None where it waits (rule F21)."""
        running, read_ns = self._running[die], self.tables.read_ns
        if self._waits_for_room(now) or not running.is_suspendable or running.end_ns <= now:
            return None
        start = running.resumes_ns
        if start <= now:
            start = now + self._suspensions.draw()
            if start >= running.end_ns:
                return None
        running.resumes_ns = start + read_ns
        running.end_ns += read_ns
        self.free_ns[die] = running.end_ns
        return running.resumes_ns

    # ------------------------------------------------------------------ writes
    def write(self, now: int, key: int, lba: int, n_sectors: int) -> list[tuple[int, Served]]:
        """Accept a write that is ready `now`; return the writes completed by that (rules F8 to F10)."""
        self._incoming.append(Incoming(key, lba, lba + n_sectors))
        return list(self._accept(now))

    def _accept(self, now: int) -> Iterator[tuple[int, Served]]:
        """Move incoming sectors into the buffer while there is room, first come, first served."""
        incoming = self._incoming
        while incoming:
            write = incoming[0]
            while write.lba < write.end:
                has_room = self._used < self._room and self._gate.opens_ns(now) is None
                if self.tables.write_buffer_bytes and not has_room:
                    return
                self._accept_units(write, now)
            incoming.popleft()
            latency_ns = self.tables.write_latency_ns + self._write_delays.draw()
            yield write.key, Served(write.done_ns + latency_ns, write.transfer_ns, latency_ns=latency_ns)

    def _accept_units(self, write: Incoming, now: int) -> None:
        """Accept as many units as fit in the buffer and in the page that is being filled."""
        per_unit, is_buffered = self.sectors_per_unit, self.tables.write_buffer_bytes > 0
        first, count = self._portion(write.lba, write.end)
        if is_buffered:
            count = self._gate.takes(now, min(count, self._room - self._used))
        stop = min((first + count) * per_unit, write.end)
        send_ns = self._interface_ns(stop - write.lba)
        arrival = self._wire(self._interface, now, send_ns)
        ready = max(arrival, self._complete_units(now, write.lba, stop))
        write.lba = stop
        self._fill(first, count)
        self._filling_ready_ns = max(self._filling_ready_ns, ready)
        if is_buffered:
            self._used += count
            write.done_ns, write.transfer_ns = arrival, send_ns
            if len(self._filling) == self.units_per_page:
                die = self._close_page()
                jobs, copied = self._collect(die)
                self._add_jobs(die, jobs)
                self._gate.page_closed(copied, now, is_alone=len(self._incoming) == 1)
        elif len(self._filling) == self.units_per_page or write.lba == write.end:
            done = self._program_now()
            if done >= write.done_ns:
                write.done_ns = done
                write.transfer_ns = send_ns + self._page_ns + self.tables.program_ns

    def _portion(self, lba: int, end: int) -> tuple[int, int]:
        """First unit of these sectors, and how many of them fit into the page that is being filled."""
        first, last = lba // self.sectors_per_unit, (end - 1) // self.sectors_per_unit
        return first, min(last - first + 1, self.units_per_page - len(self._filling))

    def _fill(self, first: int, count: int) -> None:
        """Put units into the page that is being filled."""
        self._filling.extend(range(first, first + count))
        self._resident.add(self._page)
        for unit in range(first, first + count):
            self.page_of[unit] = self._page

    def _complete_units(self, now: int, lba: int, end: int) -> int:
        """Read the rest of units that are written only in part; return when it is available (rule F9)."""
        per_unit, ready = self.sectors_per_unit, now
        partial = {lba // per_unit} if lba % per_unit else set()
        if end % per_unit and end < self.tables.n_sectors:
            partial.add(end // per_unit)
        for unit in sorted(partial):
            page = self._page_with(unit)
            if page not in self._resident:
                ready = max(ready, self._sense(now, page, per_unit)[0])
        return ready

    def _close_page(self) -> int:
        """Queue the full page for programming on the next die; return the die (rule F10)."""
        die, is_buffered = self._die_of(self._page), self.tables.write_buffer_bytes > 0
        n_units = len(self._filling) if is_buffered else 0
        self._add_job(die, Job(Work.PROGRAM, self._filling_ready_ns, self._page, n_units))
        self._page += 1
        return die

    def _program_now(self) -> int:
        """Without a buffer: program the page after all other work of its die; return the end (rule F11)."""
        die = self._close_page()
        end = 0
        while self.jobs[die]:
            end = self._start(die, self._next_start(die))
        self._add_jobs(die, self._collect(die)[0])
        return end

    def _add_jobs(self, die: int, jobs: list[Job]) -> None:
        for job in jobs:
            self._add_job(die, job)

    def _collect(self, die: int, *, is_before: bool = False) -> tuple[list[Job], Copied]:
        """Return the garbage collection caused by the page just closed on its die, in the run or before (rule F15)."""
        ftl, per_page, ready = self.ftl, self.units_per_page, self._filling_ready_ns
        for unit in self._filling + [-1] * (per_page - len(self._filling)):
            units, pages = ftl.write(unit)
            if units:
                self._owed_units += units
                self._owed_reads += pages
                self._owed_within = ftl.until_cleaning
        n_written, self._filling, self._filling_ready_ns = len(self._filling), [], 0
        n_reads, n_units = self._owed_reads, self._owed_units
        if self._owed_within > per_page:
            n_reads = n_reads * per_page // self._owed_within
            n_units = n_units * per_page // self._owed_within
        self._owed_reads -= n_reads
        self._owed_units -= n_units
        self._owed_within -= per_page
        n_programs, self._copied_units = divmod(self._copied_units + n_units, per_page)
        if not is_before:
            self.n_units_written += n_written
            self.n_units_programmed += per_page + n_units
        jobs = [Job(Work.COPY_READ, ready)] * n_reads + [Job(Work.COPY_PROGRAM, ready)] * n_programs
        self._since_erase[die] += 1 + n_programs
        while self._since_erase[die] >= self.tables.pages_per_block:
            self._since_erase[die] -= self.tables.pages_per_block
            if ftl.is_cleaning:
                jobs.append(Job(Work.ERASE, ready))
        return jobs, Copied(n_units, n_reads)
