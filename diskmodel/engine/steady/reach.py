"""What of a large read cache a run can reach: the rest is room that is taken, and need not be listed (rule Z4).

An engine reads one block after the other into a cache before its run begins, so that a cache of hundreds of gigabytes
would take longer than the run. Of a cache that evicts the least recently used block, a run of some thousand requests
reaches the blocks that it asks for, and the oldest ones, which it evicts. What lies between them stays where it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from diskmodel.engine.steady.recent import ranges
from diskmodel.records import Int64, Op, Requests

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Blocks of a cache for each that a run may reach, from which on looking for those is less work than to begin with all.
_WORTH = 4
#: Places of the table in which a block is looked up by its last bits. At a quarter, every third block of a run of
#: 100,000 requests has to be looked at closely; at four times, the table does not fit into a processor's cache.
_TABLE = 1 << 20


def within_reach(scenario: Scenario, requests: Requests) -> Scenario:
    """Return the scenario with as much of its read cache as these requests can reach; its run is the same.

    Notes
    -----
    Let a run reach `u` different blocks. Each is brought in or moved to the front at most once before an old block of
    the cache goes, and each of these events takes one block from those that are older. So whatever has `u` blocks or
    more behind it stays; it is left out, and the cache is smaller by that.
    """
    start, caches = scenario.start, scenario.caches
    if caches is None or caches.policy != "lru" or not caches.read_blocks or not _is_direct(scenario, requests):
        return scenario
    first, count = _spans(requests, caches.block_sectors, caches.read_ahead_sectors, scenario.drive.sector_bytes)
    n_reached = int(count.sum())
    if len(start.cached) <= _WORTH * n_reached:
        return scenario
    reached = ranges(first, count)
    regions = start.cached_regions
    if len(regions):
        at = np.searchsorted(regions[:, 0], reached, side="right") - 1
        cached = reached[(at >= 0) & (reached < regions[at, 1])]
        n_held = int((regions[:, 1] - regions[:, 0]).sum())
    else:
        oldest, rest = np.split(start.cached, [n_reached])
        cached = np.concatenate([oldest, rest[_are_in(rest, reached)]])
        n_held = len(start.cached)
    left_out = min(n_held - len(cached), caches.read_blocks - 1)
    kept = replace(start, cached=cached, cached_written=start.cached_written[:0], cached_apart=left_out)
    return replace(scenario, start=kept)


def _is_direct(scenario: Scenario, requests: Requests) -> bool:
    """Whether what reaches the controller is what was asked for: no memory, log or journal adds places of its own."""
    if scenario.layout.pool is not None or scenario.host.page_cache is not None:
        return False
    return not any(rule.log_bytes or rule.journal_bytes for rule in requests.streams)


def _spans(requests: Requests, block_sectors: int, ahead_sectors: int, sector_bytes: int) -> tuple[Int64, Int64]:
    """Return the runs of blocks that requests, and what is read ahead of them, can ask for: first blocks, numbers."""
    block_bytes = block_sectors * sector_bytes
    begin, end = requests.offset, requests.offset + requests.length
    if ahead_sectors:
        # a reader that goes on where one ended has more read
        reads = requests.op == Op.READ
        goes_on = reads & np.isin(begin // sector_bytes, -(-end[reads] // sector_bytes))
        end = end + goes_on * (ahead_sectors * sector_bytes)
    order = np.argsort(begin, kind="stable")
    first, stop = begin[order] // block_bytes, -(-end[order] // block_bytes)
    if not len(first):
        return first, stop
    # where a span begins beyond all before it, a new run of blocks does
    furthest = np.maximum.accumulate(stop)
    is_new = np.ones(len(first), np.bool_)
    is_new[1:] = first[1:] > furthest[:-1]
    at = np.flatnonzero(is_new)
    return first[at], np.maximum.reduceat(stop, at) - first[at]


def _are_in(blocks: Int64, ascending: Int64) -> Int64:
    """Return at which positions a block is one of the others."""
    table = np.zeros(_TABLE, np.bool_)
    table[ascending & (_TABLE - 1)] = True
    maybe = np.flatnonzero(table[blocks & (_TABLE - 1)])
    if not len(ascending):
        return maybe
    asked = blocks[maybe]
    found = ascending[np.minimum(np.searchsorted(ascending, asked), len(ascending) - 1)]
    positions: Int64 = maybe[found == asked]
    return positions
