"""What the ARC of a pool holds after a long time of a workload (rule Z4)."""

from __future__ import annotations

import numpy as np

from diskmodel.engine.compiled import kernel as _kernel
from diskmodel.engine.ledger import current
from diskmodel.engine.steady.past.blocks import RECENT_KEPT, n_blocks_of, region_blocks, regions_of
from diskmodel.engine.steady.past.history import History, distinct, ranges
from diskmodel.engine.steady.past.keeping import kept
from diskmodel.engine.steady.start import ArcLists, Spread
from diskmodel.records import Int64
from diskmodel.workload import Sequential, SortedBatches, Strided

#: Uses of records for each that a pool's ARC has room for: its balance is slow. With Zipf's popularity (theta 1, an ARC
#: of 11,000 of 5.6 million records) reads hit 46.7 % after 4, 49.1 % after 20, 52.1 % after 70 and 52.9 % after 150.
_USES_PER_RECORD = 64
#: Records at most that are listed beside those of the past, where a cache device takes what an ARC evicts: 128 GiB of
#: records of 16 KiB. At half, ARCs of large servers begin half full; at double, a question takes more than 1 GB.
MAX_BESIDE = 1 << 23
#: Computing time of a use that fills an ARC, seconds: eight million took 2.8 s, of which 1.2 s are of the lists, 0.7 s
#: of which records they are, and 0.5 s of those that are used again. At half, `explain` of a large ARC takes 40 s.
_USE_S = 0.33e-6


def uses_to_fill_arc(n: int, n_more: int) -> int:
    """Uses that fill a pool's ARC of `n` records, and so many more."""
    return _USES_PER_RECORD * n + n_more


@kept(RECENT_KEPT)
def arc_uses(history: History, n: int, record_bytes: int, n_more: int = 0) -> tuple[Int64, Int64]:
    """Uses that fill a pool's ARC of `n` records, and `n_more`; and the numbers of those that wrote, ascending.

    The past's requests may be too few for it (rule Z4): what is left then holds records of the streams with random
    places, at equal distances over their regions, so many of each as it has requests. What is popular is in the past.
    """
    past, are_written = history.marked_uses(uses_to_fill_arc(n, n_more), record_bytes)
    before = _beside(past, history, n, record_bytes)
    return np.concatenate([before, past]), len(before) + np.flatnonzero(are_written)


def _beside(past: Int64, history: History, n: int, record_bytes: int) -> Int64:
    """Records that an ARC of `n` has beside those of the past: all of them, if they fit."""
    region = region_blocks(history, n, record_bytes)
    if len(region):
        return region
    used = distinct(past)
    rows = _spread_rows(used, history, min(n - len(used), MAX_BESIDE), record_bytes)
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(in_row(row, np.arange(row[1])) for row in rows)])


def _spread_rows(used: Int64, history: History, left: int, record_bytes: int) -> Int64:
    """Rows of about `left` records beside those that the past has used, as those of `Spread`."""
    streams = [s for s in history.workload.streams if not isinstance(s.addresses, Sequential | Strided | SortedBatches)]
    total = sum(stream.row_weight for stream in history.workload.streams)
    held: dict[tuple[int, int], int] = {}
    for stream in streams if left > 0 and total else ():
        space = history.workload.space(stream, history.capacity_bytes)
        first, n_records = space.first_byte // record_bytes, max(space.span_bytes // record_bytes, 1)
        # those that fall on records of the past are no others: so many more are taken
        n_used = int(np.count_nonzero((used >= first) & (used < first + n_records)))
        n_own = round(left * stream.row_weight / total / max(1 - n_used / n_records, 0.01))
        # streams with the same region share what is held of it
        held[first, n_records] = min(held.get((first, n_records), 0) + n_own, n_records)
    return np.array([(first, n, of) for (first, of), n in held.items() if n], np.int64).reshape(-1, 3)


def in_row(row: Int64, numbers: Int64) -> Int64:
    """Return the records with these numbers, from 0 on, of a row of a `Spread`."""
    first, held, of = row.tolist()
    found: Int64 = first + numbers * of // held
    return found


def numbers_in_row(row: Int64, first: Int64, count: Int64) -> Int64:
    """Return the numbers of those records that a row of a `Spread` has, of runs of records in ascending order."""
    row_first, held, of = row.tolist()
    begin, end = (np.clip(places - row_first, 0, of) for places in (first, first + count))
    # a record lies at or behind a place if its number is the place's share of the row or more
    begin, end = (-(-places * held // of) for places in (begin, end))
    return ranges(begin, end - begin)


def _uses_beside(history: History, n: int, record_bytes: int) -> tuple[Int64, Int64, Int64, tuple[Int64, ...]]:
    """Uses that fill an ARC of `n` records, the numbers of those that wrote, and the parts of the `Spread` before them.

    As `arc_uses`, without a list of what no run reaches. Records of the `Spread` that the past uses again are the first
    of the uses.
    """
    regions = regions_of(history, record_bytes)
    if len(regions) and n_blocks_of(regions) <= n:  # nothing is ever evicted, whatever was used when
        n_records = regions[:, 1] - regions[:, 0]
        nothing = np.empty(0, np.int64)
        return nothing, nothing, np.stack([regions[:, 0], n_records, n_records], axis=1), (nothing,) * len(regions)
    past, are_written = history.marked_uses(uses_to_fill_arc(n, 0), record_bytes)
    used = distinct(past)
    rows = _spread_rows(used, history, n - len(used), record_bytes)
    in_order = rows[np.argsort(rows[:, 0], kind="stable")]
    if (in_order[1:, 0] < in_order[:-1, 0] + in_order[:-1, 2]).any():  # a record would be in two of them
        cached, written = arc_uses(history, n, record_bytes)
        return cached, written, np.empty((0, 3), np.int64), ()
    while True:
        again = tuple(numbers_in_row(row, used, np.ones_like(used)) for row in rows)
        n_again = sum(map(len, again))
        n_over = int(rows[:, 1].sum()) + len(used) - n_again - n
        if n_over <= 0 or not len(rows):
            cached = np.concatenate([*(in_row(row, of) for row, of in zip(rows, again, strict=True)), past])
            return cached, n_again + np.flatnonzero(are_written), rows, again
        most = int(np.argmax(rows[:, 1]))
        rows[most, 1] = max(rows[most, 1] - n_over, 0)
        rows = rows[rows[:, 1] > 0]


@kept(RECENT_KEPT)
def _filled(
    history: History, n: int, record_bytes: int
) -> tuple[tuple[Int64, ...], int, int, Int64, tuple[Int64, ...]]:
    """Return an ARC's lists after its uses, its share, how many uses there were, and the parts of its `Spread`."""
    cached, written, rows, again = _uses_beside(history, n, record_bytes)
    lists, share = _kernel.arc_after(n, cached, written)
    return tuple(lists), share, len(cached), rows, again


def arc_lists(history: History, n: int, record_bytes: int) -> ArcLists:
    """Return what a pool's ARC of `n` records holds after a long time, as `arc_uses` leaves it."""
    past = history.shared.placed.rounded
    lists, share, n_uses, rows, again = _filled(past, n, record_bytes)
    current().enter_once((arc_lists.__name__, past, n, record_bytes), _USE_S * n_uses)
    recent, frequent, was_recent, was_frequent = lists
    spread = Spread(rows, again) if len(rows) else None
    return ArcLists(recent, frequent, was_recent, was_frequent, np.zeros(4, np.int64), share, spread)
