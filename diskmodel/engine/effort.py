"""Time and memory that a run will take, estimated before it begins; an impossible run is refused at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from diskmodel.array import Array
from diskmodel.drive import KINDS
from diskmodel.engine.ledger import current
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import STEP_BYTES
from diskmodel.records import Run
from diskmodel.workload import Closed, TraceWorkload, Workload

if TYPE_CHECKING:
    from diskmodel.controller import ReadCache
    from diskmodel.engine.scenario import Scenario

AnyWorkload = Workload | TraceWorkload

#: Engines that kinds of drives have of their own, which count commands alone.
_OWN = {kind: drive.own_effort for kind, drive in KINDS.items() if drive.own_effort is not None}
_NOTHING_MORE = dict.fromkeys(_OWN, 0.0)
#: Longest run in requests when precision chooses the length. Half of it gives wider intervals to workloads that never
#: reach the precision; double makes them take twice as long.
MAX_REQUESTS: dict[str, int] = {"native": 4_000_000, "simpy": 128_000, "histogram": 64_000_000} | {
    kind: own.most_requests for kind, own in _OWN.items()
}
#: Bytes per request and completion that are kept, with their summary; and per outstanding request. At half of them
#: runs begin that end for lack of memory; at double, runs are refused that would fit.
_ROW_BYTES = {"all": 90, "histogram": 0}
_OUT_BYTES = {"native": 500, "simpy": 4_000}
#: Requests per second of computing time that neither engine exceeds, and the longest run allowed, seconds.
_MAX_PER_S = {"native": 20_000_000, "simpy": 200_000}
_LONGEST_S = 86_400
#: Requests of the longest run that shows what a request costs.
PROBE = 1_000
#: Computing time, seconds, that one question takes by itself for its run, for other angles, and for all draws of what
#: is not known; and for looks at what a request costs. At half of it intervals are wider where requests are rare or
#: large; at double, a command takes up to a minute.
RUNS_S, _LOOK_S = 4.0, 0.3
#: Memory that what a run keeps may take, bytes; and that of the fewest requests that say something, of which each may
#: take a part: twenty reads of 1 GiB from records of 16 KiB would take 1.6 GB.
_RUN_BYTES, _MOST_BYTES = 280_000_000, 200_000_000
#: What a command of a disk takes, seconds, and more for each page of 4 KiB of flash or of a pool, on a processor of
#: 2023: counts decide, so that the same question has the same answer on every machine. At half, questions take twice as
#: long as they should.
_COMMAND_S: dict[str, float] = {"native": 0.7e-6, "simpy": 50e-6} | {kind: own.command_s for kind, own in _OWN.items()}
_PAGE_S = {"native": 0.2e-6, "simpy": 5e-6} | _NOTHING_MORE
#: The same of a child I/O of a pool of hard disks, whose queue joins many to one command; and what one takes more with
#: each doubling of those that wait beyond so many. Those of streams took 0.1 us, those of 25 GB that came at once 0.5.
_CHILD_S = {"native": 0.1e-6, "simpy": 20e-6} | _NOTHING_MORE
_FAR_CHILD_S = {"native": 0.05e-6, "simpy": 0.0} | _NOTHING_MORE
_FEW_CHILDREN = 100
#: What one takes more of dRAID that is resilvered, onto all disks at once: 1.7 to 3.7 million took 0.7 us each.
_SPREAD_CHILD_S = {"native": 0.35e-6, "simpy": 0.0} | _NOTHING_MORE
#: The same of a flush of a disk: 2,000 disks, all of which each commit flushes, took 0.2 us each.
_FLUSH_S = {"native": 0.18e-6, "simpy": 10e-6} | _NOTHING_MORE
#: The same of each strip of a request: 30,000 of 64 MiB in strips of 64 KiB took 4 s, though what lies one after the
#: other on a disk is one command.
_STRIP_S = {"native": 0.13e-6, "simpy": 10e-6} | _NOTHING_MORE
#: The same of a track that an access of a hard disk goes over: of old drives, a large request goes over hundreds. 150,000
#: writes of 7 MiB took 1.0 s on a DEC RZ26 of 1993, and 0.2 on a disk of 2012.
_TRACK_S = {"native": 0.02e-6, "simpy": 4e-6} | _NOTHING_MORE
#: The same of a page that is written to flash which is full of data: cleaning copies others meanwhile.
_FLASH_WRITE_S = {"native": 0.6e-6, "simpy": 15e-6} | _NOTHING_MORE
#: The same of a block of 4 KiB that a request puts into a controller's caches, and the memory it takes there, bytes.
_READ_BLOCK_S = {"native": 0.13e-6, "simpy": 3e-6} | _NOTHING_MORE
_WRITE_BLOCK_S = {"native": 0.03e-6, "simpy": 3e-6} | _NOTHING_MORE
#: The same of one that waits to be written when a run begins: two million were loaded in 0.04 s.
_DIRTY_BLOCK_S = {"native": 0.03e-6, "simpy": 3e-6} | _NOTHING_MORE
_BLOCK_KEPT_BYTES = 60
#: The same of a request beyond those for which disks had a command: a pool served 1.6 million of 512 B from its
#: memory in 2.1 s.
_IN_MEMORY_S = {"native": 0.8e-6, "simpy": 20e-6} | _NOTHING_MORE
#: The same of a write that a disk's buffer held already when a run began, and how many of them a disk at rest takes
#: to its media in a second.
_DRAIN_S = {"native": 3e-6, "simpy": 100e-6} | _NOTHING_MORE
_DRAINED_PER_S = 3000
#: Time of all of these in a short run at most, seconds. At half, the trials of a disk of 512 B writes see a part of its
#: buffer; at double, the eleven trials of a comparison of such disks take half of what a question may.
_DRAINING_S = 0.5
#: Time of a rebuild in such a run at most, seconds: of requests that are rare, hours of it lie between two. At half,
#: trials see half as many requests; at double, a plan of rare requests takes more time than a question may.
_BESIDE_S = 1.0
#: The same of a page that the host's memory holds when a run begins, and of a write to a disk that comes from there:
#: many wait at the disks, and each is chosen among them. At half, plans with much memory take twice what is entered; at
#: double, their extras are left out too soon.
_HELD_PAGE_S = {"native": 0.02e-6, "simpy": 1e-6} | _NOTHING_MORE
_WRITTEN_BACK_S = {"native": 0.6e-6, "simpy": 0.0} | _NOTHING_MORE
#: The same of what a run begins with: a write that flash programmed last or holds in its buffer is placed on its dies.
#: Of 1,988 drives these took 0.65 s before the first request of a run; and what it takes more of many disks, as below.
_BEGUN_ROW_S = {"native": 0.3e-6, "simpy": 10e-6} | _NOTHING_MORE
_FAR_ROW_S = {"native": 0.25e-6, "simpy": 0.0} | _NOTHING_MORE
#: The same of a write that a hard disk's buffer holds: 64 drives with two million of them began in 0.37 s.
_HELD_ROW_S = {"native": 0.2e-6, "simpy": 10e-6} | _NOTHING_MORE
#: What a command takes more where the state of all disks, and the commands that wait, are beyond a processor's own
#: memory: with each doubling beyond so many disks, and beyond so many commands; and the same of a page that is written
#: to flash. 2,000 disks of 33 waiting commands each took 3.2 to 3.9 us a command, four disks of as many 0.4.
_MANY_DISKS, _MANY_WAITING = 64, 1_000
_FAR_DISK_S = {"native": 0.3e-6, "simpy": 0.0} | _NOTHING_MORE
_FAR_WAITING_S = {"native": 0.2e-6, "simpy": 0.0} | _NOTHING_MORE
_FAR_PAGE_S = {"native": 0.4e-6, "simpy": 0.0} | _NOTHING_MORE
#: What describing and summing up a disk takes in each run, seconds: 97 runs of up to 2,000 disks took 8 s beside them.
_DISK_S = 40e-6
#: Part of what pages take that they do not in the long runs of a rebuild.
_CHEAPER = 0.75
_PAGE_BYTES = 4096
#: What the kernel keeps of a page that was written to flash, bytes: 43 in a rebuild, more while it grows.
_KEPT_BYTES = 64
#: The same of a record of a pool that waits, and the records of a request of which only those beyond wait in numbers
#: that count: 208 writes of 1 GiB that came at once took 2 GB. At double, requests of 16 MiB have shorter runs.
_RECORD_KEPT_BYTES, _FEW_RECORDS = 1_200, 64
#: The time that such a record takes beside its commands, seconds: 61 of 64 MiB in records of 16 KiB took 1.1, not 0.5.
_CROWDED_S = {"native": 3e-6, "simpy": 0.0} | _NOTHING_MORE
#: By how much a request may cost more than is guessed: from an eighth of the allowed time on it is looked at.
_GUESS = 8
#: How fast a client gets an answer at most, seconds: from a disk, and from flash.
_ANSWER_S = (2e-3, 50e-6)
#: Part of a question's time that each run beside a rebuild takes, of those of a question that makes several.
_OFTEN = 16
#: Mean size of requests from which a run is looked at before it begins, bytes.
_LARGE_BYTES = 1 << 20
#: What a rebuild goes through in a second at most where nothing limits it: of a hard disk, and of others, bytes.
_FASTEST_BYTES_PER_S = (300e6, 1e9)
#: Computing time of each run of a question that makes many (the search of a plan, a comparison, a capacity), seconds
#: for each 30,000 requests that it asks for, and at most: all that ordinary ones take. At half, runs of pools are
#: shorter than they are asked to be; at double, a question with twenty runs takes up to two minutes.
_EACH_S, _EACH_MOST_S, _EACH_REQUESTS = 2.5, 6.0, 30_000
#: Memory of each of them, bytes: some are made at the same time.
EACH_BYTES = 200_000_000
#: Fewest requests of a run that say something about latency, and of those that only show how much a change moves it.
LEAST, LEAST_OF_MOVED = 20, 8
#: Requests that each client of a closed stream has to make before anything can be measured.
_MIN_TURNS = 2


def check_effort(
    workload: Workload, *, n_requests: int | None, engine: Literal["native", "simpy"], keep: Literal["all", "histogram"]
) -> None:
    """Refuse a run that would take more than a day, or more than this machine's free memory.

    Raises
    ------
    DescriptionError
        With the field that is too large, and the largest value that is possible.
    """
    clients = workload.queue_depth
    most = MAX_REQUESTS["histogram" if keep == "histogram" else engine]
    if n_requests is None and clients * _MIN_TURNS > most:
        rule = f"most of the {clients:,} clients would not make a second request in the longest run ({most:,} requests)"
        fix = f"use at most {most // _MIN_TURNS:,}, or give n_requests, or use a rate instead of clients"
        raise DescriptionError(Fault(_field(workload), clients, rule, fix))
    n = n_requests or max(clients, 1)
    per_s = _MAX_PER_S[engine]
    if n > per_s * _LONGEST_S:
        rule = f"would take more than a day even at {per_s:,} requests per second"
        raise DescriptionError(Fault("n_requests", n, rule, f"use at most {per_s * _LONGEST_S:,}"))
    free = free_bytes()
    if free is None:
        return
    rows, out = n * _ROW_BYTES[keep], min(clients, n) * _OUT_BYTES[engine]
    if rows + out <= free:
        return
    need = f"needs about {_gigabytes(rows + out)} GB of memory, and {_gigabytes(free)} GB are free"
    if out > rows:
        fits = max(free - rows, 0) // _OUT_BYTES[engine]
        fault = Fault(_field(workload), clients, need, f"use at most {fits:,}")
    else:
        fits = max(free - out, 0) // _ROW_BYTES[keep]
        fault = Fault("n_requests", n, need, f'use at most {fits:,}, or keep="histogram"')
    raise DescriptionError(fault)


@dataclass(frozen=True)
class Cost:
    """What a request costs, as a run of some shows it.

    Attributes
    ----------
    run_s : float
        Computing time, seconds: estimated from counts, not from a clock.
    kept_bytes : float
        Memory that stays taken until the run ends.
    """

    run_s: float
    kept_bytes: float

    @classmethod
    def of(cls, run: Run, scenario: Scenario, n: int, workload: AnyWorkload) -> Self:
        """Return what each of the `n` requests of a run has cost."""
        is_flash = scenario.drive.has_pages
        run_s = _on_disks_s(run, scenario, n * _children(scenario, workload), run.engine)
        run_s += _STRIP_S[run.engine] * n * _strips(scenario, workload)
        cached = _in_caches(scenario, workload, run.engine)
        run_s += n * (cached.run_s + _CROWDED_S[run.engine] * _crowded(scenario, workload))
        kept = _KEPT_BYTES * int(run.devices.write_bytes.sum()) / _PAGE_BYTES if is_flash else 0.0
        return cls(run_s / n, kept / n + cached.kept_bytes + _RECORD_KEPT_BYTES * _crowded(scenario, workload))

    def most(self, n_runs: int = 1, spent_s: float = 0.0) -> int:
        """Return the most requests of each of so many runs, after what other runs have taken of the question's time."""
        return self.within(
            current().allowed_s(max(RUNS_S - spent_s, 0.0)) / n_runs, _RUN_BYTES if n_runs == 1 else EACH_BYTES
        )

    def within(self, run_s: float, kept_bytes: float) -> int:
        """Return the most requests of a run that take so long, and so much memory, at most."""
        return int(min(run_s / max(self.run_s, 1e-12), kept_bytes / max(self.kept_bytes, 1e-9)))

    def at_least(self, n: int, least: int) -> int:
        """Return `n`, or `least` where that is more and memory has room for so many."""
        return max(n, min(least, int(_MOST_BYTES / max(self.kept_bytes, 1e-9))), 1)

    def most_of_each(self, run_s: float) -> int:
        """Return the most requests of each of many runs that take so long at most; at least a few."""
        return self.at_least(self.within(run_s, EACH_BYTES), LEAST_OF_MOVED)


def _on_disks_s(run: Run, scenario: Scenario, n_children: float, engine: str) -> float:
    """Return the computing time of what disks did in a run, whose requests have so many child I/Os."""
    devices = run.devices
    is_flash = scenario.drive.has_pages
    read_pages, written_pages = (
        int(each.sum()) / _PAGE_BYTES * is_flash for each in (devices.read_bytes, devices.write_bytes)
    )
    n_commands = int(devices.n_reads.sum() + devices.n_writes.sum())
    waiting = int(devices.response_ns.sum()) / max(run.end_ns, 1)
    command_s, write_s = (
        base + far
        for base, far in zip(
            (_COMMAND_S[engine], _FLASH_WRITE_S[engine]), _far_s(engine, scenario.n_devices, waiting), strict=True
        )
    )
    run_s = command_s * n_commands + _PAGE_S[engine] * read_pages + write_s * written_pages
    run_s += _FLUSH_S[engine] * int(devices.n_flushes.sum())
    n_bytes = int(devices.read_bytes.sum() + devices.write_bytes.sum())
    if scenario.drive.has_arms:
        run_s += _TRACK_S[engine] * n_bytes / _track_bytes(scenario)
    # what is in memory is not on the disks yet, and a resilver has no requests
    record_bytes, width = _record_of_disks(scenario) or (math.inf, 1)
    on_disks = n_bytes / (record_bytes / width)
    child_s = _CHILD_S[engine] + _SPREAD_CHILD_S[engine] * (scenario.layout.window_disks > 1)
    child_s += _FAR_CHILD_S[engine] * math.log2(1 + waiting / _FEW_CHILDREN)
    return run_s + child_s * max(n_children, on_disks)


def _track_bytes(scenario: Scenario) -> int:
    """Return the bytes of a track half-way through a disk's blocks."""
    return scenario.drive.track_sectors(scenario.drive.n_sectors // 2) * scenario.drive.sector_bytes


def _far_s(engine: str, n_disks: int, waiting: float) -> tuple[float, float]:
    """Return what a command, and a page that is written to flash, take more where there are many disks or commands."""
    disks = math.log2(1 + n_disks / _MANY_DISKS)
    commands = math.log2(1 + waiting / _MANY_WAITING)
    return _FAR_DISK_S[engine] * disks + _FAR_WAITING_S[engine] * commands, _FAR_PAGE_S[engine] * disks


def entered_s(run: Run, scenario: Scenario, n_requests: int, n_bytes: int, engine: str) -> float:
    """Return the computing time of a run of so many requests of so many bytes in all, as an account enters it."""
    unit = scenario.drive.sector_bytes
    seconds = _on_disks_s(run, scenario, 0.0, engine)
    n_commands = int(run.devices.n_reads.sum() + run.devices.n_writes.sum())
    seconds += _IN_MEMORY_S[engine] * max(n_requests - n_commands, 0)
    if scenario.drive.has_pages:
        # whole steps of a rebuild go through pages in order; of dRAID those of all disks count, most of which are read
        n_read, n_written = (
            int(each.sum()) / _PAGE_BYTES for each in (run.devices.read_bytes, run.devices.write_bytes)
        )
        in_order = min(run.rebuilt_bytes / _PAGE_BYTES, n_written)
        of_data = min(scenario.layout.n_data * in_order, n_read)
        seconds -= _CHEAPER * (_FLASH_WRITE_S[engine] * in_order + _PAGE_S[engine] * of_data)
    # what buffers held when the run began, and what disks at rest wrote of it
    drained = min(len(scenario.start.buffered), _DRAINED_PER_S * scenario.n_devices * run.end_ns / 1e9)
    seconds += _DRAIN_S[engine] * drained + _begun_s(scenario, engine) + _DISK_S * scenario.n_devices
    n_cached = len(scenario.start.cached) + (0 if scenario.start.arc is None else scenario.start.arc.n_listed)
    seconds += _READ_BLOCK_S[engine] * n_cached + _DIRTY_BLOCK_S[engine] * len(scenario.start.dirty)
    if scenario.host.page_cache is not None:
        seconds += _HELD_PAGE_S[engine] * (len(scenario.start.pages_dirty) + len(scenario.start.pages_clean))
        seconds += _WRITTEN_BACK_S[engine] * int(run.devices.n_writes.sum())
    strips = n_bytes / (scenario.layout.strip * unit)
    if scenario.layout.has_strips:
        seconds += _STRIP_S[engine] * max(strips, n_requests)
    else:
        seconds += _CROWDED_S[engine] * max(strips - _FEW_RECORDS * n_requests, 0.0)
    controller, pool = scenario.controller, scenario.layout.pool
    n_blocks = n_bytes / (_PAGE_BYTES if pool is None else pool.record * unit)
    seconds += _READ_BLOCK_S[engine] * n_blocks * _is_sized(controller.read_cache)
    return seconds + _WRITE_BLOCK_S[engine] * n_blocks * (controller.write_cache is not None)


def _begun_s(scenario: Scenario, engine: str) -> float:
    """Return what placing the writes takes that drives hold when a run begins."""
    n_rows = len(scenario.start.programmed) + len(scenario.start.buffered)
    row_s = _BEGUN_ROW_S[engine] + _FAR_ROW_S[engine] * math.log2(1 + scenario.n_devices / _MANY_DISKS)
    return row_s * n_rows if scenario.drive.has_pages else _HELD_ROW_S[engine] * n_rows


def looked_at(
    run_of: Callable[[int], Run],
    scenario: Scenario,
    workload: Workload,
    look_s: float = _LOOK_S,
    guess: Cost | None = None,
) -> Cost:
    """Return what a request costs, from runs of one request and more until they show it, of at most `PROBE`.

    `run_of` makes a run of so many requests; all together take about as long as `look_s`. By a guess the first runs are
    left out that are short even where a request costs as much more as it may.
    """
    n = 1
    while guess is not None and n < PROBE and guess.run_s * _GUESS * min(4 * n, PROBE) * 4 <= look_s:
        n = min(4 * n, PROBE)
    while True:
        cost = Cost.of(run_of(n), scenario, n, workload)
        if n >= PROBE or cost.run_s * n * 4 > look_s or cost.kept_bytes * n * 4 > EACH_BYTES:
            return cost
        n = min(4 * n, PROBE)


def each_s(n_requests: int) -> float:
    """Return the computing time of a run of so many requests, of a question that makes many runs."""
    return min(_EACH_S * max(n_requests / _EACH_REQUESTS, 1.0), _EACH_MOST_S)


def each_most(
    n: int, run_of: Callable[[int], Run], scenario: Scenario, workload: Workload, array: Array, run_s: float
) -> int:
    """Return as many requests of a run of `n` as take no longer than `run_s`; at least a few.

    What they cost is looked at only where a guess says that it might be too much. Where the question has less time left
    (`diskmodel.engine.ledger`), that counts; where it has none, the guess does, but beside a rebuild: how often clients
    get an answer there is anyone's guess.
    """
    run_s = current().allowed_s(run_s)
    guess = guessed(scenario, workload, array)
    if current().is_spent and array.layout.rebuild is None:
        return min(n, guess.most_of_each(run_s))
    if guess.within(run_s / _GUESS, EACH_BYTES / _GUESS) >= n:
        return n
    cost = looked_at(run_of, scenario, workload, run_s, guess)
    return min(n, cost.most_of_each(run_s))


def guessed(scenario: Scenario, workload: Workload, array: Array | None = None) -> Cost:
    """Return what a request costs in the kernel, guessed from counts before any run; beside the rebuild of `array`."""
    layout = scenario.layout
    sector = scenario.drive.sector_bytes
    is_flash = scenario.drive.has_pages
    unit = layout.strip * sector
    # a record of a pool goes over the data disks of a vdev
    width = 1 if layout.has_strips else max(min(layout.n_disks - layout.n_parity, unit // _PAGE_BYTES), 1)
    copies = layout.copies + layout.n_parity
    command_s = _COMMAND_S[scenario.drive.kind if scenario.drive.own_engine else "native"]
    run_s = kept = total = 0.0
    for stream in workload.streams:
        size, weight = stream.mean_size_bytes, stream.row_weight
        # what lies one after the other on a disk is one command
        pieces = min(max(size / unit, 1.0), layout.n_disks) if layout.has_strips else max(size / unit, 1.0) * width
        n_pages = max(size, 1.0 if layout.has_strips else unit) / _PAGE_BYTES * is_flash
        read_s = command_s * pieces + _PAGE_S["native"] * n_pages
        write_s = command_s * (pieces * copies + 2 * copies) + _FLASH_WRITE_S["native"] * n_pages * copies
        if stream.sync != "none" and layout.has_strips and scenario.drive.takes_flushes:
            write_s += _FLUSH_S["native"] * layout.n_disks / stream.sync_every
        total += weight
        run_s += weight * (stream.read_ratio * read_s + stream.write_ratio * write_s)
        kept += weight * stream.write_ratio * n_pages * copies * _KEPT_BYTES * is_flash
    parts_s = _CHILD_S["native"] * _children(scenario, workload) + _STRIP_S["native"] * _strips(scenario, workload)
    cached = _in_caches(scenario, workload, "native")
    n_crowded = _crowded(scenario, workload)
    kept_bytes = kept / max(total, 1e-300) + cached.kept_bytes + _RECORD_KEPT_BYTES * n_crowded
    parts_s += cached.run_s + _CROWDED_S["native"] * n_crowded
    cost = Cost(run_s / max(total, 1e-300) + parts_s, kept_bytes)
    beside = None if array is None else _Beside.of(array)
    if beside is None:
        return cost
    apart_s = 1 / max(_most_per_s(workload, is_flash=is_flash), 1e-12)
    return Cost(cost.run_s + beside.work_s * apart_s, cost.kept_bytes + beside.kept_bytes * apart_s)


def _is_sized(cache: ReadCache | None) -> bool:
    """Whether a read cache keeps blocks, and does not draw its hits."""
    return cache is not None and cache.size_bytes is not None


def _in_caches(scenario: Scenario, workload: AnyWorkload, engine: str) -> Cost:
    """Return what a request costs in the controller's caches of blocks."""
    controller = scenario.controller
    if not controller.has_real_cache or not isinstance(workload, Workload) or not scenario.layout.has_strips:
        return Cost(0.0, 0.0)
    n_blocks = max(workload.mean_size_bytes / _PAGE_BYTES, 1.0)
    is_read = _is_sized(controller.read_cache)
    block_s = _READ_BLOCK_S[engine] * is_read + _WRITE_BLOCK_S[engine] * (controller.write_cache is not None)
    return Cost(block_s * n_blocks, _BLOCK_KEPT_BYTES * n_blocks * is_read)


def _record_of_disks(scenario: Scenario) -> tuple[int, int] | None:
    """Return bytes and data columns of a record of a pool of hard disks; None without one."""
    if scenario.layout.has_strips or scenario.drive.has_pages:
        return None
    record_bytes = scenario.layout.strip * scenario.drive.sector_bytes
    return record_bytes, max(min(scenario.layout.n_data, record_bytes // _PAGE_BYTES), 1)


def _children(scenario: Scenario, workload: AnyWorkload) -> float:
    """Return how many I/Os of a pool of hard disks a request has before its disks' queues join them; 0 without one."""
    record = _record_of_disks(scenario)
    if record is None or not isinstance(workload, Workload):
        return 0.0
    record_bytes, width = record
    beside = scenario.layout.n_parity + scenario.layout.copies - 1
    children = sum(
        stream.row_weight * max(stream.mean_size_bytes / record_bytes, 1.0) * (width + beside * stream.write_ratio)
        for stream in workload.streams
    )
    return children / max(sum(stream.row_weight for stream in workload.streams), 1e-300)


def _crowded(scenario: Scenario, workload: AnyWorkload) -> float:
    """Return the records of a large request of a pool that wait while others come; 0 without one."""
    if scenario.layout.has_strips or not isinstance(workload, Workload):
        return 0.0
    record_bytes = scenario.layout.strip * scenario.drive.sector_bytes
    weights = [stream.row_weight for stream in workload.streams]
    records = [max(stream.mean_size_bytes / record_bytes - _FEW_RECORDS, 0.0) for stream in workload.streams]
    return sum(weight * n for weight, n in zip(weights, records, strict=True)) / max(sum(weights), 1e-300)


def _strips(scenario: Scenario, workload: AnyWorkload) -> float:
    """Return how many strips a request has, where there are strips."""
    if not scenario.layout.has_strips or not isinstance(workload, Workload):
        return 0.0
    strip_bytes = scenario.layout.strip * scenario.drive.sector_bytes
    strips = sum(stream.row_weight * max(stream.mean_size_bytes / strip_bytes, 1.0) for stream in workload.streams)
    return strips / max(sum(stream.row_weight for stream in workload.streams), 1e-300)


def few_enough(n: int, scenario: Scenario, workload: Workload, run_s: float, n_held: int = 0) -> int:
    """Return as many requests of a run of `n` as take no longer than `run_s` by a guess; at least a few.

    `n_held` are the writes in disks' buffers when the run begins, which they write between rare requests.
    """
    run_s = current().allowed_s(run_s)
    guess = guessed(scenario, workload)
    n = min(n, guess.most_of_each(run_s))
    if work_s := _beside_trial_s(scenario):
        rate = _most_per_s(workload, is_flash=scenario.drive.has_pages)
        n = min(n, max(int(current().allowed_s(_BESIDE_S) / work_s * rate), LEAST_OF_MOVED))
    if not n_held or scenario.drive.has_pages:
        return n
    each_s = (
        _DRAIN_S["native"] * _DRAINED_PER_S * scenario.n_devices / max(_most_per_s(workload, is_flash=False), 1e-12)
    )
    draining_s = current().allowed_s(_DRAINING_S)
    if min(n * each_s, _DRAIN_S["native"] * n_held) <= draining_s:
        return n
    return min(n, max(int(draining_s / each_s), LEAST_OF_MOVED))


def few_enough_beside(n: int, run_of: Callable[[int], Run], scenario: Scenario, workload: Workload) -> int:
    """Return as many requests of a run of `n` as take no longer than one beside a rebuild may; at least a few.

    How often clients get an answer beside it is looked at: a controller that destages may wait for seconds.
    """
    # few are left where hours of it lie between two requests, through all of which a look would go
    is_beside = scenario.layout.sync_action != "none"
    if not workload.queue_depth or n <= PROBE or not is_beside:
        return n
    run_s = current().allowed_s(_BESIDE_S)
    # of a pool a guess from the requests alone is far too low: a scrub reads between them
    guess = guessed(scenario, workload) if scenario.layout.has_strips else None
    cost = looked_at(run_of, scenario, workload, min(run_s, _LOOK_S), guess)
    return min(n, cost.most_of_each(run_s))


def _beside_trial_s(scenario: Scenario) -> float:
    """Return the computing time of a simulated second of a rebuild of Linux md at its highest speed; 0 without one."""
    gap_ns, window = (getattr(scenario.layout, name, 0) for name in ("rebuild_gap_ns", "rebuild_window"))
    if not gap_ns:
        return 0.0
    pages = window * scenario.drive.sector_bytes / _PAGE_BYTES * scenario.drive.has_pages
    return 2 * (_COMMAND_S["native"] + _PAGE_S["native"] * pages) / gap_ns * 1e9


def _most_per_s(workload: Workload, *, is_flash: bool) -> float:
    """Return the rate of a workload, at most: clients do not get answers faster than a drive gives them."""
    rate = workload.offered_rate_per_s
    for stream in workload.streams:
        if isinstance(stream.arrival, Closed):
            rate += stream.arrival.clients / (stream.arrival.think_ns / 1e9 + _ANSWER_S[is_flash])
    return rate


def is_costly(array: Array, workload: Workload | TraceWorkload) -> bool:
    """Whether a first run may take long: a rebuild goes on beside it, or requests are so large."""
    if not isinstance(workload, Workload):
        return False
    return array.layout.rebuild is not None or workload.mean_size_bytes > _LARGE_BYTES


@dataclass(frozen=True)
class _Beside:
    """What goes on beside the requests of an array while it is rebuilt.

    Attributes
    ----------
    steps_per_s : float
        Of the rebuild, in a simulated second.
    work_s, kept_bytes : float
        Computing time and memory of a simulated second.
    """

    steps_per_s: float
    work_s: float
    kept_bytes: float

    @classmethod
    def of(cls, array: Array) -> Self | None:
        """Return what goes on; None without a rebuild."""
        rebuild = array.layout.rebuild
        if rebuild is None:
            return None
        window_bytes = max(rebuild.window_bytes or STEP_BYTES, _PAGE_BYTES)
        is_flash = not array.drive.has_arms
        fastest = _FASTEST_BYTES_PER_S[is_flash] * array.layout.rebuilds_at_once
        steps_per_s = min(array.layout.fastest_rebuild(rebuild), fastest) / window_bytes
        n_pages = window_bytes / _PAGE_BYTES
        has_pages = is_flash or array.layout.steps_have_pages
        step_s = 2 * (_COMMAND_S["native"] + _PAGE_S["native"] * has_pages * n_pages)
        return cls(steps_per_s, steps_per_s * step_s, steps_per_s * n_pages * _KEPT_BYTES * is_flash)

    @property
    def longest_s(self) -> float:
        """Simulated seconds that fit into a question."""
        return min(RUNS_S / self.work_s, _RUN_BYTES / max(self.kept_bytes, 1e-9))


def often_enough(array: Array, workload: Workload) -> Workload:
    """Return a workload beside a rebuild at the least rate at which it can be simulated, where its own is lower.

    Hours would be simulated between two requests. More of them do not make the rebuild faster, nor are they faster.
    """
    beside = _Beside.of(array)
    if beside is None:
        return workload
    longest_s = beside.longest_s / _OFTEN
    rate = workload.offered_rate_per_s
    if workload.is_open and rate * longest_s < LEAST:
        workload = workload.scaled(LEAST / longest_s / rate)
    streams = tuple(
        stream.model_copy(update={"arrival": stream.arrival.model_copy(update={"think_ns": int(longest_s * 1e9)})})
        if isinstance(stream.arrival, Closed) and stream.arrival.think_ns > longest_s * 1e9
        else stream
        for stream in workload.streams
    )
    return workload.model_copy(update={"streams": streams})


def check_rare(array: Array, workload: Workload) -> None:
    """Refuse requests so rare that hours would be simulated between two of them, while a rebuild goes on.

    Raises
    ------
    DescriptionError
        With the smallest rate that can be simulated.
    """
    beside = _Beside.of(array)
    if beside is None:
        return
    steps_per_s, longest_s = beside.steps_per_s, beside.longest_s
    least = 2 * LEAST / longest_s
    rate = sum(stream.expected_rate_per_s for stream in workload.streams)
    if rate < least:
        rule = f"beside a rebuild, some {steps_per_s / rate:,.0f} of its steps would be simulated for each request"
        clients = sum(stream.arrival.clients for stream in workload.streams if isinstance(stream.arrival, Closed))
        enough = (
            f"let clients think for at most {0.9 * clients / least:.2g} s"  # less, as it is rounded
            if clients
            else f"give at least {least:.2g} requests a second (--rate)"
        )
        fix = f"{enough}: so rare ones do not slow the rebuild"
        raise DescriptionError(Fault("workload.streams.0.rate", f"{rate:.3g}/s", rule, fix))
    for number, stream in enumerate(workload.streams):
        think_s = stream.arrival.think_ns / 1e9 if isinstance(stream.arrival, Closed) else 0.0
        if think_s > longest_s:
            rule = f"beside a rebuild, some {steps_per_s * think_s:,.0f} of its steps would be simulated in each pause"
            fix = f"let clients think for at most {longest_s:.2g} s"
            raise DescriptionError(Fault(f"workload.streams.{number}.think", f"{think_s:g} s", rule, fix))


def bound_message(n: int) -> str:
    """Return what a result says whose run that bound has ended before its precision."""
    return (
        f"the run was ended after {n:,} requests, before the precision was reached: it had used what a question may "
        "take of time and memory (n_requests, or --requests, asks for more)"
    )


def _field(workload: Workload) -> str:
    """Return the field of the closed stream with the most clients."""
    closed = [(s.arrival.clients, -i) for i, s in enumerate(workload.streams) if isinstance(s.arrival, Closed)]
    return f"workload.streams.{-max(closed)[1]}.clients" if closed else "n_requests"


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f}"


def free_bytes() -> int | None:
    """Return the memory that this process may still take; None where the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
