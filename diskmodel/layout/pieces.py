"""Pieces of a request: the accesses to each disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: A read after which the disk waits until the same blocks have been written (rule L12).
READ_AND_HOLD = 2


class ChildIo(NamedTuple):
    """One contiguous access to one disk; `lba` and `n` in sectors of that disk."""

    disk: int
    op: int
    lba: int
    n: int


@dataclass
class Plan:
    """Pieces of one request in two phases: `then` starts when every piece of `first` has completed.

    `lost` is what would be written to disks that are lost: a journal has it, too (rule Y13).
    """

    first: list[ChildIo]
    then: list[ChildIo]
    lost: list[ChildIo] = field(default_factory=list)


class Copy(NamedTuple):
    """Place of one copy of a range."""

    disk: int
    lba: int


#: Function that picks the copy that serves a read, given the copies that are left (rule L5).
ChooseCopy = Callable[[Sequence[Copy], int], Copy]


def merged(pieces: Iterable[ChildIo]) -> list[ChildIo]:
    """Join each piece that continues the last one of the same disk and operation to it (rule L2)."""
    result: list[ChildIo] = []
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
