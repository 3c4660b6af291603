"""What runs take, by counts of what happened in them: computing time on a processor of 2023, and memory.

Counts decide and not a clock, so that the same question has the same answer on every machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from diskmodel.drive import KINDS
from diskmodel.records import Run

if TYPE_CHECKING:
    from diskmodel.controller import ReadCache
    from diskmodel.engine.scenario import Scenario

#: Engines that kinds of drives have of their own, which count commands alone.
_OWN = {kind: drive.own_effort for kind, drive in KINDS.items() if drive.own_effort is not None}
_NOTHING_MORE = dict.fromkeys(_OWN, 0.0)
#: What a command of a disk takes, seconds, and more for each page of 4 KiB of flash or of a pool, on a processor of
#: 2023: counts decide, so that the same question has the same answer on every machine. At half, questions take twice as
#: long as they should.
COMMAND_S: dict[str, float] = {"native": 0.7e-6, "simpy": 50e-6} | {kind: own.command_s for kind, own in _OWN.items()}
PAGE_S = {"native": 0.2e-6, "simpy": 5e-6} | _NOTHING_MORE
#: What a command takes more that the host chooses by the time its disk would need, with the root of those that wait at
#: each disk: 1,000 took 8 us a command, 130 took 3.
_CHOSEN_S = {"native": 0.15e-6, "simpy": 0.0} | _NOTHING_MORE
#: The same of a child I/O of a pool of hard disks, whose queue joins many to one command; and what one takes more with
#: each doubling of those that wait beyond so many. Those of streams took 0.1 us, those of 25 GB that came at once 0.5.
CHILD_S = {"native": 0.1e-6, "simpy": 20e-6} | _NOTHING_MORE
_FAR_CHILD_S = {"native": 0.05e-6, "simpy": 0.0} | _NOTHING_MORE
_FEW_CHILDREN = 100
#: What one takes more of dRAID that is resilvered, onto all disks at once: 1.7 to 3.7 million took 0.7 us each.
_SPREAD_CHILD_S = {"native": 0.35e-6, "simpy": 0.0} | _NOTHING_MORE
#: The same of a flush of a disk: 2,000 disks, all of which each commit flushes, took 0.2 us each.
FLUSH_S = {"native": 0.18e-6, "simpy": 10e-6} | _NOTHING_MORE
#: The same of each strip of a request: 30,000 of 64 MiB in strips of 64 KiB took 4 s, though what lies one after the
#: other on a disk is one command.
STRIP_S = {"native": 0.13e-6, "simpy": 10e-6} | _NOTHING_MORE
#: The same of a track that an access of a hard disk goes over: a large request goes over hundreds of an old drive.
#: 150,000 writes of 7 MiB took 1.0 s on a DEC RZ26 of 1993, and 0.2 on a disk of 2012.
_TRACK_S = {"native": 0.02e-6, "simpy": 4e-6} | _NOTHING_MORE
#: The same of a page that is written to flash which is full of data: cleaning copies others meanwhile.
FLASH_WRITE_S = {"native": 0.6e-6, "simpy": 15e-6} | _NOTHING_MORE
#: The same of a write of a disk that puts most of them into a media cache, where bands are cleaned piece by piece: 7 us
#: of random writes from 8 KiB to 1 MiB, up to 10 where one band holds thousands; in order 1 us.
MEDIA_CACHE_S = {"native": 6e-6, "simpy": 100e-6} | _NOTHING_MORE
#: The same of a block of 4 KiB that a request puts into a controller's caches, and the memory it takes there, bytes.
READ_BLOCK_S = {"native": 0.13e-6, "simpy": 3e-6} | _NOTHING_MORE
WRITE_BLOCK_S = {"native": 0.03e-6, "simpy": 3e-6} | _NOTHING_MORE
#: The same of one that waits to be written when a run begins: two million were loaded in 0.04 s.
_DIRTY_BLOCK_S = {"native": 0.03e-6, "simpy": 3e-6} | _NOTHING_MORE
BLOCK_KEPT_BYTES = 60
#: The same of a request beyond those for which disks had a command: a pool served 1.6 million of 512 B from its
#: memory in 2.1 s.
_IN_MEMORY_S = {"native": 0.8e-6, "simpy": 20e-6} | _NOTHING_MORE
#: The same of a write that a disk's buffer held already when a run began, and how many of them a disk at rest takes
#: to its media in a second.
DRAIN_S = {"native": 3e-6, "simpy": 100e-6} | _NOTHING_MORE
DRAINED_PER_S = 3000
#: How many times as long that takes where flushes wait for them: those that are weighed are placed for each choice.
#: 430,000 on 60 disks took 2.6 s.
_FLUSHED = 2
#: The same of a page that the host's memory holds when a run begins, clean or dirty, and of a write to a disk that
#: comes from there: many wait at the disks, and each is chosen among them. At half, plans with much memory take twice
#: what is entered; at double, their extras are left out too soon.
_HELD_PAGE_S = {"native": 0.03e-6, "simpy": 1e-6} | _NOTHING_MORE
_DIRTY_PAGE_S = {"native": 0.1e-6, "simpy": 1e-6} | _NOTHING_MORE
_WRITTEN_BACK_S = {"native": 0.6e-6, "simpy": 0.0} | _NOTHING_MORE
#: The same of a page that a request reads from disks into memory or writes there, and more with each doubling of those
#: that memory holds beyond so many: 1 MiB writes took 0.3 us a page beside 1 GiB of memory, and 0.8 beside 16.
_HOST_PAGE_S = {"native": 0.25e-6, "simpy": 5e-6} | _NOTHING_MORE
_FAR_HOST_PAGE_S = {"native": 0.12e-6, "simpy": 0.0} | _NOTHING_MORE
_FEW_PAGES = 200_000
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
PAGE_BYTES = 4096
#: What the kernel keeps of a page that was written to flash, bytes: 43 in a rebuild, more while it grows.
KEPT_BYTES = 64
#: The same of a record of a pool that waits, and the records of a request of which only those beyond wait in numbers
#: that count: 208 writes of 1 GiB that came at once took 2 GB. At double, requests of 16 MiB have shorter runs.
RECORD_KEPT_BYTES, FEW_RECORDS = 1_200, 64
#: The same of each of its columns on a disk, where they are more than that: dRAID pads a record of one block to all
#: columns of a group, so that one of 8 + 2 disks took 3,400.
COLUMN_KEPT_BYTES = 350
#: The time that such a record takes beside its commands, seconds: 61 of 64 MiB in records of 16 KiB took 1.1, not 0.5.
CROWDED_S = {"native": 3e-6, "simpy": 0.0} | _NOTHING_MORE


def entered_s(run: Run, scenario: Scenario, n_requests: int, n_bytes: int, engine: str) -> float:
    """Return the computing time of a run of so many requests of so many bytes in all, as an account enters it."""
    unit = scenario.drive.sector_bytes
    seconds = on_disks_s(run, scenario, 0.0, engine)
    seconds += in_memory_s(run, n_requests, engine)
    # what buffers held when the run began, and what disks at rest wrote of it
    drained = min(len(scenario.start.buffered), DRAINED_PER_S * scenario.n_devices * run.end_ns / 1e9)
    drained *= _FLUSHED if scenario.drive.has_arms and run.devices.n_flushes.any() else 1
    seconds += DRAIN_S[engine] * drained + _begun_s(scenario, engine) + _DISK_S * scenario.n_devices
    n_cached = len(scenario.start.cached) + (0 if scenario.start.arc is None else scenario.start.arc.n_listed)
    seconds += READ_BLOCK_S[engine] * n_cached + _DIRTY_BLOCK_S[engine] * len(scenario.start.dirty)
    if scenario.host.page_cache is not None:
        seconds += _DIRTY_PAGE_S[engine] * len(scenario.start.pages_dirty)
        seconds += _HELD_PAGE_S[engine] * len(scenario.start.pages_clean)
        seconds += _WRITTEN_BACK_S[engine] * int(run.devices.n_writes.sum())
        seconds += host_page_s(scenario, engine) * min(n_bytes, _moved_bytes(run)) / PAGE_BYTES
    strips = n_bytes / (scenario.layout.strip * unit)
    if scenario.layout.has_strips:
        seconds += STRIP_S[engine] * max(strips, n_requests)
    else:
        seconds += CROWDED_S[engine] * max(strips - FEW_RECORDS * n_requests, 0.0)
    controller, pool = scenario.controller, scenario.layout.pool
    n_blocks = n_bytes / (PAGE_BYTES if pool is None else pool.record * unit)
    seconds += READ_BLOCK_S[engine] * n_blocks * is_sized(controller.read_cache)
    return seconds + WRITE_BLOCK_S[engine] * n_blocks * (controller.write_cache is not None)


def in_memory_s(run: Run, n_requests: int, engine: str) -> float:
    """Return the computing time of the requests of a run for which its disks had no command."""
    return _IN_MEMORY_S[engine] * max(n_requests - _n_commands(run), 0)


def host_page_s(scenario: Scenario, engine: str) -> float:
    """Return the computing time of a page that goes through the host's memory; 0 where it has none."""
    cache = scenario.host.page_cache
    if cache is None:
        return 0.0
    n_held = min(cache.memory_bytes // PAGE_BYTES, len(scenario.start.pages_dirty) + len(scenario.start.pages_clean))
    return _HOST_PAGE_S[engine] + _FAR_HOST_PAGE_S[engine] * math.log2(1 + n_held / _FEW_PAGES)


def _n_commands(run: Run) -> int:
    """Return how many commands disks had."""
    return int(run.devices.n_reads.sum() + run.devices.n_writes.sum())


def _moved_bytes(run: Run) -> int:
    """Return what disks read and wrote."""
    return int(run.devices.read_bytes.sum() + run.devices.write_bytes.sum())


def on_disks_s(run: Run, scenario: Scenario, n_children: float, engine: str) -> float:
    """Return the computing time of what disks did in a run, whose requests have so many child I/Os."""
    devices = run.devices
    is_flash = scenario.drive.has_pages
    read_pages, written_pages = (
        int(each.sum()) / PAGE_BYTES * is_flash for each in (devices.read_bytes, devices.write_bytes)
    )
    n_commands = _n_commands(run)
    waiting = waiting_of(run)
    command_s, write_s = (
        base + far
        for base, far in zip(
            (COMMAND_S[engine], FLASH_WRITE_S[engine]), _far_s(engine, scenario.n_devices, waiting), strict=True
        )
    )
    if scenario.queue.scheduler == "sptf" and scenario.drive.has_arms:
        command_s += _CHOSEN_S[engine] * math.sqrt(waiting / scenario.n_devices)
    run_s = command_s * n_commands + PAGE_S[engine] * read_pages + write_s * written_pages
    run_s += FLUSH_S[engine] * int(devices.n_flushes.sum())
    far_child_s = _FAR_CHILD_S[engine] * math.log2(1 + waiting / _FEW_CHILDREN)
    if is_flash and not scenario.layout.has_strips:
        # a page has the price of a child I/O, of those that wait in its queue; 500 readers in order had 10,000 there
        run_s += far_child_s * read_pages
    n_bytes = _moved_bytes(run)
    if scenario.drive.media_cache is not None and len(scenario.start.logged):
        run_s += MEDIA_CACHE_S[engine] * int(devices.n_writes.sum())
    if scenario.drive.has_arms:
        run_s += _TRACK_S[engine] * n_bytes / _track_bytes(scenario)
    # what is in memory is not on the disks yet, and a resilver has no requests
    record_bytes, width = record_of_disks(scenario) or (math.inf, 1)
    on_disks = n_bytes / (record_bytes / width)
    child_s = CHILD_S[engine] + _SPREAD_CHILD_S[engine] * (scenario.layout.window_disks > 1)
    return run_s + (child_s + far_child_s) * max(n_children, on_disks)


def waiting_of(run: Run) -> float:
    """Return how many commands were at the disks on average: all of them where their times have no room in a sum.

    In an overload of requests of 1 GiB to old disks millions of commands wait for weeks: 2⁶³ ns are 292 years.
    """
    each_ns: list[int] = run.devices.response_ns.tolist()
    if min(each_ns, default=0) < 0:
        return float(_n_commands(run))
    return sum(each_ns) / max(run.end_ns, 1)


def _begun_s(scenario: Scenario, engine: str) -> float:
    """Return what placing the writes takes that drives hold when a run begins."""
    n_rows = len(scenario.start.programmed) + len(scenario.start.buffered)
    row_s = _BEGUN_ROW_S[engine] + _FAR_ROW_S[engine] * math.log2(1 + scenario.n_devices / _MANY_DISKS)
    return row_s * n_rows if scenario.drive.has_pages else _HELD_ROW_S[engine] * n_rows


def _track_bytes(scenario: Scenario) -> int:
    """Return the bytes of a track half-way through a disk's blocks."""
    return scenario.drive.track_sectors(scenario.drive.n_sectors // 2) * scenario.drive.sector_bytes


def _far_s(engine: str, n_disks: int, waiting: float) -> tuple[float, float]:
    """Return what a command, and a page that is written to flash, take more where there are many disks or commands."""
    disks = math.log2(1 + n_disks / _MANY_DISKS)
    commands = math.log2(1 + waiting / _MANY_WAITING)
    return _FAR_DISK_S[engine] * disks + _FAR_WAITING_S[engine] * commands, _FAR_PAGE_S[engine] * disks


def record_of_disks(scenario: Scenario) -> tuple[int, int] | None:
    """Return bytes and data columns of a record of a pool of hard disks; None without one."""
    if scenario.layout.has_strips or scenario.drive.has_pages:
        return None
    record_bytes = scenario.layout.strip * scenario.drive.sector_bytes
    return record_bytes, max(min(scenario.layout.n_data, record_bytes // PAGE_BYTES), 1)


def is_sized(cache: ReadCache | None) -> bool:
    """Whether a read cache keeps blocks, and does not draw its hits."""
    return cache is not None and cache.size_bytes is not None
