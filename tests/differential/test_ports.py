"""The log of ports: both engines say the same, and a difference is found at the station that makes it."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.reference.clock import Port
from tests.differential.ports import first_difference, station
from tests.differential.witnesses import witness

#: A pool with cache devices, a page cache over places at a disk, and a file system's log.
CASES = ("cache-device-beside-a-large-arc", "batch-that-waits-for-a-place", "log-of-xfs-without-a-place")


@pytest.mark.parametrize("name", CASES)
def test_both_engines_say_the_same_at_every_port(name: str) -> None:
    case = witness(name)
    simpy = simpy_engine.ports(case.scenario, case.requests)
    assert set(simpy[:, 1]) == set(Port)
    assert first_difference(simpy, native.ports(case.scenario, case.requests)) is None


def test_who_says_something_else_first_is_found() -> None:
    log = np.array([[5, Port.CONTROLLER_TO_VOLUME, 0, 0, 8, 8], [5, Port.VOLUME_TO_DRIVE, 1, 0, 8, 8]])
    late = np.array([[9, Port.DRIVE_TO_VOLUME, 1, 0, 8, 8], [9, Port.VOLUME_TO_CONTROLLER, 0, 0, 8, 8]])
    said = np.concatenate([log, late])
    assert first_difference(said, said[[1, 0, 3, 2]]) is None
    for row, who in enumerate(("controller", "volume", "drive", "volume")):
        other = said.copy()
        other[row:, 4] += 1
        difference = first_difference(said, other)
        assert difference is not None
        assert station(difference) == who
    assert first_difference(said, said[:3]) == (
        "volume to controller: only simpy says at 9 ns: drive 0, op 0, sector 8, 8 sectors"
    )
