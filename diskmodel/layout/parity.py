"""Rows with parity: RAID 3, 4, 5, 50, 6, 60 and k + m (rules L6 to L10)."""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.layout.pieces import READ, WRITE, Piece, Plan, merged
from diskmodel.layout.tables import ROTATIONS, WRITE_POLICIES, LayoutTables

_LEFT_SYMMETRIC, _LEFT_ASYMMETRIC, _RIGHT_SYMMETRIC, _RIGHT_ASYMMETRIC, _NONE = range(len(ROTATIONS))
_FEWEST, _READ_MODIFY_WRITE, _RECONSTRUCT_WRITE = range(len(WRITE_POLICIES))


class Row(NamedTuple):
    """One row: disks of its data strips in order, of its parity strips, its first sector on each disk, what is lost."""

    data: list[int]
    parity: list[int]
    lba: int
    failed: tuple[int, ...]


def row_of(tables: LayoutTables, row: int, front: int = 0) -> Row:
    """Disks of row number `row` (rule L6). Rows go round the groups; parity by the row's number in its group."""
    group, number = row % tables.n_groups, row // tables.n_groups
    n, m = tables.n_data + tables.n_parity, tables.n_parity
    if tables.rotation == _NONE:
        first = n - m
    elif tables.rotation in (_LEFT_SYMMETRIC, _LEFT_ASYMMETRIC):
        first = n - 1 - number % n
    else:
        first = number % n
    parity = [(first + i) % n for i in range(m)]
    if tables.rotation in (_LEFT_SYMMETRIC, _RIGHT_SYMMETRIC):
        data = [(first + m + j) % n for j in range(tables.n_data)]
    else:
        data = [disk for disk in range(n) if disk not in parity]
    base = group * n
    data, parity = [base + disk for disk in data], [base + disk for disk in parity]
    lba, failed = tables.data_offset + number * tables.strip, tables.failed
    if tables.rebuild_disk in failed and (number + 1) * tables.strip <= front:
        # the row is rebuilt: the spare stands in for the lost disk (rule L11)
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


def rows_of(tables: LayoutTables, sector: int, n: int) -> list[tuple[int, list[Part]]]:
    """The rows that a request touches, with the parts of their data strips, in order of host address."""
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


def plan(tables: LayoutTables, op: int, sector: int, n: int, front: int = 0) -> Plan:
    """Pieces of a request on rows with parity: reads first, writes when all of them have completed (rule L7)."""
    first: list[Piece] = []
    then: list[Piece] = []
    for number, parts in rows_of(tables, sector, n):
        row = row_of(tables, number, front)
        if op == READ:
            first.extend(_read(tables, row, parts))
        else:
            reads, writes = _write(tables, row, parts)
            first.extend(reads)
            then.extend(writes)
    if not first:
        first, then = then, []
    return Plan(merged(first), merged(then))


def _read(tables: LayoutTables, row: Row, parts: list[Part]) -> list[Piece]:
    """Reads of data parts; a part on a failed disk is recomputed from n_data surviving strips (rule L9)."""
    pieces: list[Piece] = []
    for part in parts:
        disk = row.data[part.strip]
        sources = [disk] if disk not in row.failed else _survivors(tables, row)
        pieces.extend(_piece(row, source, READ, part.start, part.end) for source in sources)
    return pieces


def _write(tables: LayoutTables, row: Row, parts: list[Part]) -> tuple[list[Piece], list[Piece]]:
    """Reads and writes that a write to these parts of one row needs (rules L8 and L10)."""
    low, high = min(part.start for part in parts), max(part.end for part in parts)
    parity = [disk for disk in row.parity if disk not in row.failed]
    writes = [
        _piece(row, row.data[part.strip], WRITE, part.start, part.end)
        for part in parts
        if row.data[part.strip] not in row.failed
    ]
    writes += [_piece(row, disk, WRITE, low, high) for disk in parity]
    if not parity:
        return [], writes
    modify = _reads_to_modify(tables, row, parts, parity, low, high)
    rebuild = _reads_to_reconstruct(tables, row, parts, low, high)
    prefer_modify = tables.write_policy == _READ_MODIFY_WRITE or (
        tables.write_policy == _FEWEST and modify is not None and len(modify) < len(rebuild)
    )
    full = all(part.start == low and part.end == high for part in parts) and len(parts) == tables.n_data
    reads = [] if full else modify if prefer_modify and modify is not None else rebuild
    return reads, writes


def _reads_to_modify(
    tables: LayoutTables, row: Row, parts: list[Part], parity: list[int], low: int, high: int
) -> list[Piece] | None:
    """Old data and old parity; impossible when a written strip is on a failed disk."""
    if any(row.data[part.strip] in row.failed for part in parts):
        return None
    old = [_piece(row, row.data[part.strip], READ, part.start, part.end) for part in parts]
    return old + [_piece(row, disk, READ, low, high) for disk in parity]


def _reads_to_reconstruct(tables: LayoutTables, row: Row, parts: list[Part], low: int, high: int) -> list[Piece]:
    """All data of the row between `low` and `high` that is not being written.

    Where such data is on a failed disk it is itself recomputed, from the range on n_data survivors.
    """
    written = {part.strip: part for part in parts}
    pieces: list[Piece] = []
    for strip, disk in enumerate(row.data):
        part = written.get(strip)
        gaps = [(low, high)] if part is None else [(low, part.start), (part.end, high)]
        gaps = [(start, end) for start, end in gaps if start < end]
        if gaps and disk in row.failed:
            return [_piece(row, source, READ, low, high) for source in _survivors(tables, row)]
        pieces.extend(_piece(row, disk, READ, start, end) for start, end in gaps)
    return pieces


def _survivors(tables: LayoutTables, row: Row) -> list[int]:
    """The first n_data disks of a row that are left, data before parity."""
    return [disk for disk in row.data + row.parity if disk not in row.failed][: tables.n_data]


def _piece(row: Row, disk: int, op: int, start: int, end: int) -> Piece:
    return Piece(disk, op, row.lba + start, end - start)
