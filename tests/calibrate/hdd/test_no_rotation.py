"""The search for a revolution ends, and finds none, where nothing turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calibrate.hdd import rotation


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("scale_ns", [4e4, 2e6, 5e8])
def test_gaps_without_a_beat_show_no_platter(monkeypatch: pytest.MonkeyPatch, seed: int, scale_ns: float) -> None:
    gaps = np.random.default_rng(seed).exponential(scale_ns, 600) + 1e4
    monkeypatch.setattr(rotation, "_gaps", lambda measurement: gaps)
    measurement: Any = None
    found = rotation.find_rotation(measurement)
    assert found is not None
    assert not found.is_found
