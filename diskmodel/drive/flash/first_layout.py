"""Where a flash drive's data lie that are not written in the run (rule F2)."""

from __future__ import annotations

from diskmodel.drive.flash.tables import FlashTables
from diskmodel.loading import dataclass
from diskmodel.records import Int64

_64_BITS = (1 << 64) - 1


@dataclass(frozen=True)
class FirstLayout:
    """In order, or as earlier writes put them: pieces that were written together, one after the other at random.

    Attributes
    ----------
    piece_units : int
        Units that were written together; 0: all of them, in order.
    n_pieces : int
        Pieces of the drive, at least 1 where there are any.
    shift : int
        Units before the first one on its page.
    """

    piece_units: int = 0
    n_pieces: int = 0
    shift: int = 0

    @classmethod
    def of(cls, tables: FlashTables, piece_units: int, shifts: Int64, drive: int) -> FirstLayout:
        """Return the layout of a drive of an array; `shifts` is empty or has one of each drive."""
        n_units = tables.n_sectors // tables.sectors_per_unit
        n_pieces = max(n_units // piece_units, 1) if piece_units else 0
        return cls(piece_units, n_pieces, int(shifts[drive]) if len(shifts) else 0)

    def slot_of(self, unit: int) -> int:
        """Return the place of a unit, in units from the beginning of the first page."""
        if not self.piece_units:
            return unit + self.shift
        piece, within = divmod(unit, self.piece_units)
        return _scrambled(piece, self.n_pieces) * self.piece_units + within + self.shift


def _scrambled(number: int, bound: int) -> int:
    """Return a number below `bound` that looks random (the last step of SplitMix64, G. Steele et al., OOPSLA 2014)."""
    x = (number + 1) * 0x9E3779B97F4A7C15 & _64_BITS
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _64_BITS
    return (x ^ x >> 31) % bound
