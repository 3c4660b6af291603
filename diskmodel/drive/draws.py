"""What happens to an access at random: retries, and access on arrival that is not always made (rule M9)."""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.drive.generator import Generator
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.whole_numbers import PPM

#: The golden ratio in parts of 2³²: disks side by side begin far apart.
_APART = 2654435769


class AccessDraw(NamedTuple):
    """What an access has drawn.

    Attributes
    ----------
    in_order : bool
        It reads in order although the drive can begin wherever the head arrives.
    late_ns : int
        How much later than usual it ends.
    """

    in_order: bool
    late_ns: int


USUAL = AccessDraw(False, 0)


class Draws:
    """The draws of one disk, one after the other.

    Parameters
    ----------
    tables : HddTables
    first_draw : int
        Of the scenario; every disk has its own place behind it.
    disk : int
    """

    def __init__(self, tables: HddTables, first_draw: int = 0, disk: int = 0) -> None:
        self._zero_ppm = tables.zero_latency_ppm if tables.zero_latency else PPM
        self._retry_ppm = tables.retry_ppm
        self._retry_ns = [int(v) for v in tables.retry_ns]
        self._below = Generator((first_draw + _APART * disk) % (1 << 32)).below

    def next(self) -> AccessDraw:
        """Return what the next access to the media draws."""
        in_order = self._zero_ppm < PPM and self._below(PPM) >= self._zero_ppm
        late = self._retry_ppm > 0 and self._below(PPM) < self._retry_ppm
        return AccessDraw(in_order, self._retry_ns[self._below(len(self._retry_ns))] if late else 0)
