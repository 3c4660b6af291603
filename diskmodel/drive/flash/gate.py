"""What holds writes back that the buffer has room for: batches of copies, and the pace of cleaning (rules F24, F25).

And what reads take longer beside writes (rule F26).
"""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.drive.flash.tables import FlashTables
from diskmodel.units import NS_PER_S

#: Largest time of a unit, ns, so that times in the kernel fit into 64 bits; it is over an hour.
_LONGEST_NS = 1 << 42
#: The page closed before last was closed at most so long ago where a drive is being written, ns: reads of a D7-P5520
#: are slower beside 20,000 writes a second, hardly beside 10,000. At half or double, from twice or half that rate on.
#: After a read a drive counts as being read as long (rule F27).
LATELY_NS = 900_000


class Copied(NamedTuple):
    """Copies that are due with a page: units, and pages that are read for them."""

    n_units: int = 0
    n_reads: int = 0


class Gate:
    """Lets the units of writes into the buffer of one drive.

    Parameters
    ----------
    tables : FlashTables
    drive : int
        Number of the drive in the array.
    """

    def __init__(self, tables: FlashTables, drive: int) -> None:
        self._tables = tables
        # copies since the last batch, until when one holds writes, and how many units it still takes (rule F24)
        self.batched = 618 * drive % 1000 * tables.batch_units // 1000
        self._held_until_ns = 0
        self._batch_room = 0
        # until when the dies work for what was let in, and how long they do for a unit (rule F25)
        self._paid_until_ns = 0
        self._price_ns = 0
        self._closed_ns = (-LATELY_NS - 1,) * 2
        self.set_price(Copied())

    def opens_ns(self, now: int) -> int | None:
        """Return when the next unit is let in; None where one is now."""
        tables = self._tables
        batch = 0 if self._batch_room else self._held_until_ns
        paced = self._paid_until_ns - tables.pace_units * self._price_ns if tables.pace_units else 0
        opens = max(batch, paced)
        return opens if opens > now else None

    def takes(self, now: int, count: int) -> int:
        """Let in some units of a write; return how many of `count`."""
        if now < self._held_until_ns:
            count = min(count, self._batch_room)
            self._batch_room -= count
        if self._tables.pace_units:
            self._paid_until_ns = max(self._paid_until_ns, now) + count * self._price_ns
        return count

    def page_closed(self, copied: Copied, now: int, *, is_alone: bool) -> None:
        """Take the price of the next units from a closed page; hold writes once copies make a batch.

        Parameters
        ----------
        copied : Copied
            Due with the page.
        now : int
        is_alone : bool
            Whether no other write waits than the one that closed the page.
        """
        self._closed_ns = (self._closed_ns[1], now)
        self.set_price(copied)
        tables = self._tables
        if not tables.batch_ns:
            return
        self.batched += copied.n_units
        if self.batched >= tables.batch_units:
            self.batched %= tables.batch_units
            if is_alone and now >= self._held_until_ns:
                self._held_until_ns, self._batch_room = now + tables.batch_ns, tables.batch_room_units

    def read_ns(self, now: int) -> int:
        """Return how much longer a read takes now (rule F26)."""
        return self._tables.read_beside_writes_ns if now - self._closed_ns[0] <= LATELY_NS else 0

    def set_price(self, copied: Copied) -> None:
        """Set the price of a unit: its share in the work of all dies for a page and its copies."""
        tables, per_page = self._tables, self._tables.units_per_page
        n_programmed = per_page + copied.n_units
        erased_ns = tables.erase_ns * n_programmed // (per_page * tables.pages_per_block)
        page_ns = tables.page_bytes * NS_PER_S // tables.channel_bytes_per_s + tables.program_ns
        work_ns = page_ns * n_programmed // per_page + erased_ns + tables.read_ns * copied.n_reads
        self._price_ns = min(work_ns // (tables.n_dies * per_page), _LONGEST_NS)
