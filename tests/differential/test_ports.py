"""A difference between two logs of ports is found at the station that makes it."""

from __future__ import annotations

import numpy as np

from diskmodel.engine.reference.clock import Port
from tests.differential.compare import first_difference, station


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
