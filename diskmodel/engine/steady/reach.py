"""What of a large read cache a run can reach: the rest is room that is taken, and need not be listed (rule Z4).

An engine reads one block after the other into a cache before its run begins, so that a cache of hundreds of gigabytes
would take longer than the run. Of a cache that evicts the least recently used block, a run of some thousand requests
reaches the blocks that it asks for, and the oldest ones, which it evicts. What lies between them stays where it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from diskmodel.engine.steady.past.history import ranges
from diskmodel.engine.steady.pools.arc import in_row, numbers_in_row
from diskmodel.engine.steady.start import ArcLists, Spread
from diskmodel.records import Int64, Op, Requests

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Blocks of a cache for each that a run may reach, from which on looking for those is less work than to begin with all.
_WORTH = 4
#: Places of the table in which a block is looked up by its last bits. At a quarter, every third block of a run of
#: 100,000 requests has to be looked at closely; at four times, the table does not fit into a processor's cache.
_TABLE = 1 << 20
_NONE = np.empty(0, np.int64)


def within_reach(scenario: Scenario, requests: Requests) -> Scenario:
    """Return the scenario with as much of its read cache as these requests can reach; its run is the same.

    Notes
    -----
    Let a run reach `u` different blocks. Each is brought in or moved to the front at most once before an old block of
    the cache goes, and each of these events takes one block from those that are older. So whatever has `u` blocks or
    more behind it stays; it is left out, and the cache is smaller by that.
    """
    start, caches = scenario.start, scenario.caches
    if start.arc is not None:
        return _of_an_arc(scenario, start.arc, requests)
    if len(start.pages_clean):
        return _of_the_host(scenario, requests)
    if caches is None or caches.policy != "lru" or not caches.read_blocks or not _is_direct(scenario, requests):
        return scenario
    first, count = _spans(requests, caches.block_sectors, caches.read_ahead_sectors, scenario.drive.sector_bytes)
    n_reached = int(count.sum())
    if len(start.cached) <= _WORTH * n_reached:
        return scenario
    regions = start.cached_regions
    if len(regions):
        reached = ranges(first, count)
        at = np.searchsorted(regions[:, 0], reached, side="right") - 1
        cached = reached[(at >= 0) & (reached < regions[at, 1])]
        n_held = int((regions[:, 1] - regions[:, 0]).sum())
    else:
        oldest, rest = np.split(start.cached, [n_reached])
        cached = np.concatenate([oldest, rest[_are_in(rest, first, count)]])
        n_held = len(start.cached)
    left_out = min(n_held - len(cached), caches.read_blocks - 1)
    kept = replace(start, cached=cached, cached_written=start.cached_written[:0], cached_apart=left_out)
    return replace(scenario, start=kept)


def _of_the_host(scenario: Scenario, requests: Requests) -> Scenario:
    """Return the scenario with those clean pages of the host that these requests can reach, if none is ever evicted.

    A memory of hundreds of gigabytes does not fill during a run.
    """
    host, sector_bytes, start = scenario.host_tables, scenario.drive.sector_bytes, scenario.start
    if host.page_cache is None or _adds_places(requests):
        return scenario
    page_bytes = host.page_sectors * sector_bytes
    # what is read ahead, whether a reader goes on or not
    ahead_bytes = (requests.op == Op.READ) * (host.read_ahead_sectors * sector_bytes)
    end = -(-(requests.offset + requests.length + ahead_bytes) // page_bytes)
    first, count = _runs(requests.offset // page_bytes, end)
    n_reached = int(count.sum())
    n_held = len(start.pages_clean) + len(start.pages_dirty)
    if len(start.pages_clean) <= n_reached or n_held + n_reached > host.page_cache.memory_pages:
        return scenario
    clean = start.pages_clean[_are_in(start.pages_clean, first, count)]
    return replace(scenario, start=replace(start, pages_clean=clean))


def _of_an_arc(scenario: Scenario, arc: ArcLists, requests: Requests) -> Scenario:
    """Return the scenario of a pool with those records of its ARC that these requests can reach.

    Each use of a record evicts one at most, and with it two names of evicted ones are forgotten at most: the oldest of
    each list are as many. What is neither among these nor used stays where it is (`ZfsArc`).
    """
    pool = scenario.layout.pool
    assert pool is not None
    first, count, n_uses = _record_spans(requests, pool.record * scenario.drive.sector_bytes, pool.reads.most)
    if arc.spread is None and arc.n_listed <= _WORTH * n_uses:
        return scenario
    before, n_before = _NONE, 0
    if arc.spread is not None:
        before, n_before = _of_a_spread(arc.spread, first, count, n_uses)
    kept, apart = [], [n_before, 0, 0, 0]
    for at, blocks in enumerate(arc.lists):
        oldest, rest = np.split(blocks, [min(2 * n_uses, len(blocks))])
        rest = rest[_are_in(rest, first, count)]
        kept.append(np.concatenate([oldest, rest]))
        apart[at] += len(blocks) - len(kept[-1])
    recent, frequent, was_recent, was_frequent = kept
    recent = np.concatenate([before, recent])
    few = ArcLists(recent, frequent, was_recent, was_frequent, arc.apart + apart, arc.share)
    return replace(scenario, start=replace(scenario.start, arc=few))


def _of_a_spread(spread: Spread, first: Int64, count: Int64, n_uses: int) -> tuple[Int64, int]:
    """Return the records of a spread that so many uses, of these runs of records, reach, and how many others it has."""
    n_oldest, listed = n_uses, []
    for row, again in zip(spread.rows, spread.again, strict=True):
        oldest = np.arange(min(n_oldest + len(again), int(row[1])))
        numbers = numbers_in_row(row, first, count)
        found = np.concatenate([oldest, numbers[np.searchsorted(numbers, len(oldest)) :]])
        found = np.delete(found, _are_in(found, again, np.ones_like(again)))
        listed.append(in_row(row, found))
        n_oldest = max(n_oldest - len(oldest) + int(np.count_nonzero(again < len(oldest))), 0)
    records = np.concatenate(listed)
    return records, spread.n_records - spread.n_again - len(records)


def _record_spans(requests: Requests, record_bytes: int, n_ahead: int) -> tuple[Int64, Int64, int]:
    """Return the runs of records that requests, and what is read ahead of them, can ask for, and the uses of records.

    As `Streams`: a reader goes on who comes to the record at which one ended, or to the next.
    """
    first, end = requests.offset // record_bytes, -(-(requests.offset + requests.length) // record_bytes)
    n_uses = int((end - first).sum())
    if n_ahead:
        reads = requests.op == Op.READ
        ends, n_ends = np.unique(end[reads], return_counts=True)
        # other reads that end in or behind the first record, not the read itself
        n_there = sum(_counts_of(place, ends, n_ends) for place in (first, first + 1))
        goes_on = reads & (n_there > (end == first + 1))
        end = end + goes_on * n_ahead
    return *_runs(first, end), n_uses


def _counts_of(places: Int64, ascending: Int64, counts: Int64) -> Int64:
    """Return the counts of places, of which those that are counted are in ascending order."""
    if not len(ascending):
        return np.zeros(len(places), np.int64)
    at = np.minimum(np.searchsorted(ascending, places), len(ascending) - 1)
    found: Int64 = np.where(ascending[at] == places, counts[at], 0)
    return found


def _is_direct(scenario: Scenario, requests: Requests) -> bool:
    """Whether what reaches the controller is what was asked for: no memory, log or journal adds places of its own."""
    if scenario.layout.pool is not None or scenario.host.page_cache is not None:
        return False
    return not _adds_places(requests)


def _adds_places(requests: Requests) -> bool:
    """Whether a log or a journal adds places of its own to what was asked for."""
    return any(rule.log_bytes or rule.journal_bytes for rule in requests.streams)


def _spans(requests: Requests, block_sectors: int, ahead_sectors: int, sector_bytes: int) -> tuple[Int64, Int64]:
    """Return the runs of blocks that requests, and what is read ahead of them, can ask for: first blocks, numbers."""
    block_bytes = block_sectors * sector_bytes
    begin, end = requests.offset, requests.offset + requests.length
    if ahead_sectors:
        # a reader that goes on where one ended has more read
        reads = requests.op == Op.READ
        goes_on = reads & np.isin(begin // sector_bytes, -(-end[reads] // sector_bytes))
        end = end + goes_on * (ahead_sectors * sector_bytes)
    return _runs(begin // block_bytes, -(-end // block_bytes))


def _runs(first: Int64, stop: Int64) -> tuple[Int64, Int64]:
    """Return the runs of numbers that ranges cover together: the first ones, and how many."""
    order = np.argsort(first, kind="stable")
    first, stop = first[order], stop[order]
    if not len(first):
        return first, stop
    # where a span begins beyond all before it, a new run of blocks does
    furthest = np.maximum.accumulate(stop)
    is_new = np.ones(len(first), np.bool_)
    is_new[1:] = first[1:] > furthest[:-1]
    at = np.flatnonzero(is_new)
    return first[at], np.maximum.reduceat(stop, at) - first[at]


def _are_in(blocks: Int64, first: Int64, count: Int64) -> Int64:
    """Return at which positions a block is in one of the runs, which are in ascending order."""
    if not len(first):
        return np.empty(0, np.int64)
    n = int(count.sum())
    maybe: Int64 | slice = slice(None)
    if n <= _TABLE // 2:
        table = np.zeros(_TABLE, np.bool_)
        table[ranges(first, count) & (_TABLE - 1)] = True
        maybe = np.flatnonzero(table[blocks & (_TABLE - 1)])
    asked = blocks[maybe]
    run = np.searchsorted(first, asked, side="right") - 1
    is_in = (run >= 0) & (asked < (first + count)[run])
    return np.flatnonzero(is_in) if isinstance(maybe, slice) else maybe[is_in]
