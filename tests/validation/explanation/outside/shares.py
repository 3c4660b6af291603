"""How the small simulator divides a request among the members of an array, and what its faults add to that."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.validation.explanation.outside.drives import Disk, Share

if TYPE_CHECKING:
    from tests.validation.explanation.outside.simulator import Box, Load

_PAGE = 4096
#: What OpenZFS makes one command of, bytes, with how much between (zfs_vdev_aggregation_limit,
#: zfs_vdev_read_gap_limit); and how much of a file, times data disks, it writes to one vdev before the next one
#: (metaslab_aliquot).
_AGGREGATED, _GAP, _TURN = 1 << 20, 32 << 10, 1 << 20
#: Requests that a seek of a mirror's disk counts for, how near, bytes, a place counts half
#: (zfs_vdev_mirror_rotating_seek_inc, zfs_vdev_mirror_rotating_seek_offset), and how many count at most: those that the
#: disk has.
_SEEK, _NEAR, _MOST = 5.0, 1 << 20, 10
#: Bytes of each member in Linux md's stripe cache (`stripe_cache_size`, 256 pages).
_STRIPES = 1 << 20
#: Bytes of a member, by which those of a stream become a place.
_CAPACITY = 1e13


@dataclass
class _Place:
    """Where a request begins, and how much it is: bytes of an array, of a stream (0: none) that begins at a place."""

    size: float
    first: float
    place: float
    stream: int = 0


def ends_at(share: Share) -> float:
    """Return the place where a share ends."""
    return (share.place or 0.0) + share.ends / _CAPACITY


def _of_record(record: float, width: int, n_parity: int) -> int:
    """Return the blocks that a record takes of a mirror, or of a RAID-Z with its parity and padding."""
    blocks = math.ceil(record / _PAGE)
    taken = blocks + n_parity * math.ceil(blocks / (width - n_parity))
    return math.ceil(taken / (n_parity + 1)) * (n_parity + 1)


class Shares:
    """Divides the requests of a load; those in order are a stream, and each piece of it is another one elsewhere."""

    def __init__(self, box: Box, load: Load, draw: random.Random) -> None:
        self.box, self.load, self.draw = box, load, draw
        self._serial = 0
        self._stream: _Place | None = None
        self._kept: dict[tuple[int, int, int], tuple[float, float]] = {}

    def phases(self, is_write: bool, is_other: bool) -> Iterator[list[Share]]:
        """Return the phases of a request, its shares of members, each divided when it is asked for.

        `is_other` marks one of somebody else, who asks for 64 KiB at random beside a load in order.
        """
        return self._phases(self._place(is_other), is_write)

    def _phases(self, place: _Place, is_write: bool) -> Iterator[list[Share]]:
        box = self.box
        if box.is_one:
            yield [Share(0, place.size, is_write, place.place, place.stream, place.first if place.stream else 0.0)]
            return
        if is_write and box.chunk and not place.stream:
            yield from self._plain(self._anywhere(_PAGE), False)
            yield from self._plain(_Place(box.chunk, place.first, place.place), True)
        yield from self._plain(place, is_write)
        if is_write:
            for _ in range(box.journal):
                yield from self._plain(self._anywhere(_PAGE), True)
            if box.is_flushed:
                yield [Share(at, 0, True, is_flush=True) for at in self._working]

    def bitmap(self) -> Iterator[list[Share]]:
        """Yield what a write of the bitmap needs: the buffers of all members emptied, and a page at their beginning.

        Linux md sends it with a flush before it, and past the buffer (`md_super_write` of md.c).
        """
        yield [Share(at, 0, True, is_flush=True) for at in self._working]
        yield [Share(at, _PAGE, True, 0.0, is_safe=True) for at in self._working]

    @property
    def _working(self) -> list[int]:
        return [at for at in range(len(self.box.members)) if at not in self.box.failed]

    def _anywhere(self, size: float) -> _Place:
        """Return a random place, at the beginning of a strip; of those that are beside borders, half before it."""
        box = self.box
        n = len(box.members)
        first = self.draw.randrange(n, 2 * n * n) * box.strip
        if self.draw.random() < box.beside:
            first -= min(size, box.strip) / 2
        return _Place(size, first, self.draw.random())

    def _place(self, is_other: bool) -> _Place:
        load = self.load
        size = max(load.size, self.box.least)
        if is_other:
            return self._anywhere(65536)
        if not load.is_sequential:
            return self._anywhere(size)
        place = self._stream
        if place is None or (self.box.pieces and self.draw.random() < 1 / self.box.pieces):
            self._serial += 1
            place = _Place(size, 0.0, self.draw.random(), self._serial)
        self._stream = _Place(size, place.first + size, place.place, place.stream)
        return place

    def _plain(self, place: _Place, is_write: bool) -> Iterator[list[Share]]:
        """Yield the phases of a request without what is added before and behind it."""
        box = self.box
        if box.kind in ("raidz", "pool"):
            yield self._of_pool(place, is_write)
        elif box.kind == "mirrors":
            yield self._of_mirrors(place, is_write)
        elif is_write and box.kind == "parity":
            yield from self._of_parity(place)
        else:
            parts = self._rows(place)
            lost = {row: part for (at, row), part in parts.items() if at in box.failed}
            found = {key: part for key, part in parts.items() if key[0] not in box.failed}
            for row, part in lost.items():
                # a missing strip is made of those beside it, of which some are read already
                for at in self._working:
                    found.setdefault((at, row), part)
            if box.failed and place.stream:
                found = self._unread(found, place.stream)
            yield self._joined(found, place, is_write)

    def _unread(
        self, parts: dict[tuple[int, int], tuple[float, float]], stream: int
    ) -> dict[tuple[int, int], tuple[float, float]]:
        """Return what has not been read of a stream beside a missing member: its stripes stay for a while.

        With a member missing Linux md reads through its stripe cache (`raid5_make_request` of raid5.c), which has 256
        pages of each member.
        """
        oldest = max(row for _, row in parts) - _STRIPES / self.box.strip
        self._kept = {key: part for key, part in self._kept.items() if key[0] == stream and key[2] >= oldest}
        found = {}
        for (at, row), (low, high) in parts.items():
            kept = self._kept.get((stream, at, row))
            if kept is None or low < kept[0] or high > kept[1]:
                found[at, row] = low, high
                self._kept[stream, at, row] = (low, high) if kept is None else (min(low, kept[0]), max(high, kept[1]))
        return found

    def _of_parity(self, place: _Place) -> Iterator[list[Share]]:
        """Yield what is read before a write to rows with parity, and then its writes."""
        box = self.box
        parts = self._rows(place)
        reads: dict[tuple[int, int], tuple[float, float]] = {}
        for row in {row for _, row in parts}:
            own = [part for (_, other), part in parts.items() if other == row]
            whole = min(low for low, _ in own), max(high for _, high in own)
            parity = [(self._parity(row) + k) % len(box.members) for k in range(box.n_parity)]
            before = self._read_before([at for at, other in parts if other == row], row, parity)
            reads |= {(at, row): parts.get((at, row), whole) for at in before}
            parts |= {(at, row): whole for at in parity}
        writes = self._joined({key: part for key, part in parts.items() if key[0] not in box.failed}, place, True)
        if reads:
            first = self._joined(reads, place, False)
            yield first
            # what has been read comes by again a whole turn later
            angles = {(one.member, one.offset): one.angle for one in first}
            for one in writes:
                one.angle = angles.get((one.member, one.offset))
        yield writes

    def _read_before(self, own: list[int], row: int, parity: list[int]) -> list[int]:
        """Return the members that are read before some of a row's strips are written (`handle_stripe_dirtying`).

        Linux md reads the strips that are written and parity if these are fewer than the other strips, else the others.
        """
        box = self.box
        n = len(box.members)
        data = [(parity[-1] + 1 + at) % n for at in range(n - box.n_parity)]
        others = [at for at in data if at not in own]
        is_rewritten = len(own) + box.n_parity < len(others)
        if box.failed:
            is_rewritten = any(at in box.failed for at in others) or (
                is_rewritten and not any(at in box.failed for at in own)
            )
        return [at for at in ((*own, *parity) if is_rewritten else others) if at not in box.failed]

    def _strips(self, place: _Place) -> Iterator[tuple[int, float, float]]:
        """Yield number, beginning and end of each strip's part, both in bytes of the strip."""
        strip, at, end = self.box.strip, place.first, place.first + place.size
        while at < end:
            number = int(at // strip)
            low = at - number * strip
            high = min(end - number * strip, strip)
            yield number, low, high
            at = number * strip + high

    def _parity(self, row: int) -> int:
        """Return the disk of the first parity strip of a row: it turns to the left."""
        n = len(self.box.members)
        return n - 1 - row % n

    def _rows(self, place: _Place) -> dict[tuple[int, int], tuple[float, float]]:
        """Return beginning and end of what is on each member and row."""
        n, n_parity = len(self.box.members), self.box.n_parity if self.box.kind == "parity" else 0
        found = {}
        for number, low, high in self._strips(place):
            row, at = divmod(number, n - n_parity)
            if n_parity:
                at = (self._parity(row) + n_parity + at) % n
            found[at, row] = low, high
        return found

    def _joined(self, parts: dict[tuple[int, int], tuple[float, float]], place: _Place, is_write: bool) -> list[Share]:
        """Return the shares of members: what lies on one is one command, that goes over what is between."""
        strip, shares = self.box.strip, []
        for member in dict.fromkeys(at for at, _ in parts):
            own = {row: part for (at, row), part in parts.items() if at == member}
            first, last = min(own), max(own)
            offset = first * strip + own[first][0]
            span = last * strip + own[last][1] - offset
            size = sum(high - low for low, high in own.values())
            if not place.stream:
                offset = 0.0
            shares.append(Share(member, size, is_write, place.place, place.stream, offset, span))
        return shares

    # ------------------------------------------------------------ mirrors

    def _of_mirrors(self, place: _Place, is_write: bool) -> list[Share]:
        """Return the shares of pairs: all of both for a write, and the half that Linux md chooses for a read."""
        n_pairs = len(self.box.members) // 2
        strips = list(self._strips(place)) if n_pairs > 1 else [(0, place.first, place.first + place.size)]
        parts: dict[tuple[int, int], tuple[float, float]] = {}
        planned = [one.pending for one in self.box.members]
        for number, low, high in strips:
            row, pair = divmod(number, n_pairs)
            own = [at for at in (2 * pair, 2 * pair + 1) if at not in self.box.failed]
            begins = place.place, place.stream, row * self.box.strip + low if place.stream else 0.0
            for at in own if is_write else [self._chosen(own, begins, high - low, planned)]:
                parts[at, row] = low, high
                planned[at] += 1
        return self._joined(parts, place, is_write)

    def _chosen(self, own: list[int], begins: tuple[float, int, float], size: float, pending: list[int]) -> int:
        """Return the half of a mirror that Linux reads from (`read_balance` of md's raid1.c and raid10.c).

        RAID 1 stays where the last read ended; else both take the first half without requests, and of disks the one
        whose head is closest, of flash the one with fewer requests.
        """
        members = self.box.members
        place, stream, offset = begins

        def rank(at: int) -> tuple[float, float]:
            one = members[at]
            if len(members) == 2 and stream and one.next_read == (stream, offset):
                return (0, 0)
            if isinstance(one, Disk):
                return (1, abs(one.head - place - offset / _CAPACITY) + 1e-300 if pending[at] else 0.0)
            return (1, pending[at])

        at = min(own, key=rank)
        members[at].next_read = (stream, offset + size)
        return at

    # ------------------------------------------------------------ pools

    def _of_pool(self, place: _Place, is_write: bool) -> list[Share]:
        """Return the shares of whole records: of all data disks of a group, or of one disk of a pair.

        The records of a file lie behind each other, so many on a group before the next one has its turn.
        """
        box, draw = self.box, self.draw
        n_records = max(math.ceil(place.size / box.record), 1)
        width = 2 if box.kind == "pool" else box.width
        groups = len(box.members) // width
        blocks = _of_record(box.record, 1 if box.kind == "pool" else width, box.n_parity * (box.kind != "pool"))
        n_data = 1 if box.kind == "pool" else width - box.n_parity
        turn = max(int(_TURN * n_data // (blocks * _PAGE)), 1)
        begins, first = draw.randrange(groups), draw.randrange(turn)
        block = draw.randrange(width)
        self._serial += 1
        shares: list[Share] = []
        planned = [one.pending for one in box.members]
        for k in range(n_records):
            group = (begins + (first + k) // turn) % groups
            row = min(k, (first + k) % turn)
            own = [group * width + at for at in range(width) if group * width + at not in box.failed]
            if box.kind == "pool":
                chosen = own if is_write else [self._nearest(own, row * box.record, planned)]
                parts = [(at, row * box.record, box.record) for at in chosen]
            else:
                parts = self._columns(block + row * blocks, group * width, own, is_write)
            for at, offset, size in parts:
                planned[at] += 1
                self._append(shares, Share(at, size, is_write, place.place, self._serial, offset, size))
                box.members[at].next_read = (self._serial, offset + size)
        return shares

    def _columns(self, block: int, start: int, own: list[int], is_write: bool) -> list[tuple[int, float, float]]:
        """Return member, offset and bytes of each column of a record that begins at a block of its RAID-Z.

        A column of data that is lost is made of one of parity.
        """
        box = self.box
        n_blocks, n_data = math.ceil(box.record / _PAGE), box.width - box.n_parity
        each, more = divmod(n_blocks, n_data)
        columns = [
            (
                start + (block + at) % box.width,
                float((block + at) // box.width * _PAGE),
                float((each + (more > 0 and at < more + box.n_parity)) * _PAGE),
            )
            for at in range(box.n_parity + min(n_blocks, n_data))
        ]
        parity = [column for column in columns[: box.n_parity] if column[0] in own]
        data = columns[box.n_parity :]
        if is_write:
            return [*parity, *(column for column in data if column[0] in own)]
        found = [column for column in data if column[0] in own]
        return found + parity[: len(data) - len(found)]

    def _append(self, shares: list[Share], one: Share) -> None:
        """Append a share, or make one command of it and the last one of its member, as OpenZFS does of near ones."""
        last = next((other for other in reversed(shares) if other.member == one.member), None)
        if last is None or not 0 <= one.offset - last.ends <= _GAP or last.ends - last.offset >= _AGGREGATED:
            shares.append(one)
            return
        last.n += one.n
        last.size += one.size
        last.span = one.ends - last.offset

    def _nearest(self, own: list[int], offset: float, pending: list[int]) -> int:
        """Return the disk of a mirror that OpenZFS reads from: requests count, and a seek counts as five more."""
        box, draw = self.box, self.draw

        def load(at: int) -> float:
            stream, ends = box.members[at].next_read
            is_near = stream == self._serial and abs(ends - offset) < _NEAR
            return min(pending[at], _MOST) + (
                0.0 if (stream, ends) == (self._serial, offset) else _SEEK / 2 if is_near else _SEEK
            )

        return min(own, key=lambda at: (load(at), draw.random()))
