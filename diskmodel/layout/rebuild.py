"""What a rebuild step reads and writes (rules R1 to R4)."""

from __future__ import annotations

from diskmodel.layout.mirror import copies_of
from diskmodel.layout.pieces import READ, WRITE, Piece, Plan, merged
from diskmodel.layout.tables import LayoutTables


def step(tables: LayoutTables, front: int) -> Plan:
    """Read the next window of the lost disk's data area from the survivors, then write it to the spare.

    Parameters
    ----------
    tables : LayoutTables
    front : int
        Sectors of the data area that have been rebuilt; less than `tables.member`.
    """
    n = min(tables.rebuild_window, tables.member - front)
    lba = tables.data_offset + front
    if tables.family == "parity":
        width = tables.n_data + tables.n_parity
        base = tables.rebuild_disk // width * width
        sources = [disk for disk in range(base, base + width) if disk not in tables.failed][: tables.n_data]
        reads = [Piece(disk, READ, lba, n) for disk in sources]
    else:
        reads = merged(_from_copies(tables, front, n))
    return Plan(reads, [Piece(tables.n_disks, WRITE, lba, n)])


def _from_copies(tables: LayoutTables, front: int, n: int) -> list[Piece]:
    pieces: list[Piece] = []
    while n:
        strip, inside = divmod(front, tables.strip)
        take = min(n, tables.strip - inside)
        for disk, other in copies_of(tables, _chunk_at(tables, tables.rebuild_disk, strip)):
            if disk not in tables.failed:
                pieces.append(Piece(disk, READ, tables.data_offset + other * tables.strip + inside, take))
                break
        front, n = front + take, n - take
    return pieces


def _chunk_at(tables: LayoutTables, disk: int, strip: int) -> int:
    """Host strip whose copy is the given strip of a disk; the inverse of `copies_of`."""
    n = tables.n_disks
    if not tables.far:
        return (strip * n + disk) // tables.copies
    part = tables.member // tables.strip // tables.copies
    c, row = divmod(strip, part)
    return row * n + (disk - c) % n
