"""What the ARC and the cache devices of a pool hold after a long time (rules Z4 and Z13)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from diskmodel.engine.steady.past.history import MAX_ROWS, History
from diskmodel.engine.steady.pools.arc import arc_lists, arc_uses, uses_to_fill_arc
from diskmodel.engine.steady.pools.turn import Kinds, Turn
from diskmodel.engine.steady.start import EMPTY, Start
from diskmodel.loading import dataclass
from diskmodel.records import Int64
from diskmodel.workload import Sequential, SortedBatches, Strided

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: The step from one record to the next that is on the L2ARC, as a share of a region: the golden section, which leaves
#: no large gaps wherever it stops.
_STEP = (math.sqrt(5) - 1) / 2
#: Uses of records in the past for each slot of the L2ARC: records that are not on it come to it in a few turns. With a
#: quarter an L2ARC of popular records begins with a fifth fewer hits than it has in the long run.
_USES_PER_SLOT = 8
#: Pasts that are kept.
_KEPT = 4


@dataclass(frozen=True)
class _Part:
    """Records of the pool that the same streams touch, and whether any of these goes to random places."""

    first: int
    n: int
    is_random: bool


def with_arc(scenario: Scenario, history: History) -> Start:
    """Return the start of a pool with what came into its ARC, if that has a size (rule Z4)."""
    caches = scenario.caches
    if caches is None or not caches.read_blocks:
        return EMPTY
    record_bytes = caches.block_sectors * scenario.drive.sector_bytes
    pool = scenario.layout.pool
    if pool is None or pool.l2arc is None:
        return replace(EMPTY, arc=arc_lists(history, caches.read_blocks, record_bytes))
    cached, written = arc_uses(history, caches.read_blocks, record_bytes, _l2arc_uses(scenario))
    return replace(EMPTY, cached=cached, cached_written=written)


def _l2arc_uses(scenario: Scenario) -> int:
    """Return the uses of records beyond those for the ARC that the past is to have for the L2ARC."""
    pool = scenario.layout.pool
    return 0 if pool is None or pool.l2arc is None else _USES_PER_SLOT * pool.l2arc.slots


def with_l2arc(begun: Start, scenario: Scenario, history: History, per_s: float) -> Start:
    """Return the start of a pool with what its cache devices hold, beside the ARC that `begun` has.

    Parameters
    ----------
    per_s : float
        Requests that come in a second; only asked where some of them write.
    """
    pool, caches = scenario.layout.pool, scenario.caches
    if pool is None or pool.l2arc is None or caches is None or not len(begun.cached):
        return begun
    record_bytes = pool.record * scenario.drive.sector_bytes
    n_arc, n_uses = caches.read_blocks, uses_to_fill_arc(caches.read_blocks, _l2arc_uses(scenario))
    if not len(history.marked_uses(n_uses, record_bytes)[0]):
        return begun  # flushes alone use no records
    parts = _parts_of(history, record_bytes, pool.writes.n_records)
    if sum(part.n for part in parts) > pool.l2arc.slots:
        parts = [part for part in parts if part.is_random]
    past = _past_of(history, n_uses, record_bytes, n_arc)
    slower = max(per_s * past.entering / pool.l2arc.feed_per_s, 1.0) if history.workload.has_writes else 1.0
    # feeds that keep up find what is used at once, where they look at the whole list that it is in; where nothing is
    # written it makes no difference
    seen = pool.l2arc.headroom if history.workload.has_writes and slower == 1 else 0
    n_kept = past.n_kept if n_arc > seen else 0.0
    kinds = [_kinds(history, n_uses, record_bytes, past.rows, n_kept, part) for part in parts]
    turn = Turn.of(kinds, pool.l2arc.slots, 1 / slower)
    lost_at, lost, n_left_out = _lost(history, n_uses, record_bytes, slower)
    before = len(begun.cached) - past.n_uses
    return replace(
        begun,
        l2arc=np.array([(part.first, part.n, _step_of(part.n)) for part in parts], np.int64).reshape(-1, 3),
        l2arc_ages=np.concatenate([EMPTY.l2arc_ages, *(turn.ages(one) for one in kinds)]),
        l2arc_taken=turn.taken,
        l2arc_from=before + n_left_out,
        l2arc_seen=min(seen, pool.writes.n_records),
        l2arc_lost=lost,
        l2arc_lost_at=before + lost_at,
    )


@dataclass(frozen=True)
class _Past:
    """What the past shows: its requests and uses of records; how many records enter the ARC for a request, and for how
    many requests one stays there that is not used again."""

    rows: int
    n_uses: int
    entering: float
    n_kept: float


@lru_cache(maxsize=_KEPT)
def _past_of(history: History, n: int, record_bytes: int, n_arc: int) -> _Past:
    uses, _ = history.marked_uses(n, record_bytes)
    rows = max(history.rows_of_uses(n, record_bytes), 1)
    share, n_kept = _entering(uses, n_arc)
    return _Past(rows, len(uses), share * len(uses) / rows, n_kept * rows / max(len(uses), 1))


@lru_cache(maxsize=_KEPT)
def _kinds(history: History, n: int, record_bytes: int, n_requests: int, n_kept: float, part: _Part) -> Kinds:
    uses, are_written = history.marked_uses(n, record_bytes)
    is_in = (uses >= part.first) & (uses < part.first + part.n)
    return Kinds.of(uses[is_in], are_written[is_in], n_records=part.n, n_requests=n_requests, n_kept=n_kept)


def _lost(history: History, n: int, record_bytes: int, times: float) -> tuple[Int64, Int64, int]:
    """Return the records that the L2ARC loses before which of the past's uses, `times` as many as these write.

    The first uses are left out, of which the number is returned, if they are too many.
    """
    uses, are_written = history.marked_uses(n, record_bytes)
    at = np.flatnonzero(are_written)
    n_left_out = 0
    if len(at) * times > MAX_ROWS:
        n_left_out = int(at[len(at) - int(MAX_ROWS / times)])
        at = at[at >= n_left_out]
    n_more = int((times - 1) * len(at))
    if not n_more:
        return at, uses[at], n_left_out
    # other writes of the same load
    others = replace(history, seed=history.seed + 1)
    more = others.uses(n_more, record_bytes, only_writes=True)
    at_more = at[np.arange(len(more)) * len(at) // max(len(more), 1)]
    both = np.concatenate([at, at_more])
    order = np.argsort(both, kind="stable")
    return both[order], np.concatenate([uses[at], more])[order], n_left_out


def _parts_of(history: History, record_bytes: int, n_records: int) -> list[_Part]:
    """Return the records that the streams touch, divided where one of their regions begins or ends."""
    regions = []
    for stream in history.workload.streams:
        space = history.workload.space(stream, history.capacity_bytes)
        first = space.first_byte // record_bytes
        end = min(-(-(space.first_byte + space.span_bytes) // record_bytes), n_records)
        regions.append((first, end, not isinstance(stream.addresses, Sequential | Strided | SortedBatches)))
    cuts = sorted({cut for first, end, _ in regions for cut in (first, end)})
    parts = []
    for first, end in pairwise(cuts):
        over = [is_random for f, e, is_random in regions if f <= first and end <= e]
        if over:
            parts.append(_Part(first, end - first, any(over)))
    return parts


def _step_of(n: int) -> int:
    """Return a step of about the golden section of `n` that has no divisor in common with it."""
    step = int(n * _STEP)
    while math.gcd(step, n) > 1:
        step += 1
    return step


def _entering(uses: Int64, n: int) -> tuple[float, float]:
    """Return the share of uses of records that an ARC of `n` has to take in, and for how many uses it keeps a record.

    As for a cache that evicts what was used longest ago: it keeps what is among the last `n` different ones.
    """
    order = np.argsort(uses, kind="stable")
    in_order = uses[order]
    is_first = np.ones(len(uses), np.bool_)
    is_first[1:] = in_order[1:] != in_order[:-1]
    before = np.full(len(uses), -1, np.int64)
    before[order[1:]] = np.where(is_first[1:], -1, order[:-1])
    is_last = np.ones(len(uses), np.bool_)
    is_last[before[before >= 0]] = False
    n_different = np.cumsum(is_last[::-1])
    if n_different[-1] <= n:
        return float(is_first.mean()), math.inf
    span = int(np.searchsorted(n_different, n)) + 1
    # those before have no past to be compared with
    seen = np.arange(len(uses)) >= min(span, len(uses) // 2)
    is_missed = (before < 0) | (np.arange(len(uses)) - before > span)
    return float(is_missed[seen].mean()), span
