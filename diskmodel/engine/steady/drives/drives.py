"""What drives of any kind hold after a long time of a workload (rules Z5, F18, G9)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pkgutil import resolve_name
from typing import Any, cast

from diskmodel.drive import DriveTables
from diskmodel.engine.ledger import current
from diskmodel.engine.steady.drives.buffered import LastWrites
from diskmodel.engine.steady.drives.media_cache import Caches
from diskmodel.engine.steady.past.history import MAX_ROWS
from diskmodel.engine.steady.start import EMPTY, Level, Levels
from diskmodel.engine.steady.station import Station
from diskmodel.records import Int64


class Drives(Station):
    """Drives that hold nothing; kinds that do say here what.

    Attributes
    ----------
    programmed : int
        Sectors that each drive has programmed last.
    """

    programmed = 0

    # ------------------------------------------------------------------ what a kind says
    def buffered(self, room: int) -> tuple[Int64, Int64, Int64]:
        """Return writes that were programmed last, those that leave `room` sectors in buffers, and their room."""
        return EMPTY.programmed, EMPTY.buffered, EMPTY.buffered_room

    def apart(self, room: int, buffered: Int64, buffered_room: Int64) -> int:
        """Return the sectors of each buffer that are full beside those writes, of `room`."""
        return 0

    @staticmethod
    def full_of(tables: DriveTables, lba: int) -> list[tuple[int, int, int]]:
        """Return writes in order up to `lba` that fill a buffer: first block, sectors, and room of each (rule Z12)."""
        return []

    @property
    def most_rows(self) -> int:
        """Writes that are drawn for the buffers of all drives at most."""
        return MAX_ROWS

    def own_columns(self) -> Mapping[str, Any]:
        """Return what else the kind holds, at any level."""
        return {}

    def logged(self, level: Level) -> Caches:
        """Return what media caches hold at a level (rule G9)."""
        return Caches.empty()

    @property
    def knows_cleanings(self) -> bool:
        """Whether it is known how often full media caches clean; those without bands never have to."""
        return True

    @property
    def open_sectors(self) -> int:
        """Return the sectors of each buffer that wait for more to be written with, and not for their turn."""
        return 0

    # ------------------------------------------------------------------ of all kinds
    @property
    def buffer(self) -> int:
        """Sectors of a drive's buffer; 0: writes go to the media."""
        return self.scenario.drive.buffer_sectors

    @property
    def has_level(self) -> bool:
        return bool(self.buffer or self.scenario.drive.media_cache)

    @property
    def first_level(self) -> Level:
        """Where the trial begins."""
        return Level.MARK

    @property
    def marks(self) -> tuple[int, int]:
        layout = self.scenario.layout
        room = self.buffer * (layout.n_disks - len(layout.failed)) * self.sector_bytes
        return room // 2, room

    @property
    def open_bytes(self) -> int:
        """Bytes in all buffers that no drive would write yet, however idle it is."""
        layout = self.scenario.layout
        return self.open_sectors * (layout.n_disks - len(layout.failed)) * self.sector_bytes

    @property
    def rows_waiting(self) -> int:
        if not self.buffer and not self.programmed:
            return 0
        return self.history.rows_of_writes(self._buffered_bytes(self.buffer + self.programmed))

    def settle(self, levels: Levels) -> Mapping[str, Any]:
        room = {Level.LOW: 0, Level.MARK: self.buffer // 2, Level.FULL: self.buffer}[levels.drives]
        programmed, buffered, buffered_room = self.once("buffered", levels.drives, lambda: self.buffered(room))
        caches = self.logged(levels.media)
        return {
            "programmed": programmed,
            "buffered": buffered,
            "buffered_room": buffered_room,
            "buffers_apart": self.once("apart", room, lambda: self.apart(room, buffered, buffered_room), 0.0),
            "logged": caches.writes,
            "cleaning_requests": caches.cleaning_requests,
            **self.own_columns(),
        }

    def last_writes(self, room: int) -> LastWrites:
        """Return the past's last writes to disks, enough for `room` sectors on each."""
        return LastWrites(self.history.placed, self.scenario.layout, self.sector_bytes, self._buffered_bytes(room))

    def enter(self, part: str, level: Hashable, drawn: object, seconds: float) -> None:
        if part != "buffered":
            super().enter(part, level, drawn, seconds)
        else:  # kept for a question
            of_all = self.last_writes(self.buffer + self.programmed)
            current().enter_once((part, level, of_all), seconds)

    def is_cut(self, room: int) -> bool:
        """Whether fewer writes are drawn than leave `room` sectors in the buffer of each disk."""
        n_bytes = self._buffered_bytes(room)
        return n_bytes < self._enough_bytes(room) or self.history.rows_of_writes(n_bytes) >= MAX_ROWS

    def _enough_bytes(self, room: int) -> int:
        """Bytes of writes that leave `room` sectors in the buffer of each disk."""
        layout = self.scenario.layout
        # a disk gets its part of the writes whether or not others work; a quarter more than fits on average, so that
        # few disks get less than they have room for
        return room * layout.n_disks * self.sector_bytes * 5 // (4 * layout.pieces_of_each)

    def _buffered_bytes(self, room: int) -> int:
        """The same, of no more strips than `most_rows`."""
        layout = self.scenario.layout
        n_bytes = self._enough_bytes(room)
        if not layout.has_strips:
            return n_bytes
        # strips of one sector (RAID 3) would be 40 million of 64 disks, and small writes as many of 2,000
        piece_bytes = min(layout.strip * self.sector_bytes, self.history.workload.mean_size_bytes)
        return min(n_bytes, int(self.most_rows * piece_bytes) // layout.pieces_of_each)


def drives_of(tables: DriveTables) -> type[Drives]:
    """Return the class of what drives of this kind hold (`DriveTables.held`)."""
    return cast("type[Drives]", resolve_name(tables.held)) if tables.held else Drives
