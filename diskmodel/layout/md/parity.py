"""Rows with parity: RAID 3, 4, 5, 50, 6, 60 and k + m (rules L6 to L10)."""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pieces import READ_AND_HOLD, ChildIo, ChooseCopy, Plan, merged
from diskmodel.records import READ, WRITE


class Row(NamedTuple):
    """One row: disks of its data strips in order, of its parity strips, its first sector on each disk, what is lost."""

    data: list[int]
    parity: list[int]
    lba: int
    failed: tuple[int, ...]


def row_of(tables: MdTables, row: int, front: int = 0) -> Row:
    """Return row number `row` (rule L6). Rows go round the groups; parity rotates by the row's number in its group."""
    group, number = row % tables.n_groups, row // tables.n_groups
    n, m = tables.n_data + tables.n_parity, tables.n_parity
    if tables.rotation == "none":
        first = n - m
    elif tables.rotation in ("left-symmetric", "left-asymmetric"):
        first = n - 1 - number % n
    else:
        first = number % n
    parity = [(first + i) % n for i in range(m)]
    if tables.rotation in ("left-symmetric", "right-symmetric"):
        data = [(first + m + j) % n for j in range(tables.n_data)]
    else:
        data = [disk for disk in range(n) if disk not in parity]
    base = group * n
    data, parity = [base + disk for disk in data], [base + disk for disk in parity]
    lba, failed = tables.data_offset + number * tables.strip, tables.failed
    if tables.rebuild_disk in failed and (number + 1) * tables.strip <= front:
        # the row is rebuilt: the spare replaces the lost disk (rule L11)
        spare = tables.n_disks
        data = [spare if disk == tables.rebuild_disk else disk for disk in data]
        parity = [spare if disk == tables.rebuild_disk else disk for disk in parity]
        failed = tuple(disk for disk in failed if disk != tables.rebuild_disk)
    return Row(data, parity, lba, failed)


class Part(NamedTuple):
    """Sectors [start, end) of data strip `strip` of a row."""

    strip: int
    start: int
    end: int


def rows_of(tables: MdTables, sector: int, n: int) -> list[tuple[int, list[Part]]]:
    """Return the rows that a request touches, with the parts of their data strips, in order of host address."""
    rows: list[tuple[int, list[Part]]] = []
    while n:
        chunk, inside = divmod(sector, tables.strip)
        row, strip = divmod(chunk, tables.n_data)
        take = min(n, tables.strip - inside)
        if not rows or rows[-1][0] != row:
            rows.append((row, []))
        rows[-1][1].append(Part(strip, inside, inside + take))
        sector, n = sector + take, n - take
    return rows


def plan(tables: MdTables, op: int, sector: int, n: int, choose: ChooseCopy | None = None, front: int = 0) -> Plan:
    """Return the pieces of a request on rows with parity: reads, then writes when all reads are done (rule L7)."""
    first: list[ChildIo] = []
    then: list[ChildIo] = []
    lost: list[ChildIo] = []
    for number, parts in rows_of(tables, sector, n):
        row = row_of(tables, number, front)
        if op == READ:
            first.extend(_read(tables, row, parts))
        else:
            reads, writes = _write(tables, row, parts)
            first.extend(reads)
            then.extend(writes)
            if row.failed and tables.logs_stripes:
                lost.extend(piece for piece in _writes(row, parts) if piece.disk in row.failed)
    if not first:
        first, then = then, []
    if op == READ and tables.cuts_reads:
        return Plan(first, [])
    return Plan(merged(first), merged(then), lost)


def _read(tables: MdTables, row: Row, parts: list[Part]) -> list[ChildIo]:
    """Return the reads of data parts; a part on a lost disk is computed from all strips that are left (rule L9)."""
    needed: dict[int, list[tuple[int, int]]] = {}
    for part in parts:
        disk = row.data[part.strip]
        for source in [disk] if disk not in row.failed else _survivors(row):
            needed.setdefault(source, []).append((part.start, part.end))
    return [_piece(row, disk, READ, *span) for disk, spans in needed.items() for span in _united(spans)]


def _united(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sectors of a strip that are needed, each once, in ascending order."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _write(tables: MdTables, row: Row, parts: list[Part]) -> tuple[list[ChildIo], list[ChildIo]]:
    """Return the reads and writes that a write to these parts of one row needs (rules L8 and L10).

    Either old data and parity are read (read-modify-write), or the data that is not written (reconstruct-write). A
    lost disk may make one of them impossible; where it makes both so, everything that is left is read. Like Linux md,
    a row whose parity is lost reads as if it were there.
    """
    low, high = min(part.start for part in parts), max(part.end for part in parts)
    written = [row.data[part.strip] for part in parts]
    writes = [piece for piece in _writes(row, parts) if piece.disk not in row.failed]
    if len(parts) == tables.n_data and all(part.start == low and part.end == high for part in parts):
        return [], writes
    can_modify = not any(disk in row.failed for disk in [*written, *row.parity])
    modify = [_piece(row, disk, READ, part.start, part.end) for disk, part in zip(written, parts, strict=True)]
    modify += [_piece(row, disk, READ, low, high) for disk in row.parity]
    reconstruct = _reads_to_reconstruct(row, parts, low, high)
    can_reconstruct = not any(piece.disk in row.failed for piece in reconstruct)
    prefers_modify = tables.write_policy == "read-modify-write" or (
        tables.write_policy == "fewest" and len(modify) < len(reconstruct)
    )
    if can_modify and (prefers_modify or not can_reconstruct):
        if tables.holds_disks:
            # each disk writes behind its own read: data at once, parity when all old data is there
            held = [piece._replace(op=READ_AND_HOLD) for piece in modify]
            return held[: len(parts)], held[len(parts) :]
        return modify, writes
    if can_reconstruct:
        return reconstruct, writes
    return [_piece(row, disk, READ, low, high) for disk in _survivors(row)], writes


def _writes(row: Row, parts: list[Part]) -> list[ChildIo]:
    """Return the writes of all parts, and of all parity between the first and the last of their sectors."""
    low, high = min(part.start for part in parts), max(part.end for part in parts)
    data = [_piece(row, row.data[part.strip], WRITE, part.start, part.end) for part in parts]
    return data + [_piece(row, disk, WRITE, low, high) for disk in row.parity]


def _reads_to_reconstruct(row: Row, parts: list[Part], low: int, high: int) -> list[ChildIo]:
    """Return reads of the row's data between `low` and `high` that is not being written, on lost disks too."""
    written = {part.strip: part for part in parts}
    pieces: list[ChildIo] = []
    for strip, disk in enumerate(row.data):
        part = written.get(strip)
        gaps = [(low, high)] if part is None else [(low, part.start), (part.end, high)]
        pieces.extend(_piece(row, disk, READ, start, end) for start, end in gaps if start < end)
    return pieces


def _survivors(row: Row) -> list[int]:
    """Return the disks of a row that are left, data before parity."""
    return [disk for disk in row.data + row.parity if disk not in row.failed]


def _piece(row: Row, disk: int, op: int, start: int, end: int) -> ChildIo:
    return ChildIo(disk, op, row.lba + start, end - start)


def strips(tables: MdTables, n_rows: int) -> list[list[int | None]]:
    """Return what the first rows hold, as `plan.strips` does."""
    held: list[list[int | None]] = [[None] * n_rows for _ in range(tables.n_disks)]
    for number in range(n_rows * tables.n_groups):
        row = row_of(tables, number)
        for i, disk in enumerate(row.data):
            held[disk][number // tables.n_groups] = number * tables.n_data + i
        for i, disk in enumerate(row.parity):
            held[disk][number // tables.n_groups] = -1 - i
    return held
