"""The transaction group that a pool begins to write when a run begins, and how long one is in requests (rule Z12)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diskmodel.engine.effort import PAGE_BYTES, Cost, few_enough, few_enough_beside
from diskmodel.engine.ledger import current
from diskmodel.engine.steady.drives.drives import drives_of
from diskmodel.engine.steady.past.history import MAX_USES, History
from diskmodel.engine.steady.pools.l2arc import with_l2arc
from diskmodel.engine.steady.start import Start
from diskmodel.records import Int64, Op, Requests, Run, Sync
from diskmodel.workload import Workload

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Requests of the first run that shows how fast closed clients go on; then at most four times as many, until the run
#: sees so many groups, or is as long as this. With half the groups memory may still fill, and the pace is of memory.
_FIRST, _TIMES, _GROUPS, _LONGEST = 6_000, 4, 3, 1_600_000
#: What a run is longer than the one before it says that it has to be: clients become faster and slower while memory
#: fills. Without it every second run falls just short and is made again; four times as long takes half as long again.
_RESERVE = 1.2
#: Computing time of such a run at most, seconds, by counts, and its memory in bytes. At half, memory may still fill
#: where the pace is looked at; at double, half a minute passes before anything is answered.
_LONGEST_S, _LONGEST_BYTES = 1.0, 100_000_000
#: Part of that run in which memory fills, and how many times as fast it has to be for the disks to limit the load: a
#: load that does not wait for them is within 1.1. The disks are busy meanwhile, but for the time in which memory fills
#: and that of metadata between two groups.
_EARLY, _FASTER, _BUSY = 20, 1.5, 0.7
#: Requests of a run with full memory that shows how fast disks take what is written, where it did not fill: each write
#: waits for 100 ms behind the one before, so that it lasts for two seconds. At half, the pace is of the first places of
#: a group; at double, the run takes as long as one that fills memory.
_IN_FULL_MEMORY = 20
#: Pages that a disk writes in a second at least, in places of all its space, and a flash drive.
_PAGES_PER_S = (50, 10_000)
#: Requests that are drawn to see which records a group has, fewer where they have many (`MAX_USES`); of longer groups
#: the rest is extrapolated.
_DRAWN = 400_000

Engine = Callable[["Scenario", Requests], Run]


def group_start(
    scenario: Scenario, workload: Workload, begun: Start, *, capacity_bytes: int, seed: int, engine: Engine
) -> Start:
    """Return the start of a pool that is written to: a group whose time has come, as large as this load makes them.

    `begun` is what its cache holds.
    """
    pool = scenario.layout.pool
    assert pool is not None
    writes = pool.writes

    def drawn(n: int) -> Requests:
        draws_hits = scenario.has_drawn_hits
        return workload.requests(capacity_bytes=capacity_bytes, n=n, seed=seed, with_cache_draws=draws_hits)

    def run_of(n: int, start: Start = begun) -> Run:
        return engine(replace(scenario, start=start), drawn(n))

    def begun_at(pace: _Pace) -> Start:
        return _begun_at(pace, scenario, workload, begun, drawn, History(workload, capacity_bytes, seed))

    if not workload.queue_depth:
        return begun_at(_Pace(workload.offered_rate_per_s))
    n = few_enough(_FIRST, scenario, workload, _LONGEST_S)
    n = few_enough_beside(n, run_of, scenario, workload)
    while True:
        run = run_of(n)
        cost = Cost.of(run, scenario, n, workload)
        longest = min(cost.within(current().allowed_s(_LONGEST_S), _LONGEST_BYTES), _LONGEST)
        longest = min(longest, _longest_beside(cost, run, n, scenario, workload))
        if run.end_ns >= _GROUPS * writes.group_ns or n >= longest:
            break
        needed = _GROUPS * writes.group_ns / max(run.end_ns, 1)
        n = min(math.ceil(n * min(_RESERVE * needed, _TIMES)), longest)
    early_per_s, per_s = _paces(run)
    # a processor that is short of time slows writers as well, once it has groups to write
    is_waiting = early_per_s > _FASTER * per_s and run.devices.busy_ns.mean() > _BUSY * run.end_ns
    pace = _Pace(per_s, is_waiting)
    if run.end_ns < _GROUPS * writes.group_ns and _fills(scenario, workload, drawn):
        # memory was still filling: how fast the disks are is seen where it is full
        full = begun_at(_Pace(1e9 / writes.longest_delay_ns, is_waiting=True, is_full=True))
        run = run_of(few_enough(_IN_FULL_MEMORY, scenario, workload, _LONGEST_S), full)
        taken_per_s = int(run.devices.write_bytes.sum()) / max(run.end_ns, 1) * 1e9
        copies = 1 if scenario.layout.n_parity else scenario.layout.n_disks // scenario.layout.n_groups
        record_bytes = pool.stored * pool.block * copies * scenario.drive.sector_bytes
        slow_per_s = taken_per_s * full.round_requests / max(full.group_records * record_bytes, 1)
        if early_per_s > _FASTER * slow_per_s:
            pace = _Pace(slow_per_s, is_waiting=True, is_full=True)
    return begun_at(pace)


class _Pace(NamedTuple):
    """How fast a load goes on.

    Attributes
    ----------
    per_s : float
        Requests per second.
    is_waiting : bool
        Whether its writes wait for the disks.
    is_full : bool
        Whether memory is then as full as it gets, however many groups that are.
    """

    per_s: float
    is_waiting: bool = False
    is_full: bool = False


def _begun_at(
    pace: _Pace,
    scenario: Scenario,
    workload: Workload,
    begun: Start,
    drawn: Callable[[int], Requests],
    history: History,
) -> Start:
    """Return the start of a pool with the group of a load that goes on at this pace."""
    pool, per_s = scenario.layout.pool, pace.per_s
    assert pool is not None
    writes = pool.writes
    begun = with_l2arc(begun, scenario, history, per_s)
    n_group = max(round(per_s * writes.group_ns / 1e9), 1)
    record_bytes = pool.record * scenario.drive.sector_bytes
    requests = drawn(min(n_group, _few_rows(workload, record_bytes)))
    first, last = _records_of(requests, record_bytes)
    rules = np.array([rule.sync for rule in requests.streams])
    long = scenario.drive.sector_bytes * writes.direct_from
    is_direct = (rules[requests.stream] >= Sync.DSYNC) & (requests.length >= long) & bool(writes.direct_from)
    is_write = requests.op == Op.WRITE
    touched = is_write & ~(is_direct & writes.is_logged)
    longer = n_group / len(requests)
    n_records = round(n_different(first[touched], last[touched]) * longer)
    n_dirty = round(n_different(first[is_write], last[is_write]) * longer)
    n_indirect = round(n_above(writes.n_records, writes.pointers, first[is_write], last[is_write]) * longer)
    dirty = max(n_dirty * pool.record + n_indirect * writes.indirect, 1)
    # a group is written before its time when it is large
    share = min(writes.dirty_group / dirty, 1.0)
    top = min(int(last.max()) + 1, writes.n_records)
    if pace.is_waiting:
        begun = _with_full_buffers(begun, scenario, top / writes.n_records)
    writes_per_s = per_s * is_write.mean()
    if pace.is_waiting and writes_per_s > 0:
        # what is dirty while writes are delayed to the pace of the disks is the group that begins
        held = writes.dirty_at(1e9 / writes_per_s) / dirty
        share = held if held <= _GROUPS or pace.is_full else share
    return replace(
        begun,
        group_records=min(round(n_records * share), writes.n_records),
        group_indirect=min(round(n_indirect * share), writes.n_records),
        group_top=top,
        round_requests=max(round(n_group * share), 1),
    )


def _fills(scenario: Scenario, workload: Workload, drawn: Callable[[int], Requests]) -> bool:
    """Return whether a load writes so many different records that memory fills, or goes on to write others."""
    pool = scenario.layout.pool
    assert pool is not None
    record_bytes = pool.record * scenario.drive.sector_bytes
    requests = drawn(_few_rows(workload, record_bytes))
    first, last = (column[requests.op == Op.WRITE] for column in _records_of(requests, record_bytes))
    n_all, half = n_different(first, last), len(first) // 2
    return n_all * pool.record >= pool.writes.delay_from or n_all > _FASTER * n_different(first[:half], last[:half])


def _few_rows(workload: Workload, record_bytes: int) -> int:
    """Return how many requests are drawn to see which records they have."""
    return min(_DRAWN, max(int(MAX_USES / max(workload.mean_size_bytes / record_bytes, 1.0)), 1))


def _records_of(requests: Requests, record_bytes: int) -> tuple[Int64, Int64]:
    """Return the first and the last record of each request."""
    return requests.offset // record_bytes, (requests.offset + requests.length - 1) // record_bytes


def _longest_beside(cost: Cost, run: Run, n: int, scenario: Scenario, workload: Workload) -> int:
    """Return the most requests of a run beside a resilver, which goes on while full memory waits for the disks."""
    if scenario.layout.sync_action == "none" or not run.end_ns:
        return _LONGEST
    work_s = cost.run_s * n / run.end_ns * 1e9
    writes = workload.mean_written_bytes / PAGE_BYTES * scenario.layout.copies
    disks_per_s = _PAGES_PER_S[scenario.drive.has_pages] * scenario.layout.n_disks / max(writes, 1e-12)
    return max(int(current().allowed_s(_LONGEST_S) / work_s * disks_per_s), n)


def _with_full_buffers(begun: Start, scenario: Scenario, top_ratio: float) -> Start:
    """Return a start with full buffers of all disks, of writes in order below the highest place that is taken.

    Where clients write all that disks can take, a run of less than a group would otherwise see nothing but buffers that
    fill.
    """
    layout = scenario.layout
    rows = drives_of(scenario.drive).full_of(scenario.drive, layout.data_offset + int(top_ratio * layout.member))
    if not rows:
        return begun
    disks = [disk for disk in range(layout.n_disks) if disk not in layout.failed]
    columns = np.array(rows, np.int64)
    buffered = np.concatenate([np.insert(columns[:, :2], 0, disk, axis=1) for disk in disks])
    return replace(begun, buffered=buffered, buffered_room=np.tile(columns[:, 2], len(disks)))


def _paces(run: Run) -> tuple[float, float]:
    """Return requests per second in the first part of a run from nothing, and in its second half."""
    done = np.sort(run.completions.done_ns)
    n, early = len(done), len(done) // _EARLY
    if not early:
        return (n / max(run.end_ns, 1) * 1e9,) * 2
    first, second = done[early - 1], done[-1] - done[n // 2 - 1]
    return early / max(first, 1) * 1e9, (n - n // 2) / max(second, 1) * 1e9


def n_different(first: Int64, last: Int64) -> int:
    """Return how many different records there are from each `first` to its `last`."""
    if not len(first):
        return 0
    order = np.argsort(first, kind="stable")
    first, last = first[order], last[order]
    before = np.maximum.accumulate(np.concatenate([first[:1] - 1, last[:-1]]))
    return int(np.maximum(last - np.maximum(first - 1, before), 0).sum())


def n_above(n_records: int, pointers: int, first: Int64, last: Int64) -> int:
    """Return the number of indirect blocks, of all levels, that point to records from each `first` to its `last`, of a
    pool of so many records, where each has so many pointers (rule X12).
    """
    level, n_found = n_records, 0
    while level > 1:
        level = -(-level // pointers)
        first, last = first // pointers, last // pointers
        n_found += n_different(first, last)
    return n_found
