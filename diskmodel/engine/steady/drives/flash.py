"""What flash drives hold after a long time of a workload: pages, blocks that are cleaned, buffers (rules Z5, F18)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from diskmodel.drive import FlashTables
from diskmodel.engine.steady.drives.buffered import held_by_flash, units_left_out
from diskmodel.engine.steady.drives.drives import Drives
from diskmodel.engine.steady.past.history import History, ranges
from diskmodel.engine.steady.past.keeping import kept
from diskmodel.engine.steady.start import EMPTY, Level
from diskmodel.layout import VolumeTables
from diskmodel.layout.written import written
from diskmodel.records import Int64
from diskmodel.workload import Sequential

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Blocks of the model of garbage collection (F12) that a flash drive's last programmed writes fill: up to one is left
#: out (`units_left_out`), in the next nothing is copied yet, and after three more each page pays for all its copies.
_BLOCKS_PROGRAMMED = 5
#: Units that are written, in units of that model, to bring blocks from the state of uniform small writes into that of
#: large ones. At half of it, 16 units each cause 12 % more copies than after ten times as many; it takes 30 ms.
_ROUNDS_AGED = 2
#: Lists of what ages flash that are kept: half of a model's units each, and draws of one drive have the same.
_AGED_KEPT = 2


class FlashDrives(Drives):
    """Writes that were programmed last and those in buffers, and in which units and blocks data lie."""

    def __init__(self, scenario: Scenario, history: History) -> None:
        super().__init__(scenario, history)
        tables = self._tables
        ftl, per_page = tables.ftl, tables.units_per_page
        # pages of a fresh drive cost nothing until it is full
        n_units, self._staggered_units = (
            (2 * per_page, per_page) if ftl.is_fresh else (_BLOCKS_PROGRAMMED * ftl.block_units, ftl.block_units)
        )
        self.programmed = n_units * tables.sectors_per_unit

    @property
    def _tables(self) -> FlashTables:
        return cast("FlashTables", self.scenario.drive)

    @property
    def first_level(self) -> Level:
        """Nothing holds a buffer at a mark: it is programmed at once."""
        return Level.LOW

    @property
    def open_sectors(self) -> int:
        """Return those of the page that is being filled: all but one of its units."""
        return (self._tables.units_per_page - 1) * self._tables.sectors_per_unit

    def buffered(self, room: int) -> tuple[Int64, Int64, Int64]:
        per_unit = self._tables.sectors_per_unit
        # the page that is being filled may hold that many already
        room = max(min(room, self.buffer - self.open_sectors), 0)
        held = held_by_flash(self.last_writes(room + self.programmed), per_unit, room, self._staggered_units)
        return *held, EMPTY.buffered_room

    def own_columns(self) -> Mapping[str, Any]:
        return {
            "aged": self.once("aged", None, self._aged),
            "piece_units": self._piece_units(),
            "shifts": self._shifts(),
        }

    def _aged(self) -> Int64:
        """Units that bring the blocks of flash into the state of this workload (rule F18)."""
        tables = self._tables
        if tables.ftl.is_fresh:
            return EMPTY.aged
        n_units = _ROUNDS_AGED * tables.ftl.model_units
        return _aged_units(self.history, self.scenario.layout, n_units, tables.mapping_bytes, self.sector_bytes)

    def _piece_units(self) -> int:
        """Units that data were last written in together, the median by bytes (rule Z5); 0: in order."""
        if not self.writes_anything:
            return EMPTY.piece_units
        strip_bytes = self.scenario.layout.strip * self.sector_bytes
        pieces = []
        for stream in self.history.workload.streams:
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

    def _shifts(self) -> Int64:
        """Units before the first one on its page, of each drive, so that data lie as those that are written from now on
        (rule Z5)."""
        if not self.writes_anything:
            return EMPTY.shifts
        left_out = units_left_out(np.arange(self.scenario.n_devices), self._staggered_units)
        return -left_out % self._tables.units_per_page


@kept(_AGED_KEPT)
def _aged_units(history: History, layout: VolumeTables, n_units: int, unit_bytes: int, sector_bytes: int) -> Int64:
    """The last `n_units` units that a drive of an array was written in, those of a write together; none where a write
    is not longer than a unit.

    Drives are alike: as if one had got all data. Copies and parity of them lie at the same places, and are left out.
    """
    offset, length = history.writes(n_units * unit_bytes)
    sector, per_unit = offset // sector_bytes, unit_bytes // sector_bytes
    pieces = written(replace(layout, failed=()), sector, -(-(offset + length) // sector_bytes) - sector)
    lba, n = (column[:: layout.pieces_of_each] for column in (pieces.lba, pieces.n))
    first = lba // per_unit
    count = (lba + n - 1) // per_unit - first + 1
    if not len(count) or count.max() == 1:
        return np.empty(0, np.int64)
    return ranges(first, count)[-n_units:]
