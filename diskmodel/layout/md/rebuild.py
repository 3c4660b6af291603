"""What a step of a rebuild, a check or a resync reads and writes (rules R1, R2, R7), and how its speed is noted."""

from __future__ import annotations

from collections.abc import Iterator

from diskmodel.layout.md.mirror import copies_of
from diskmodel.layout.md.parity import row_of
from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pieces import ChildIo, Plan, merged
from diskmodel.records import READ, WRITE

#: Number of notes of the speed, and the time between two: Linux md averages the speed of a rebuild over up to 30 s
#: (`SYNC_MARKS`, `SYNC_MARK_STEP`). At half, it decides by the last 15 s.
N_MARKS = 10
MARK_STEP_NS = 3_000_000_000
#: What is rebuilt at most while requests wait and none completes, bytes (rule R6): at 200 MB/s more than five minutes,
#: and hosts give up after half a minute. Without an end, a run would take the time and memory of the whole rebuild.
MAX_STARVING_BYTES = 64 << 30
#: The same in steps, of small windows: 16 GiB of 4 KiB. At a quarter, a request of 1 GiB that has a fifth of the disks
#: is refused; at four times, the refusal takes 20 s.
MAX_STARVING_STEPS = 4 << 20


def step(tables: MdTables, front: int) -> Plan:
    """Read the next window of the members' data area, then write what the pass writes.

    Parameters
    ----------
    tables : MdTables
    front : int
        Sectors of the data area that the pass is through; less than `tables.member`.
    """
    n = min(tables.rebuild_window, tables.member - front)
    lba = tables.data_offset + front
    if tables.sync_action == "recover":
        return _recovered(tables, front, n, lba)
    reads = [ChildIo(disk, READ, lba, n) for disk in range(tables.n_disks)]
    if tables.sync_action == "check":
        return Plan(reads, [])
    if tables.copies == tables.n_disks:
        reads = reads[:1]  # mirrors of each other need no comparison
    return Plan(reads, merged(list(_rewritten(tables, front, n))))


def _rewritten(tables: MdTables, front: int, n: int) -> Iterator[ChildIo]:
    """Yield what a resync writes in a window: parity, or every copy but the first."""
    while n:
        strip, inside = divmod(front, tables.strip)
        take = min(n, tables.strip - inside)
        for disk in _parity_disks(tables, strip) if tables.family == "parity" else _further_copies(tables, strip):
            yield ChildIo(disk, WRITE, tables.data_offset + front, take)
        front, n = front + take, n - take


def _parity_disks(tables: MdTables, strip: int) -> Iterator[int]:
    for group in range(tables.n_groups):
        yield from row_of(tables, strip * tables.n_groups + group).parity


def _further_copies(tables: MdTables, strip: int) -> Iterator[int]:
    for disk in range(tables.n_disks):
        chunk, copy = divmod(strip * tables.n_disks + disk, tables.copies)
        if copy and chunk < tables.capacity // tables.strip:
            yield disk


def _recovered(tables: MdTables, front: int, n: int, lba: int) -> Plan:
    """Read the window of the lost disk from the survivors, then write it to the spare."""
    if tables.family == "parity":
        width = tables.n_data + tables.n_parity
        base = tables.rebuild_disk // width * width
        sources = [disk for disk in range(base, base + width) if disk not in tables.failed][: tables.n_data]
        reads = [ChildIo(disk, READ, lba, n) for disk in sources]
    else:
        reads = merged(_from_copies(tables, front, n))
    writes = [ChildIo(tables.n_disks, WRITE, lba, n)]
    return Plan(reads, writes) if reads else Plan(writes, [])


def _from_copies(tables: MdTables, front: int, n: int) -> list[ChildIo]:
    pieces: list[ChildIo] = []
    while n:
        strip, inside = divmod(front, tables.strip)
        take = min(n, tables.strip - inside)
        chunk = _chunk_at(tables, tables.rebuild_disk, strip)
        for disk, other in copies_of(tables, chunk) if chunk is not None else ():
            if disk not in tables.failed:
                pieces.append(ChildIo(disk, READ, tables.data_offset + other * tables.strip + inside, take))
                break
        front, n = front + take, n - take
    return pieces


def _chunk_at(tables: MdTables, disk: int, strip: int) -> int | None:
    """Return the host strip whose copy is the given strip of a disk, None for an unused one; inverts `copies_of`."""
    n, n_strips = tables.n_disks, tables.member // tables.strip
    if not tables.far:
        chunk = (strip * n + disk) // tables.copies
        return chunk if chunk < n_strips * n // tables.copies else None
    c, row = divmod(strip, n_strips // tables.copies)
    return row * n + (disk - c) % n if c < tables.copies else None
