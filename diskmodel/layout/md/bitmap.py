"""Write-intent bitmap: which bits a write needs, which of them are set, and what has to be written (rule L13)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diskmodel.layout.md.tables import BITMAP_PAGE_BYTES, HEADER_BITS, MdTables

#: Bits of a page of 4 KiB, as Linux md keeps them on disk.
BITS_PER_PAGE = BITMAP_PAGE_BYTES * 8


@dataclass(slots=True)
class Bit:
    """A bit that some write has needed.

    Attributes
    ----------
    n_writes : int
        Writes that need it and have not ended.
    is_set : bool
        On disk.
    ended_ns : int
        When the last write that needed it ended.
    """

    n_writes: int = 0
    is_set: bool = False
    ended_ns: int = 0


def bits_of(tables: MdTables, sector: int, n: int) -> range:
    """Return the bits that a write of `n` sectors needs: chunks of the rows that it touches, or of the array."""
    last = sector + n - 1
    if tables.family == "parity":
        stripe = tables.strip * tables.n_data * tables.n_groups
        sector, last = (place // stripe * tables.strip for place in (sector, last))
    return range(sector // tables.bitmap_chunk, last // tables.bitmap_chunk + 1)


class Bitmap:
    """The bits of an array.

    Parameters
    ----------
    tables : MdTables
        With a bitmap.
    """

    def __init__(self, tables: MdTables) -> None:
        self.interval_ns = tables.bitmap_interval_ns
        self.is_cleared = not tables.failed
        self.bits: dict[int, Bit] = {}
        #: Bits to be set by the next write of the bitmap, and by the one in progress.
        self.pending: list[int] = []
        self.flying: list[int] = []

    def enter(self, bits: Iterable[int], now_ns: int) -> None:
        """A write that needs these bits is about to begin; those that are not set become pending."""
        for number in bits:
            bit = self.bits.setdefault(number, Bit())
            if bit.n_writes == 0 and not (bit.is_set and now_ns < self._cleared_ns(bit)):
                bit.is_set = False
                self.pending.append(number)
            bit.n_writes += 1

    def ended(self, bits: Iterable[int], now_ns: int) -> None:
        """A write that needed these bits has ended."""
        for number in bits:
            bit = self.bits[number]
            bit.n_writes -= 1
            bit.ended_ns = now_ns

    def take(self) -> list[int]:
        """Return the pages to be written, ascending; from now on the bits that were pending are being set."""
        self.flying, self.pending = self.pending, []
        return sorted({(HEADER_BITS + number) // BITS_PER_PAGE for number in self.flying})

    def written(self) -> None:
        """The pages have been written: their bits are set."""
        for number in self.flying:
            self.bits[number].is_set = True
        self.flying = []

    def _cleared_ns(self, bit: Bit) -> int:
        """Return when a bit that no write needs is cleared: the second wake-up of the daemon after the last one."""
        if not self.is_cleared:
            return 1 << 62
        return (bit.ended_ns // self.interval_ns + 2) * self.interval_ns
