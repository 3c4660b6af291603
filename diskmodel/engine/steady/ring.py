"""What the ARC and the cache devices of a pool hold after a long time (rules Z4 and Z13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from diskmodel.engine.steady.contents import arc_uses, uses_to_fill_arc
from diskmodel.engine.steady.recent import MAX_ROWS, History, distinct
from diskmodel.engine.steady.start import EMPTY, Start
from diskmodel.records import Int64
from diskmodel.workload.addresses import Sequential, SortedBatches, Strided

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: The step from one record to the next that is on the ring, as a share of a region: the golden section, which leaves no
#: large gaps wherever it stops.
_STEP = (math.sqrt(5) - 1) / 2
#: Rounds in which the turn of the ring is found; each brings it at least half way closer.
_ROUNDS = 60
#: Uses of records in the past for each slot of the ring: records that are not on it come to it in a few turns. With a
#: quarter a ring of popular records begins with a fifth fewer hits than it has in the long run.
_USES_PER_SLOT = 8
#: Pasts that are kept.
_KEPT = 4


@dataclass(frozen=True)
class _Part:
    """Records of the pool that the same streams touch: their share of the uses, by random places and by all streams."""

    first: int
    n: int
    random_share: float
    written_share: float


def with_arc(scenario: Scenario, history: History) -> Start:
    """Return the start of a pool with what came into its ARC, if that has a size (rule Z4)."""
    caches = scenario.caches
    if caches is None or not caches.read_blocks:
        return EMPTY
    record_bytes = caches.block_sectors * scenario.drive.sector_bytes
    cached, written = arc_uses(history, caches.read_blocks, record_bytes, _ring_uses(scenario))
    return replace(EMPTY, cached=cached, cached_written=written)


def _ring_uses(scenario: Scenario) -> int:
    """Return the uses of records beyond those for the ARC that the past is to have for the ring."""
    pool = scenario.layout.pool
    return 0 if pool is None or pool.ring is None else _USES_PER_SLOT * pool.ring.slots


def with_ring(begun: Start, scenario: Scenario, history: History, per_s: float) -> Start:
    """Return the start of a pool with what its cache devices hold, beside the ARC that `begun` has.

    Parameters
    ----------
    per_s : float
        Requests that come in a second; only asked where some of them write.
    """
    pool, caches = scenario.layout.pool, scenario.caches
    if pool is None or pool.ring is None or caches is None or not len(begun.cached):
        return begun
    slots, record_bytes = pool.ring.slots, pool.record * scenario.drive.sector_bytes
    n_arc, parts = caches.read_blocks, _parts_of(history, record_bytes, pool.writes.n_records)
    nominal, n_all = _nominal(parts, slots), sum(part.n for part in parts)
    n_uses = uses_to_fill_arc(n_arc, _ring_uses(scenario))
    if not history.workload.has_writes:
        share = min(sum(nominal) / max(n_all, 1), 1.0)
        n_evicted = max(_n_different(history, n_uses, record_bytes) - n_arc, 0)
        left = max(slots - round(n_evicted * (1 - share)), 0) / slots if share < 1 else 1.0
        return replace(
            begun, ring=_regions(parts, [min(n * left, part.n) for n, part in zip(nominal, parts, strict=True)])
        )
    past = _past_of(history, n_uses, record_bytes, n_arc)
    slower = max(per_s * past.entering / pool.ring.feed_per_s, 1.0)
    rates = [past.written * part.written_share / part.n for part in parts]
    share_written = min(past.written / max(past.entering, 1e-9), 1.0)
    turn = _turn(parts, nominal, rates, slots, past.entering / slower, share_written)
    lost_at, lost, n_left_out = _lost(history, n_uses, record_bytes, slower)
    seen = slower * past.rows * (1 - n_left_out / max(past.n_uses, 1))
    young = min(seen, turn)
    kept = [
        min(n * (1 - young / turn) * _left_between(rate, young, turn), part.n)
        for n, rate, part in zip(nominal, rates, parts, strict=True)
    ]
    before = len(begun.cached) - past.n_uses
    return replace(
        begun,
        ring=_regions(parts, kept),
        ring_from=before + n_left_out,
        ring_lost=lost,
        ring_lost_at=before + lost_at,
    )


@dataclass(frozen=True)
class _Past:
    """What the past shows: its requests and uses of records; and per request those that enter the ARC, and writes."""

    rows: int
    n_uses: int
    entering: float
    written: float


@lru_cache(maxsize=_KEPT)
def _past_of(history: History, n: int, record_bytes: int, n_arc: int) -> _Past:
    uses, are_written = history.marked_uses(n, record_bytes)
    rows = max(history.rows_of_uses(n, record_bytes), 1)
    entering = _entering(uses, n_arc) * len(uses) / rows
    return _Past(rows, len(uses), entering, int(are_written.sum()) / rows)


@lru_cache(maxsize=_KEPT)
def _n_different(history: History, n: int, record_bytes: int) -> int:
    return len(distinct(history.marked_uses(n, record_bytes)[0]))


def _lost(history: History, n: int, record_bytes: int, times: float) -> tuple[Int64, Int64, int]:
    """Return the records that the ring loses before which of the past's uses, `times` as many as these write.

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
    workload, capacity_bytes = history.workload, history.capacity_bytes
    total = sum(stream.row_weight for stream in workload.streams)
    total_written = sum(stream.row_weight * stream.write_ratio for stream in workload.streams)
    regions = []
    for stream in workload.streams:
        space = workload.space(stream, capacity_bytes)
        first = space.first_byte // record_bytes
        end = min(-(-(space.first_byte + space.span_bytes) // record_bytes), n_records)
        is_random = not isinstance(stream.addresses, Sequential | Strided | SortedBatches)
        weight = stream.row_weight / total
        written = stream.row_weight * stream.write_ratio / total_written if total_written else 0.0
        if end > first:
            regions.append((first, end, weight if is_random else 0.0, written))
    cuts = sorted({cut for first, end, *_ in regions for cut in (first, end)})
    parts = []
    for first, end in pairwise(cuts):
        over = [((end - first) / (e - f), r, w) for f, e, r, w in regions if f <= first and end <= e]
        if over:
            random, written = (sum(share * one[at] for share, *one in over) for at in (0, 1))
            parts.append(_Part(first, end - first, random, written))
    return parts


def _nominal(parts: Sequence[_Part], slots: int) -> list[float]:
    """Return the slots that the records of each part take, if all of them are of random places; as all, if they fit."""
    n_all = sum(part.n for part in parts)
    if n_all <= slots:
        return [slots * part.n / n_all for part in parts]
    found = [0.0] * len(parts)
    left = float(slots)
    open_parts = {at for at, part in enumerate(parts) if part.random_share}
    while open_parts and left > 0:
        total = sum(parts[at].random_share for at in open_parts)
        full = {at for at in open_parts if left * parts[at].random_share / total >= parts[at].n}
        if not full:
            for at in open_parts:
                found[at] = left * parts[at].random_share / total
            break
        for at in full:
            found[at] = float(parts[at].n)
            left -= parts[at].n
        open_parts -= full
    return found


def _regions(parts: Sequence[_Part], kept: Sequence[float]) -> Int64:
    """Return parts as the rows of `Start.ring`."""
    rows = [(part.first, part.n, int(n), _step_of(part.n)) for part, n in zip(parts, kept, strict=True) if n >= 1]
    return np.array(rows, np.int64).reshape(-1, 4)


def _step_of(n: int) -> int:
    """Return a step of about the golden section of `n` that has no divisor in common with it."""
    step = int(n * _STEP)
    while math.gcd(step, n) > 1:
        step += 1
    return step


def _entering(uses: Int64, n: int) -> float:
    """Return the share of uses of records that an ARC of `n` has to take in: those not used for as long as it keeps.

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
        return float(is_first.mean())
    span = int(np.searchsorted(n_different, n)) + 1
    # those before have no past to be compared with
    seen = np.arange(len(uses)) >= min(span, len(uses) // 2)
    is_missed = (before < 0) | (np.arange(len(uses)) - before > span)
    return float(is_missed[seen].mean())


def _turn(
    parts: Sequence[_Part],
    nominal: Sequence[float],
    rates: Sequence[float],
    slots: int,
    entering: float,
    written: float,
) -> float:
    """Return the requests that come while the ring goes round once.

    `entering` records are fed with each request, if none of them is on the ring. A share `written` of them was written,
    and is not; of the others as many are as the ring has of all.
    """
    n_all = sum(part.n for part in parts)
    turn = slots / max(entering, 1e-12)
    for _ in range(_ROUNDS):
        on = [
            min(n * _left_between(rate, 0.0, turn), part.n) for n, rate, part in zip(nominal, rates, parts, strict=True)
        ]
        new = written + (1 - written) * (1 - min(sum(on) / n_all, 1.0))
        turn = math.sqrt(turn * slots / max(entering * new, 1e-12))
    return turn


def _left_between(rate: float, begin: float, end: float) -> float:
    """Return the share of records of ages between two that were not written since; `rate` is of each, per request."""
    if rate * (end - begin) < 1e-9:
        return math.exp(-rate * begin)
    return (math.exp(-rate * begin) - math.exp(-rate * end)) / (rate * (end - begin))
