"""Drives of a pool beside its vdevs, as those of its log: what of them is used, and how they are given commands."""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.layout.pools.records import ACTIVE_READS, GATHER_BYTES, GATHER_FLASH_BYTES, GATHER_GAP_BYTES
from diskmodel.layout.pools.streams import ACTIVE_AHEAD
from diskmodel.layout.pools.tables import LABELS_BEFORE_BYTES, LABELS_BEHIND_BYTES, PARTITION_BYTES, metaslab_bytes


class ClassTables(NamedTuple):
    """How OpenZFS gives commands to a drive, by classes (rules X8 and X14).

    Attributes
    ----------
    read_gap, longest : int
        Sectors that a read may skip to include another, and of what becomes one at most.
    most, most_ahead : int
        Commands that somebody waits for, and reads ahead, that the drive is given at once.
    """

    read_gap: int
    longest: int
    most: int
    most_ahead: int


def class_tables(sector_bytes: int, *, rotates: bool) -> ClassTables:
    """Return the limits of a drive that rotates, or does not."""
    return ClassTables(
        read_gap=GATHER_GAP_BYTES // sector_bytes,
        longest=(GATHER_BYTES if rotates else GATHER_FLASH_BYTES) // sector_bytes,
        most=ACTIVE_READS,
        most_ahead=ACTIVE_AHEAD,
    )


def slabs_of_a_drive(disk_bytes: int) -> tuple[int, int, int]:
    """Return where the first metaslab of a vdev of one disk begins, the length of each, and how many there are."""
    first = PARTITION_BYTES + LABELS_BEFORE_BYTES
    usable = disk_bytes - first - LABELS_BEHIND_BYTES
    slab = metaslab_bytes(usable)
    return first, slab, max(usable, 0) // slab
