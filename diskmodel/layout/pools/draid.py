"""dRAID: where the groups of a vdev lie, and which of its disks each of them has (rules X23 and X24)."""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

#: What a group has on each of its disks, bytes (`VDEV_DRAID_ROWHEIGHT`): a record of 16 MiB fits into one data column.
ROW_BYTES = 16 << 20
#: What is kept at the end of each disk for an expansion of the vdev, bytes (`VDEV_DRAID_REFLOW_RESERVE`).
RESERVED_BYTES = 2 * ROW_BYTES
#: Orders of disks that are drawn for a vdev; each is used with every disk first. OpenZFS has 256 or 512, of seeds that
#: were chosen. When one of 30 or 90 disks is rebuilt (groups of 8 + 2), the others read at most 7 % more or less than
#: in the mean; with half as many orders 10 %, with twice as many 6 %.
ORDERS = 64


class DraidTables(NamedTuple):
    """The groups of a dRAID vdev in whole numbers; data and parity columns are those of `VdevTables`.

    Attributes
    ----------
    row_blocks : int
        Blocks that a group has on each of its disks.
    slice_groups, slice_rows : int
        Groups and rows of a slice, after which the disks are in another order.
    n_spares : int
        Distributed spares: the last places of every row.
    orders : tuple of int
        Orders of the disks, one behind the other: the disk at each place of a row.
    """

    row_blocks: int
    slice_groups: int
    slice_rows: int
    n_spares: int
    orders: tuple[int, ...]

    def disk_at(self, slice_: int, place: int, width: int) -> int:
        """Return the disk at a place of the rows of a slice, in a vdev of `width` disks."""
        order = slice_ // width % (len(self.orders) // width)
        return (self.orders[order * width + place] + slice_) % width


@cache
def drawn_orders(width: int) -> tuple[int, ...]:
    """Return orders of so many disks, drawn from their number: which disk is where is ours, not OpenZFS's."""
    draw = random.Random(width).random
    found: list[int] = []
    for _ in range(ORDERS):
        order = list(range(width))
        for last in range(width - 1, 0, -1):
            other = int(draw() * (last + 1))
            order[last], order[other] = order[other], order[last]
        found += order
    return tuple(found)


def slice_groups(group: int, places: int) -> int:
    """Return the fewest groups of so many disks that fill whole rows of so many places."""
    n = 1
    while n * group % places:
        n += 1
    return n
