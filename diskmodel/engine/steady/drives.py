"""What drives of each kind hold after a long time of a workload (rules Z5, F18, G9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from diskmodel.drive import DriveTables, FlashTables, HddTables
from diskmodel.engine.steady.buffered import held_by_disks, held_by_flash, units_left_out
from diskmodel.engine.steady.contents import aged_units
from diskmodel.engine.steady.logged import Caches, current_runs, full_caches
from diskmodel.engine.steady.start import EMPTY
from diskmodel.records import Int64
from diskmodel.workload import Sequential

if TYPE_CHECKING:
    from diskmodel.engine.steady.parts import Parts

#: Blocks of the model of garbage collection (F12) that a flash drive's last programmed writes fill: up to one is left
#: out (`units_left_out`), in the next nothing is copied yet, and after three more each page pays for all its copies.
_BLOCKS_PROGRAMMED = 5
#: Units that are written, in units of that model, to bring blocks from the state of uniform small writes into that of
#: large ones. At half of it, 16 units each cause 12 % more copies than after ten times as many; it takes 30 ms.
_ROUNDS_AGED = 2


class DriveState:
    """A drive that holds nothing; kinds that do say here what.

    Attributes
    ----------
    programmed : int
        Sectors that each drive has programmed last.
    """

    programmed = 0

    def buffered(self, parts: Parts, room: int) -> tuple[Int64, Int64, Int64]:
        """Return writes that were programmed last, those that leave `room` sectors in buffers, and their room."""
        return EMPTY.programmed, EMPTY.buffered, EMPTY.buffered_room

    def full_of(self, lba: int) -> list[tuple[int, int, int]]:
        """Return writes in order up to `lba` that fill a buffer: first block, sectors, and room of each (rule Z12)."""
        return []

    def full_caches(self, parts: Parts) -> Caches:
        """Return what full media caches hold (rule G9)."""
        return Caches.empty()

    def runs(self, parts: Parts) -> Int64:
        """Return sequential runs of writes that go on (rule G9)."""
        return EMPTY.runs

    def aged(self, parts: Parts) -> Int64:
        """Return units that bring the blocks of flash into the state of this workload (rule F18)."""
        return EMPTY.aged

    def piece_units(self, parts: Parts) -> int:
        """Return the units that data were last written in together (rule Z5); 0: in order."""
        return EMPTY.piece_units

    def shifts(self, parts: Parts) -> Int64:
        """Return the units before the first one on its page, of each drive (rule Z5)."""
        return EMPTY.shifts


class _HardDisk(DriveState):
    def __init__(self, tables: HddTables) -> None:
        self._tables = tables

    def buffered(self, parts: Parts, room: int) -> tuple[Int64, Int64, Int64]:
        if not room or not parts.writes_anything:
            return super().buffered(parts, room)
        tables = self._tables
        last, border = parts.last_writes(room), tables.n_sectors_per_actuator
        held = held_by_disks(last, tables.segment_sectors, border, room, tables.write_room_sectors)
        return EMPTY.programmed, *held

    def full_of(self, lba: int) -> list[tuple[int, int, int]]:
        tables = self._tables
        longest = max(tables.segment_sectors, tables.write_room_sectors)
        n = min(tables.buffer_sectors, lba) // longest
        return [(lba - (n - at) * longest, longest, longest) for at in range(n)]

    def full_caches(self, parts: Parts) -> Caches:
        return full_caches(parts.history, parts.scenario.layout, self._tables)

    def runs(self, parts: Parts) -> Int64:
        if self._tables.media_cache is None or not parts.writes_anything:
            return EMPTY.runs
        return current_runs(parts.history, parts.scenario.layout, self._tables)


class _FlashDrive(DriveState):
    def __init__(self, tables: FlashTables) -> None:
        self._tables = tables
        ftl, per_page = tables.ftl, tables.units_per_page
        # pages of a fresh drive cost nothing until it is full
        n_units, self._staggered_units = (
            (2 * per_page, per_page) if ftl.is_fresh else (_BLOCKS_PROGRAMMED * ftl.block_units, ftl.block_units)
        )
        self.programmed = n_units * tables.sectors_per_unit

    def buffered(self, parts: Parts, room: int) -> tuple[Int64, Int64, Int64]:
        per_unit = self._tables.sectors_per_unit
        # the page that is being filled may hold all but one of its units already
        room = max(min(room, parts.buffer - (self._tables.units_per_page - 1) * per_unit), 0)
        held = held_by_flash(parts.last_writes(room + self.programmed), per_unit, room, self._staggered_units)
        return *held, EMPTY.buffered_room

    def aged(self, parts: Parts) -> Int64:
        tables = self._tables
        if tables.ftl.is_fresh:
            return EMPTY.aged
        n_units = _ROUNDS_AGED * tables.ftl.model_units
        return aged_units(parts.history, parts.scenario.layout, n_units, tables.mapping_bytes, parts.sector_bytes)

    def piece_units(self, parts: Parts) -> int:
        """Return the median, by bytes."""
        if not parts.writes_anything:
            return EMPTY.piece_units
        strip_bytes = parts.scenario.layout.strip * parts.sector_bytes
        pieces = []
        for stream in parts.history.workload.streams:
            rate = stream.row_weight * stream.write_ratio
            total = sum(share.weight for share in stream.sizes)
            for share in stream.sizes:
                units = -(-min(share.size_bytes, strip_bytes) // self._tables.mapping_bytes)
                # what is written in order lies in order
                is_in_order = isinstance(stream.addresses, Sequential)
                pieces.append((math.inf if is_in_order else units, rate * share.weight / total * share.size_bytes))
        pieces.sort()
        written_bytes = np.cumsum([n_bytes for _, n_bytes in pieces])
        median = pieces[int(np.searchsorted(written_bytes, written_bytes[-1] / 2))][0]
        return 0 if math.isinf(median) else int(median)

    def shifts(self, parts: Parts) -> Int64:
        """Return them so that data lie as those do that are written from now on."""
        if not parts.writes_anything:
            return EMPTY.shifts
        left_out = units_left_out(np.arange(parts.scenario.n_devices), self._staggered_units)
        return -left_out % self._tables.units_per_page


#: Kinds of drives that hold something, with their state.
_STATES: Mapping[type[DriveTables], Callable[[Any], DriveState]] = {HddTables: _HardDisk, FlashTables: _FlashDrive}


def drive_state(tables: DriveTables) -> DriveState:
    """Return what drives of this kind hold."""
    return _STATES.get(type(tables), lambda _: DriveState())(tables)
