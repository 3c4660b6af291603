"""Linux md's stripe cache: what a parity array still knows of the rows that it wrote last (rule L15)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from diskmodel.layout.md.parity import Part, Row, row_of, rows_of
from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pieces import ChildIo
from diskmodel.records import READ, WRITE


@dataclass
class Stretch:
    """Pages of one row that a request writes alike.

    Attributes
    ----------
    pages : range
        Their numbers; every row has as many as a strip has pages.
    busy : object or None
        Who reads or writes them now.
    reads, writes : list of ChildIo
        What has to be read first, and what is written then.
    """

    pages: range
    written: int
    known: int
    busy: object | None
    reads: list[ChildIo] = field(default_factory=list)
    writes: list[ChildIo] = field(default_factory=list)

    def is_continued_by(self, page: int, written: int, known: int, busy: object | None) -> bool:
        """Whether a page behind it is written like these."""
        mine = (self.pages.stop, self.written, self.known)
        return mine == (page, written, known) and self.busy is busy


class StripeCache:
    """The pages of rows that were written last, and which strips of each are in memory.

    Parameters
    ----------
    tables : MdTables
        Rows with parity in one group, and a stripe cache.
    """

    def __init__(self, tables: MdTables) -> None:
        self.tables = tables
        self.pages_per_strip = tables.strip // tables.stripe_page
        #: Strips of each page that are known, as bits, data before parity; the page that was written last comes last.
        self.known: OrderedDict[int, int] = OrderedDict()
        self.busy: dict[int, object] = {}

    def write(self, sector: int, n: int) -> list[Stretch]:
        """Return what a write of `n` sectors reads and writes, in md's order; from now on all of it is known."""
        rows = [(number, row_of(self.tables, number), parts) for number, parts in rows_of(self.tables, sector, n)]
        if len(rows) > 1 and self._begins_with_the_second(rows[0][1], rows[0][2]):
            rows = rows[1:] + rows[:1]
        found = [stretch for number, row, parts in rows for stretch in self._row(number, row, parts)]
        while len(self.known) > self.tables.stripe_cache:
            self.known.popitem(last=False)
        return found

    def begin(self, pages: Iterable[int], who: object) -> None:
        """From now on `who` reads what it needs to write these pages, or writes them."""
        for page in pages:
            self.busy[page] = who

    def end(self, pages: Iterable[int], who: object) -> None:
        """`who` has written these pages."""
        for page in pages:
            if self.busy.get(page) is who:
                del self.busy[page]

    def _begins_with_the_second(self, row: Row, parts: list[Part]) -> bool:
        """Whether md takes the row of the first strip last: the next disk by number is another row's."""
        disk = row.data[parts[0].strip] + 1
        while disk in row.parity:
            disk += 1
        return parts[0].strip == self.tables.n_data - 1 and disk < self.tables.n_disks

    def _row(self, number: int, row: Row, parts: list[Part]) -> list[Stretch]:
        page_sectors = self.tables.stripe_page
        low, high = min(part.start for part in parts), max(part.end for part in parts)
        stretches: list[Stretch] = []
        first = number * self.pages_per_strip
        for page in range(low // page_sectors, -(-high // page_sectors)):
            start, end = page * page_sectors, (page + 1) * page_sectors
            written = sum(1 << part.strip for part in parts if part.start < end and start < part.end)
            if not written:
                continue
            key = first + page
            known, busy = self.known.pop(key, 0), self.busy.get(key)
            self.known[key] = known
            if stretches and stretches[-1].is_continued_by(key, written, known, busy):
                stretches[-1].pages = range(stretches[-1].pages.start, key + 1)
            else:
                stretches.append(Stretch(range(key, key + 1), written, known, busy))
        for stretch in stretches:
            start = max(low, (stretch.pages.start - first) * page_sectors)
            end = min(high, (stretch.pages.stop - first) * page_sectors)
            self._plan(row, parts, stretch, start, end)
        return stretches

    def _plan(self, row: Row, parts: list[Part], stretch: Stretch, start: int, end: int) -> None:
        """What a stretch between these sectors of its strips reads and writes (rule L8, less what is known)."""
        tables, disks = self.tables, row.data + row.parity
        own = [Part(p.strip, max(p.start, start), min(p.end, end)) for p in parts if stretch.written >> p.strip & 1]
        whole = sum(1 << part.strip for part in own if (part.start, part.end) == (start, end))
        data = (1 << tables.n_data) - 1
        parity = (1 << len(disks)) - 1 - data
        modify = (stretch.written | parity) & ~stretch.known
        reconstruct = data & ~whole & ~stretch.known
        prefers_modify = tables.write_policy == "read-modify-write" or (
            tables.write_policy == "fewest" and modify.bit_count() < reconstruct.bit_count()
        )
        needed = modify if prefers_modify else reconstruct
        for page in stretch.pages:
            self.known[page] |= stretch.written | parity | needed
        length = end - start
        stretch.reads = [ChildIo(d, READ, row.lba + start, length) for i, d in enumerate(disks) if needed >> i & 1]
        stretch.writes = [ChildIo(disks[p.strip], WRITE, row.lba + p.start, p.end - p.start) for p in own]
        stretch.writes += [ChildIo(disk, WRITE, row.lba + start, length) for disk in row.parity]
