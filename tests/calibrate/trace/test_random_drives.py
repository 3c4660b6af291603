"""Drives drawn at random from the family, calibrated on one part of their trace and judged by the rest."""

from __future__ import annotations

import pytest

from tests.calibrate.trace.random_drives import calibrated

# write-back with spare tracks; write-through with spare sectors, defects and a spindle that warms; a coarse clock
SEEDS = (203, 202, 205)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drive_of_the_family(seed: int) -> None:
    found = calibrated(seed, 4000, 4000)
    assert found.fit.has_converged
    assert found.failures == []
    assert found.heads == found.drive.layout.heads
