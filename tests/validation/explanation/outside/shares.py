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


@dataclass
class _Place:
    """Where a request begins, and how much it is."""

    size: float
    first: int
    is_near: bool


def phases_of(
    box: Box, load: Load, is_write: bool, draw: random.Random, position: int, is_other: bool
) -> Iterator[list[Share]]:
    """Yield the phases of a request: its shares of members, one list after the other.

    `position` counts requests, for those in order; `is_other` marks one of somebody else, who asks for 64 KiB at
    random beside a load in order.
    """
    place = _place(box, load, draw, position, is_other)
    if box.is_one:
        shares = [Share(0, place.size, is_write, place.is_near)]
        yield shares
        return
    if is_write and box.bits and draw.random() < box.bits:
        yield [Share(at, _PAGE, True) for at in _working(box)]
    if is_write and box.chunk and not place.is_near:
        yield from _plain(box, _Place(_PAGE, draw.randrange(len(box.members)), False), False, draw)
        yield from _plain(box, _Place(box.chunk, place.first, False), True, draw)
    yield from _plain(box, place, is_write, draw)
    if is_write:
        for _ in range(box.journal):
            yield from _plain(box, _Place(_PAGE, draw.randrange(len(box.members)), False), True, draw)
        if box.is_flushed:
            yield [Share(at, 0, True, is_flush=True) for at in _working(box)]


def _place(box: Box, load: Load, draw: random.Random, position: int, is_other: bool) -> _Place:
    size = max(load.size, box.least)
    n = len(box.members)
    if is_other:
        return _Place(65536, draw.randrange(n), False)
    if load.is_sequential:
        strips = max(math.ceil(size / box.strip), 1)
        is_near = not (box.pieces and draw.random() < 1 / box.pieces)
        return _Place(size, position * strips % n, is_near)
    return _Place(size, draw.randrange(n), False)


def _working(box: Box) -> list[int]:
    return [at for at in range(len(box.members)) if at not in box.failed]


def _plain(box: Box, place: _Place, is_write: bool, draw: random.Random) -> Iterator[list[Share]]:
    """Yield the phases of a request without what is added before and behind it."""
    if box.kind in ("raidz", "pool"):
        yield _of_pool(box, place, is_write, draw)
        return
    whole = _strips(box, place, draw, is_write)
    n = len(box.members)
    if is_write and box.kind == "mirrors":
        pairs = {other: whole[at] for at in whole for other in (at // 2 * 2, at // 2 * 2 + 1)}
        yield [Share(at, size, True, place.is_near) for at, size in pairs.items() if at not in box.failed]
    elif is_write and box.kind == "parity":
        n_strips = len(whole)
        for k in range(box.n_parity):
            whole.setdefault((place.first + n_strips + k) % n, min(place.size, box.strip))
        alive = [(at, size) for at, size in whole.items() if at not in box.failed]
        if n_strips < n - box.n_parity:
            yield [Share(at, size, False, place.is_near) for at, size in alive]
        yield [Share(at, size, True, place.is_near) for at, size in alive]
    else:
        found: dict[int, float] = {}
        for at, size in whole.items():
            if at not in box.failed:
                found[at] = found.get(at, 0.0) + size
        for at, size in whole.items():
            # a missing strip is made of those beside it, of which some are read already
            for k in _working(box) if at in box.failed else ():
                found[k] = max(found.get(k, 0.0), size)
        yield [Share(at, size, is_write, place.is_near) for at, size in found.items()]


def _strips(box: Box, place: _Place, draw: random.Random, is_write: bool) -> dict[int, float]:
    """Return the members that a request's strips lie on, and how much is on each."""
    n = len(box.members)
    n_strips = max(math.ceil(place.size / box.strip), 1)
    size = min(place.size, box.strip)
    is_beside = draw.random() < box.beside
    whole: dict[int, float] = {}
    for k in range(n_strips + is_beside):
        at = (place.first + k) % n
        if box.kind == "mirrors" and not is_write:
            # Linux goes on where a disk's arm was, and takes either drive for all else
            stays = place.is_near and isinstance(box.members[at], Disk)
            at = at // 2 * 2 + (0 if stays else draw.randrange(2))
            at = at ^ 1 if at in box.failed else at
        whole[at] = whole.get(at, 0.0) + size
    return whole


def _of_pool(box: Box, place: _Place, is_write: bool, draw: random.Random) -> list[Share]:
    """Return the shares of whole records: of all data disks of a group, or of one disk of a pair."""
    n_records = max(math.ceil(place.size / box.record), 1)
    shares = []
    width = 2 if box.kind == "pool" else box.width
    groups = len(box.members) // width
    for k in range(n_records):
        start = (place.first + k) % groups * width
        own = [start + at for at in range(width) if start + at not in box.failed]
        if box.kind == "pool":
            chosen = own if is_write else [draw.choice(own)]
            each = box.record
        else:
            n_data = min(math.ceil(box.record / _PAGE), width - box.n_parity)
            turn = draw.randrange(width)
            disks = [start + (turn + at) % width for at in range(n_data + (box.n_parity if is_write else 0))]
            # a missing disk is made good by a parity disk
            spare = [at for at in own if at not in disks]
            chosen = [at if at in own else spare.pop() for at in disks if at in own or spare]
            each = box.record / n_data
        # the records of one request lie behind each other
        shares += [Share(at, each, is_write, place.is_near or k >= groups) for at in chosen]
    return shares
