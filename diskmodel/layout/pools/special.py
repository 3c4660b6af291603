"""What the special vdev of a pool must have room for (rule X26)."""

from __future__ import annotations

from diskmodel.errors import Fault
from diskmodel.layout.auxiliary_devices import SpecialVdev
from diskmodel.layout.description import Layout
from diskmodel.layout.pools.scan_tables import USUAL_USED_RATIO
from diskmodel.layout.pools.tables import (
    LABELS_BEFORE_BYTES,
    LABELS_BEHIND_BYTES,
    PARTITION_BYTES,
    VdevTables,
    metaslab_bytes,
)
from diskmodel.units import nominal_bytes, pretty_bytes


def metadata_bytes(tables: VdevTables, sector_bytes: int, used_ratio: float) -> int:
    """Return what the indirect blocks of a pool that is so full take on each device of its special vdev.

    All levels with their copies; what lies above the files is little beside them, and left out.
    """
    pool = tables.pool
    blocks, level = 0, int(tables.capacity // pool.record * used_ratio)
    while level > 1:
        level = -(-level // pool.writes.pointers)
        blocks += level
    return blocks * pool.writes.indirect_copies * pool.writes.indirect_blocks * pool.block * sector_bytes


def room_bytes(special: SpecialVdev) -> int | None:
    """Return the space of a special vdev in whole metaslabs; None where its size is not known."""
    if special.size_bytes is None:
        return None
    usable = special.size_bytes - PARTITION_BYTES - LABELS_BEFORE_BYTES - LABELS_BEHIND_BYTES
    slab = metaslab_bytes(usable)
    return max(usable, 0) // slab * slab


def used_ratio(layout: Layout, special: SpecialVdev) -> float:
    """Return how full a pool is whose metadata must fit."""
    of_rebuild = None if layout.rebuild is None else layout.rebuild.used_ratio
    return next(ratio for ratio in (special.used_ratio, of_rebuild, USUAL_USED_RATIO) if ratio is not None)


def special_problem(layout: Layout, tables: VdevTables, sector_bytes: int, used: float | None = None) -> Fault | None:
    """Return why the metadata of a pool does not fit on its special vdev; None where it does, or there is none.

    Parameters
    ----------
    layout : Layout
    tables : VdevTables
    sector_bytes : int
    used : float, optional
        Data of which there has to be room for the metadata, as a share of the pool's space; unless given, what the
        layout says.
    """
    special = layout.special
    if special is None or (room := room_bytes(special)) is None:
        return None
    used = used_ratio(layout, special) if used is None else used
    needed = metadata_bytes(tables, sector_bytes, used)
    if needed <= room:
        return None
    data = nominal_bytes(round(tables.capacity * used) * sector_bytes)
    share = f" ({used:.0%} of the pool)" if used <= 1 else ""
    return Fault(
        "layout.special.size_bytes",
        special.size_bytes,
        f"has room for {nominal_bytes(room)} of metadata, and {data} of data{share} in records of "
        f"{pretty_bytes(layout.pool_record_bytes)} have {nominal_bytes(needed)}, so that OpenZFS would put the rest on "
        "the disks",
        "use larger devices or records",
    )
