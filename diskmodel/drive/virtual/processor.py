"""The command processor of a virtual disk: its time for each command (rule V1)."""

from __future__ import annotations

from diskmodel.drive.virtual.tables import VirtualTables
from diskmodel.units import NS_PER_S


def processor_ns(tables: VirtualTables, is_write: bool, n_sectors: int) -> int:
    """Return the time of one command in the processor, ns (rule V1)."""
    own = tables.write_overhead_ns if is_write else tables.read_overhead_ns
    rate = tables.write_copy_bytes_per_s if is_write else tables.read_copy_bytes_per_s
    return own + (n_sectors * tables.sector_bytes * NS_PER_S // rate if rate else 0)


def sequential_rate(tables: VirtualTables, length_bytes: int) -> float:
    """Return the bytes per second of back-to-back commands of one length, of the slower of reads and writes."""
    n_sectors = max(length_bytes // tables.sector_bytes, 1)
    slower_ns = max(processor_ns(tables, is_write, n_sectors) for is_write in (False, True))
    return n_sectors * tables.sector_bytes * NS_PER_S / slower_ns
