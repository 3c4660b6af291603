"""Striping with copies: JBOD, RAID 0, 1, 1E, 10 (rules L3 to L5, L14)."""

from __future__ import annotations

from collections.abc import Iterator

from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pieces import ChildIo, ChooseCopy, Copy, Plan, merged
from diskmodel.records import READ, WRITE


def copies_of(tables: MdTables, chunk: int) -> list[tuple[int, int]]:
    """Return (disk, strip number on it) of every copy of host strip `chunk`, the first copy first.

    near: copy c of chunk k is the (k·copies + c)-th strip when strips are counted across the disks.
    far: the disks' first parts are a RAID 0; copy c is c disks further, in the c-th part.
    """
    n = tables.n_disks
    if not tables.far:
        return [((chunk * tables.copies + c) % n, (chunk * tables.copies + c) // n) for c in range(tables.copies)]
    part = tables.member // tables.strip // tables.copies
    return [((chunk + c) % n, chunk // n + c * part) for c in range(tables.copies)]


def parts_in_order(tables: MdTables, sector: int, n: int) -> Iterator[tuple[int, int]]:
    """Cut a request as Linux md does above the strips: (sector, sectors) in the order in which it comes to them.

    A request that is longer than the members take is cut first, then its beginning is cut at the next strip border.
    What is cut off waits, and what was cut off by its length comes before what was cut off at a strip (rule L14).
    Of consecutive requests of one length, those in huge pages are spread evenly.
    """
    if not tables.largest_request or _is_whole(tables, sector, n):
        yield sector, n
        return
    waiting = [(sector, n)]
    while waiting:
        sector, whole = waiting.pop()
        length = min(whole, tables.largest_request)
        take = min(length, tables.strip - sector % tables.strip)
        if take < length:
            waiting.append((sector + take, length - take))
        if length < whole:
            waiting.append((sector + length, whole - length))
        yield sector, take


def _is_whole(tables: MdTables, sector: int, n: int) -> bool:
    """Whether a request lies in huge pages (rule L14)."""
    number = sector // n
    return (number + 1) * tables.huge_page_ppm // 1_000_000 > number * tables.huge_page_ppm // 1_000_000


def fragments(tables: MdTables, sector: int, n: int) -> Iterator[tuple[list[Copy], int]]:
    """Cut the request at strip borders: (surviving copies, sectors) in order of host address."""
    if tables.family == "concat":
        unit = tables.member
        while n:
            disk, inside = divmod(sector, unit)
            take = min(n, unit - inside)
            yield [Copy(disk, tables.data_offset + inside)], take
            sector, n = sector + take, n - take
        return
    while n:
        chunk, inside = divmod(sector, tables.strip)
        take = min(n, tables.strip - inside)
        yield (
            [
                Copy(disk, tables.data_offset + strip * tables.strip + inside)
                for disk, strip in copies_of(tables, chunk)
            ],
            take,
        )
        sector, n = sector + take, n - take


def surviving(tables: MdTables, copies: list[Copy], n: int, front: int) -> list[Copy]:
    """Return the copies that are left; the spare replaces the lost disk where it is rebuilt (rule L11)."""
    alive = []
    for copy in copies:
        if copy.disk not in tables.failed:
            alive.append(copy)
        elif copy.disk == tables.rebuild_disk and copy.lba + n <= tables.data_offset + front:
            alive.append(Copy(tables.n_disks, copy.lba))
    return alive


def plan(tables: MdTables, op: int, sector: int, n: int, choose: ChooseCopy, front: int = 0) -> Plan:
    """Return the pieces of a request on striped or mirrored disks; all of them start at once.

    A read of a mirrored range is cut into runs that are contiguous on every copy, so that a copy is chosen once per
    run, not once per strip, unless the layout keeps the strips of a read apart (rule L4).
    """
    pieces: list[ChildIo] = []
    is_cut = op == READ and tables.cuts_reads
    for first, length in parts_in_order(tables, sector, n):
        for copies, take in fragments(tables, first, length) if is_cut else _runs(tables, first, length):
            alive = surviving(tables, copies, take, front)
            if op == READ:
                chosen = alive[0] if len(alive) == 1 else choose(alive, take)
                pieces.append(ChildIo(chosen.disk, READ, chosen.lba, take))
            else:
                pieces.extend(ChildIo(copy.disk, WRITE, copy.lba, take) for copy in alive)
    return Plan(pieces if is_cut else merged(pieces), [])


def _runs(tables: MdTables, sector: int, n: int) -> Iterator[tuple[list[Copy], int]]:
    """Join fragments that continue each other on every copy (RAID 1: the whole request is one run)."""
    held: tuple[list[Copy], int] | None = None
    for copies, take in fragments(tables, sector, n):
        if held and all(a.disk == b.disk and a.lba + held[1] == b.lba for a, b in zip(held[0], copies, strict=True)):
            held = (held[0], held[1] + take)
        else:
            if held:
                yield held
            held = (copies, take)
    if held:
        yield held


def strips(tables: MdTables, n_rows: int) -> list[list[int | None]]:
    """Return what the first rows hold, as `plan.strips` does."""
    if not tables.is_striped:
        per_disk = tables.member // tables.strip
        return [[disk * per_disk + row for row in range(n_rows)] for disk in range(tables.n_disks)]
    held: list[list[int | None]] = [[None] * n_rows for _ in range(tables.n_disks)]
    for chunk in range(n_rows * tables.n_disks):
        for disk, row_number in copies_of(tables, chunk):
            if row_number < n_rows:
                held[disk][row_number] = chunk
    return held
