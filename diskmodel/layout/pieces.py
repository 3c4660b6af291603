"""Pieces of a request: what each disk is asked to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: A read after which the disk is held until the same blocks have been written (rule L12).
READ_AND_HOLD = 2


class Piece(NamedTuple):
    """One contiguous access to one disk; `lba` and `n` in sectors of that disk."""

    disk: int
    op: int
    lba: int
    n: int


@dataclass
class Plan:
    """Pieces of one request in two phases: `then` starts when every piece of `first` has completed."""

    first: list[Piece]
    then: list[Piece]


class Copy(NamedTuple):
    """Where one copy of a range lies."""

    disk: int
    lba: int


#: Picks the copy that serves a read, given the copies that are left (engine state decides; rule L5).
ChooseCopy = Callable[[Sequence[Copy], int], Copy]


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces where one that continues the last one of the same disk and operation is joined to it (rule L2)."""
    result: list[Piece] = []
    last: dict[tuple[int, int], int] = {}
    for piece in pieces:
        key = (piece.disk, piece.op)
        at = last.get(key)
        if at is not None and result[at].lba + result[at].n == piece.lba:
            result[at] = result[at]._replace(n=result[at].n + piece.n)
        else:
            last[key] = len(result)
            result.append(piece)
    return result
