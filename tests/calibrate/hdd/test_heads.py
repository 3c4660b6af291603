"""Heads and skews come back from reads at a constant stride, also when some of them come late."""

from pathlib import Path

import numpy as np
import pytest

from calibrate.hdd.heads import Heads, find_heads
from calibrate.measure import load
from diskmodel.drive import Hdd
from tests.calibrate.mock_device import MockDevice

PERIOD_NS = 6_000_000


def drive_with(heads: int, track_skew: int, cylinder_skew: int) -> Hdd:
    zone = {"cylinders": 4000, "sectors_per_track": 500, "track_skew": track_skew, "cylinder_skew": cylinder_skew}
    return Hdd.parse(
        {
            "kind": "hdd",
            "name": "strides",
            "source": "made up",
            "capacity_bytes": 4000 * heads * 500 * 512,
            "rpm": 10000,
            "heads": heads,
            "zones": [zone],
            "head_switch_ns": 300_000,
            "seek": {"track_to_track": "0.6 ms", "average": "5 ms", "full_stroke": "10 ms"},
            "read_overhead": "100 us",
            "write_overhead": "100 us",
            "interface": "100 MB/s",
        }
    )


def found_in(drive: Hdd, path: Path, *, stride: int = 167, n: int = 300, late_ratio: float = 0.0) -> Heads | None:
    device = MockDevice(drive, host_ns=30_000, jitter_ns=8_000.0)
    device.begin("track_boundaries")
    for place in (0.3, 0.6, 0.95):
        first = int(place * device.span) // 512
        device.run((first - stride * np.arange(n)) * 512, 512, stride="constant")
    rng = np.random.default_rng(3)
    latency = device.experiments[-1]["samples"]["latency_ns"]
    for i in np.flatnonzero(rng.random(len(latency)) < late_ratio):
        latency[i] += int(rng.integers(300_000, 3_000_000))
    return find_heads(load(device.write(path / "m.json")), PERIOD_NS, 512)


@pytest.mark.parametrize(("heads", "track", "cylinder"), [(2, 60, 75), (3, 60, 110), (8, 45, 70), (16, 60, 75)])
@pytest.mark.parametrize("late_ratio", [0.0, 0.05])
def test_heads_and_skews_come_back(heads: int, track: int, cylinder: int, late_ratio: float, tmp_path: Path) -> None:
    found = found_in(drive_with(heads, track, cylinder), tmp_path, late_ratio=late_ratio)
    assert found is not None
    assert found.heads == heads
    assert found.track_skew_turns == pytest.approx(track / 500, abs=0.003)
    assert found.cylinder_skew_turns == pytest.approx(cylinder / 500, abs=0.003)


@pytest.mark.parametrize("heads", [1, 4])
def test_equal_jumps_tell_no_number(heads: int, tmp_path: Path) -> None:
    assert found_in(drive_with(heads, 75, 75), tmp_path) is None


def test_few_reads_tell_nothing(tmp_path: Path) -> None:
    assert found_in(drive_with(4, 60, 75), tmp_path, n=8) is None


def test_reads_without_order_tell_nothing(tmp_path: Path) -> None:
    assert found_in(drive_with(4, 60, 75), tmp_path, late_ratio=0.8) is None
