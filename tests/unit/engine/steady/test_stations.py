"""Each kind of drive and of volume says itself what it holds when a run begins."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel import Array, Workload
from diskmodel.drive import CloudTables, FlashTables, HddTables, VirtualTables
from diskmodel.engine.steady.drives.drives import Drives, drives_of
from diskmodel.engine.steady.drives.flash import FlashDrives
from diskmodel.engine.steady.drives.hdd import HardDisks
from diskmodel.engine.steady.start import EMPTY, Level, Start
from diskmodel.records import Int64
from tests.unit.engine.steady.starting import start_of

VOLUME = Array.parse(
    {
        "drive": {
            "kind": "virtual",
            "name": "v",
            "capacity": "1 GiB",
            "read_overhead": "1 ms",
            "write_overhead": "1 ms",
        },
        "layout": {"level": "raid0", "disks": 2},
    }
)
LOAD = Workload.parse({"size": "4 KiB", "rate": "100/s", "read_ratio": 0.5})
HELD = np.array([(0, 8, 8), (1, 64, 8)], np.int64)


class Planted(Drives):
    """Drives with a buffer that this test fills."""

    @property
    def first_level(self) -> Level:
        return Level.LOW

    def buffered(self, room: int) -> tuple[Int64, Int64, Int64]:
        return EMPTY.programmed, HELD, EMPTY.buffered_room


def planted(scenario: object, workload: object, **asked: object) -> Start:
    """Return a start that only this function makes."""
    return Start(dirty=np.array([7], np.int64))


@pytest.mark.parametrize(
    ("kind", "held"),
    [(HddTables, HardDisks), (FlashTables, FlashDrives), (VirtualTables, Drives), (CloudTables, Drives)],
)
def test_a_kind_of_drive_names_what_it_holds(kind: type, held: type) -> None:
    assert drives_of(kind) is held


def test_what_a_kind_holds_comes_into_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """No list elsewhere has to be changed."""
    assert not len(start_of(VOLUME, LOAD).buffered)
    monkeypatch.setattr(VirtualTables, "held", f"{__name__}:Planted")
    assert start_of(VOLUME, LOAD).buffered.tolist() == HELD.tolist()


def test_a_kind_of_volume_may_begin_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from diskmodel.layout.md.tables import MdTables

    monkeypatch.setattr(MdTables, "own_start", f"{__name__}:planted")
    assert start_of(VOLUME, LOAD).dirty.tolist() == [7]
