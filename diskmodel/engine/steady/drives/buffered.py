"""Writes that the buffers of drives hold, and what flash drives have programmed before them (rule Z5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskmodel.engine.steady.past.history import History, stable_order
from diskmodel.engine.steady.past.keeping import kept
from diskmodel.engine.steady.start import EMPTY
from diskmodel.layout import VolumeTables, Written
from diskmodel.layout.written import written
from diskmodel.records import Int64

#: What drives hold is kept of so many pasts: the rates and draws of an array have one, with buffers at the mark and
#: full, and two searches have theirs at the same time.
_HELD_KEPT = 4
#: Multiples of it, modulo 1, are spread evenly, however many there are.
_GOLDEN = (5**0.5 - 1) / 2


class LastWrites(NamedTuple):
    """The last writes of a past to the disks of an array.

    Attributes
    ----------
    history : History
    layout : VolumeTables
    sector_bytes : int
    n_bytes : int
        Of the array's requests.
    """

    history: History
    layout: VolumeTables
    sector_bytes: int
    n_bytes: int

    def drawn(self) -> Written:
        """Return them, the latest last."""
        offset, length = self.history.writes(self.n_bytes)
        first = offset // self.sector_bytes
        return written(self.layout, first, -(-(offset + length) // self.sector_bytes) - first)


@kept(_HELD_KEPT)
def held_by_flash(last: LastWrites, per_unit: int, room: int, among: int) -> tuple[Int64, Int64]:
    """Writes that flash drives have programmed, `staggered`, and those in their buffers (`by_disk`)."""
    programmed, buffered = by_disk(last.drawn(), per_unit, room)
    return staggered(programmed, per_unit, among), buffered


@kept(_HELD_KEPT)
def held_by_disks(last: LastWrites, longest: int, border: int, room: int, least: int) -> tuple[Int64, Int64]:
    """Writes that the buffers of hard disks hold, and the room of each (`joined`)."""
    return joined(last.drawn(), longest, border, room, least)


def by_disk(writes: Written, per_unit: int, room: int) -> tuple[Int64, Int64]:
    """Writes that flash drives have programmed, and the last ones, which fill `room` sectors of the buffer of each.

    Each unit of a write takes the room of `per_unit` sectors; a write of which only the end has room is divided.
    """
    order = np.argsort(writes.disk, kind="stable")[::-1]  # by disk, the latest first
    disk, lba, end = writes.disk[order], writes.lba[order], writes.n[order]
    del order  # each of these columns may have millions of rows
    end += lba
    last_unit = (end - 1) // per_unit + 1
    units = last_unit - lba // per_unit
    later = np.cumsum(units)
    later -= units
    later -= later[np.searchsorted(-disk, -disk, side="left")]
    # units that are left for each write when the later ones of its disk are in the buffer
    left = np.clip(room // per_unit - later, 0, units)
    del later, units
    # the first unit that still has room
    border = np.clip((last_unit - left) * per_unit, lba, end)
    del last_unit, left
    return _rows(disk, lba, border), _rows(disk, border, end)


def _rows(disk: Int64, first: Int64, end: Int64) -> Int64:
    """Return disk, first sector and number of sectors of what is not empty, the earliest first."""
    kept = np.flatnonzero(end > first)[::-1]
    rows = np.empty((len(kept), 3), np.int64)
    rows[:, 0], rows[:, 1] = disk[kept], first[kept]
    np.subtract(end[kept], rows[:, 1], out=rows[:, 2])
    return rows


def units_left_out(drive: Int64, among: int) -> Int64:
    """Units that drives leave out, so that their pages and their cleanings are staggered (rule Z5)."""
    return ((drive * _GOLDEN + 0.5) % 1 * among).astype(np.int64)


def staggered(programmed: Int64, per_unit: int, among: int) -> Int64:
    """Writes that flash drives have programmed, without the first units of each drive (rule Z5).

    Pages are filled without a gap, so large writes would begin at the beginning of a page forever, on all drives; and
    all drives would clean a block at the same time.
    """
    disk, lba, n = programmed.T
    order = np.argsort(disk, kind="stable")
    disk, lba, end = disk[order], lba[order], (lba + n)[order]
    units = (end - 1) // per_unit - lba // per_unit + 1
    before = np.cumsum(units) - units
    before -= before[np.searchsorted(disk, disk, side="left")]
    left_out = np.clip(units_left_out(disk, among) - before, 0, units)
    first = np.where(left_out > 0, np.minimum((lba // per_unit + left_out) * per_unit, end), lba)
    rows: Int64 = np.stack([disk, first, end - first], axis=1)
    return np.ascontiguousarray(rows[rows[:, 2] > 0])


def joined(writes: Written, longest: int, border: int, room: int, least: int) -> tuple[Int64, Int64]:
    """Writes that drives' buffers hold, and the room of each: adjacent ones as one entry, in order of arrival.

    A write takes the room of at least `least` sectors, and those of a disk at most `room`. The latest stay. What lies
    on two arms is left out; nothing is held twice.
    """
    disk, lba, n = (column[::-1] for column in writes)  # the latest first
    is_divided = len(disk) > 0 and int((lba + n).max()) > border
    if is_divided:
        keep = lba // border == (lba + n - 1) // border
        disk, lba, n = disk[keep], lba[keep], n[keep]
    if not len(disk):
        return EMPTY.buffered, EMPTY.buffered_room
    # one number for a place, so that whole numbers are sorted: pairs of them take ten times as long
    place = disk * (int(lba.max()) + 1) + lba
    in_place = stable_order(place)
    in_place = in_place[np.diff(place[in_place], prepend=-1) != 0]
    del place  # each of these columns may have millions of rows
    is_latest = np.zeros(len(disk), np.bool_)
    is_latest[in_place] = True
    # disk by disk, each as it came; few bits are sorted by counting
    at = np.flatnonzero(is_latest)
    of_disk = disk[at].astype(np.uint16) if int(disk.max()) < 1 << 16 else disk[at]
    at = at[np.argsort(of_disk, kind="stable")]
    takes = np.maximum(n[at], least)
    total = np.cumsum(takes)
    count = np.bincount(disk[at])
    last = np.cumsum(count)
    before = np.where(last > count, total[last - count - 1], 0)
    is_latest[at[total - np.repeat(before, count) > room]] = False
    turn = in_place[is_latest[in_place]]
    if not len(turn):
        return EMPTY.buffered, EMPTY.buffered_room
    disk, lba, n = disk[turn], lba[turn], n[turn]
    # entries continue each other up to the longest, counted from where the adjacent ones begin
    goes_on = (disk[1:] == disk[:-1]) & (lba[1:] == (lba + n)[:-1])
    if is_divided:
        goes_on &= lba[1:] // border == lba[:-1] // border
    start = np.maximum.accumulate(np.where(np.concatenate([[True], ~goes_on]), np.arange(len(disk)), 0))
    part = (lba + n - lba[start] - 1) // longest
    is_new = np.concatenate([[True], (start[1:] != start[:-1]) | (part[1:] != part[:-1])])
    heads = np.flatnonzero(is_new)
    length = np.add.reduceat(n, heads)
    # the latest write has the lowest turn: the oldest part of an entry decides when it came, and no two came at once
    head_of = np.full(len(is_latest), -1)
    head_of[np.maximum.reduceat(turn, heads)] = np.arange(len(heads))
    in_order = head_of[::-1][head_of[::-1] >= 0]
    takes = np.add.reduceat(np.maximum(n, least), heads)[in_order]
    at = heads[in_order]
    return np.stack([disk[at], lba[at], length[in_order]], axis=1), takes
