"""What hard disks hold after a long time of a workload: writes in buffers and in media caches (rules Z5, G9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from diskmodel.drive import DriveTables, HddTables
from diskmodel.engine.ledger import current
from diskmodel.engine.steady.drives.buffered import held_by_disks
from diskmodel.engine.steady.drives.drives import Drives
from diskmodel.engine.steady.drives.media_cache import Caches, current_runs, full_caches
from diskmodel.engine.steady.past.blocks import n_blocks_of, regions_of
from diskmodel.engine.steady.past.history import MAX_ROWS
from diskmodel.engine.steady.start import EMPTY, Level
from diskmodel.engine.steady.station import DRAWN_S
from diskmodel.records import Int64
from diskmodel.result.statistics import UNKNOWN_CYCLE
from diskmodel.workload import Sequential

#: Part of a buffer from which on what is listed of it counts as all: room for a hundred writes of each disk is left. At
#: 0.8, 40 disks take a run of 30,000 writes into the room that is missing.
_NEARLY_ALL = 0.99
#: Writes that are drawn for all buffers at most where these hold a small part of all that is ever written, one of so
#: many; the rest of what they hold is room that is taken (`HardDisks.apart`), in which nothing is written again.
#: Firmware chooses among some hundred of them. With four times as many, arrays of 24 to 100 disks complete as much,
#: within what another seed changes, and take up to five times as long; at half, 1,000 disks have 250 each.
_MOST_ROWS, _SMALL_PART = 1 << 19, 16


class HardDisks(Drives):
    """Writes that buffers hold, those in media caches, and runs that go past these."""

    @property
    def _tables(self) -> HddTables:
        return cast("HddTables", self.scenario.drive)

    @property
    def most_rows(self) -> int:
        return _MOST_ROWS if self._sectors_ever() >= _SMALL_PART * self.buffer else super().most_rows

    def _sectors_ever(self) -> float:
        """Return the sectors of a buffer that all would take which is ever written to a disk."""
        layout, history = self.scenario.layout, self.history
        # what is in order takes the room that it is long; single writes take more
        mean_sectors = max(history.workload.mean_size_bytes // self.sector_bytes, 1)
        written = n_blocks_of(regions_of(history, self.sector_bytes, only_writes=True)) * layout.pieces_of_each
        return written // layout.n_disks * max(self._tables.write_room_sectors / mean_sectors, 1.0)

    @property
    def rows_waiting(self) -> int:
        media = self._tables.media_cache
        return max(super().rows_waiting, self._rows_of_runs(media.run_sectors) if media else 0)

    def buffered(self, room: int) -> tuple[Int64, Int64, Int64]:
        if not room or not self.writes_anything:
            return super().buffered(room)
        held = self._held(room)
        least = self._least(room, *held)
        if least == room:
            return EMPTY.programmed, *held
        # as much on each disk, so that all are as full
        current().enter_once(("again", room, self.last_writes(room)), DRAWN_S * len(held[0]))
        return EMPTY.programmed, *self._held(least, room)

    def _held(self, room: int, drawn_for: int | None = None) -> tuple[Int64, Int64]:
        """Return writes that leave no more of each buffer than that `room` is full, and the room of each."""
        tables = self._tables
        last, border = self.last_writes(drawn_for or room), tables.n_sectors_per_actuator
        return held_by_disks(last, tables.segment_sectors, border, room, tables.write_room_sectors)

    def _room_of_each(self, buffered: Int64, room: Int64) -> Int64:
        """Return the sectors that writes take of the buffer of each disk that works."""
        layout = self.scenario.layout
        weights = room if len(room) else buffered[:, 2]
        found = np.bincount(buffered[:, 0], weights=weights, minlength=layout.n_disks).astype(np.int64)
        return np.delete(found, list(layout.failed))

    def _least(self, room: int, buffered: Int64, buffered_room: Int64) -> int:
        """Return what all buffers hold at least, where it is less than `room` as the past is drawn only so far back."""
        of_each = self._room_of_each(buffered, buffered_room)
        least = int(of_each.min())
        # what goes to a few disks at a time is not on all of them
        if least >= _NEARLY_ALL * room or 2 * least < of_each.mean():
            return room
        return least if self.is_cut(room) and room <= self._sectors_ever() else room

    def apart(self, room: int, buffered: Int64, buffered_room: Int64) -> int:
        """Return the sectors of each buffer that are full beside those writes, of `room`.

        Of many disks the past is drawn only so far back: 160 that began with a fifth of what their buffers hold took
        fifty times what they write.
        """
        if not len(buffered) or self._least(room, buffered, buffered_room) == room:
            return 0
        return room - int(self._room_of_each(buffered, buffered_room).max())

    @staticmethod
    def full_of(tables: DriveTables, lba: int) -> list[tuple[int, int, int]]:
        of_disk = cast("HddTables", tables)
        longest = max(of_disk.segment_sectors, of_disk.write_room_sectors)
        n = min(of_disk.buffer_sectors, lba) // longest
        return [(lba - (n - at) * longest, longest, longest) for at in range(n)]

    def own_columns(self) -> Mapping[str, Any]:
        return {"runs": self.once("runs", None, self._runs)}

    def logged(self, level: Level) -> Caches:
        return self.once("logged", level, lambda: self._logged(level))

    @property
    def knows_cleanings(self) -> bool:
        media = self._tables.media_cache
        is_shingled = media is not None and media.band_sectors > 0
        return not is_shingled or self.logged(Level.FULL).cleaning_requests > 0

    def _logged(self, level: Level) -> Caches:
        if self._tables.media_cache is None or level is Level.LOW or not self.writes_anything:
            return Caches.empty()
        found = full_caches(self.history, self.scenario.layout, self._tables)
        return found if level is Level.FULL else replace(found, cleaning_requests=UNKNOWN_CYCLE)

    def _runs(self) -> Int64:
        """Sequential runs of writes that go on (rule G9)."""
        if self._tables.media_cache is None or not self.writes_anything:
            return EMPTY.runs
        return current_runs(self.history, self.scenario.layout, self._tables)

    def _rows_of_runs(self, run_sectors: int) -> int:
        """Requests in which each stream that writes in order writes a run on every disk (rule G9)."""
        streams = self.history.workload.streams
        total = sum(stream.row_weight for stream in streams)
        rates = [
            stream.row_weight / total * stream.write_ratio * stream.mean_size_bytes
            for stream in streams
            if isinstance(stream.addresses, Sequential) and stream.write_ratio
        ]
        run_bytes = run_sectors * self.sector_bytes * self.scenario.layout.n_disks
        # a quarter more, as strips may begin anywhere
        return min(int(run_bytes * 5 / (4 * min(rates))), MAX_ROWS) if rates else 0
