"""What hard disks hold after a long time of a workload: writes in buffers and in media caches (rules Z5, G9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from diskmodel.drive import DriveTables, HddTables
from diskmodel.engine.steady.drives.buffered import held_by_disks
from diskmodel.engine.steady.drives.drives import Drives
from diskmodel.engine.steady.drives.media_cache import Caches, current_runs, full_caches
from diskmodel.engine.steady.past.history import MAX_ROWS
from diskmodel.engine.steady.start import EMPTY, Level
from diskmodel.records import Int64
from diskmodel.result.statistics import UNKNOWN_CYCLE
from diskmodel.workload import Sequential


class HardDisks(Drives):
    """Writes that buffers hold, those in media caches, and runs that go past these."""

    @property
    def _tables(self) -> HddTables:
        return cast("HddTables", self.scenario.drive)

    @property
    def rows_waiting(self) -> int:
        media = self._tables.media_cache
        return max(super().rows_waiting, self._rows_of_runs(media.run_sectors) if media else 0)

    def buffered(self, room: int) -> tuple[Int64, Int64, Int64]:
        if not room or not self.writes_anything:
            return super().buffered(room)
        tables = self._tables
        last, border = self.last_writes(room), tables.n_sectors_per_actuator
        held = held_by_disks(last, tables.segment_sectors, border, room, tables.write_room_sectors)
        return EMPTY.programmed, *held

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
