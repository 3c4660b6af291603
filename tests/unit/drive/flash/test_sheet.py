"""What a drive on SATA has of which a sheet says nothing: latencies, and a cache that can be switched off."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Flash, Workload, load_drive, simulate
from diskmodel.explanation.otherwise import otherwise

SHEET = {
    "sequential_read": "550 MB/s",
    "sequential_write": "510 MB/s",
    "random_reads_per_s": 97_000,
    "random_writes_per_s": 36_000,
}
COMMITS = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0.0, "sync": "fdatasync"})


def commits_per_s(name: str, *, is_on: bool) -> float:
    return simulate(Array(name, "jbod", 1, drive_write_cache=is_on), COMMITS, n_requests=100, profile_draws=0).iops.mean


@pytest.mark.parametrize(
    ("bus", "printed", "us"),
    [
        ("SATA 6 Gb/s", {}, (110, 52)),
        ("SATA 6 Gb/s", {"read_latency": "90 us"}, (90, 52)),
        ("SATA 6 Gb/s", {"write_latency_ns": 40_000}, (110, 40)),
        ("PCIe 4.0 x4 NVMe", {}, (80, 15)),
    ],
)
def test_latencies_that_no_sheet_prints_are_those_of_the_interface(
    bus: str, printed: dict[str, Any], us: tuple[int, int]
) -> None:
    drive = Flash.parse({"kind": "flash", "name": "x", "bus": bus, "capacity": "960 GB", "sheet": SHEET | printed})
    assert drive.sheet is not None
    assert (drive.sheet.read_latency_ns, drive.sheet.write_latency_ns) == tuple(1000 * one for one in us)


def test_flushes_to_a_safe_cache_end_when_it_is_off() -> None:
    """A commit is then a write, and no write and a flush."""
    assert commits_per_s("intel-d3-s4610-960", is_on=False) == pytest.approx(1 / 52e-6, rel=0.01)
    assert commits_per_s("intel-d3-s4610-960", is_on=True) == pytest.approx(1 / (52e-6 + 45e-6), rel=0.02)


@pytest.mark.parametrize("name", ["samsung-pm9a3-960", "samsung-870-evo-1tb"])
def test_elsewhere_the_switch_changes_nothing(name: str) -> None:
    drive = load_drive(name)
    assert drive.with_write_cache(False) is drive


def test_commits_to_drives_on_sata_name_the_other_case() -> None:
    array = Array("intel-d3-s4610-960 jbod")
    result = simulate(array, COMMITS, n_requests=100, profile_draws=0)
    (said,) = [one for one in otherwise(array, COMMITS, result, seed=0) if one.name == "drive_write_cache"]
    assert said.said_by == "--drive-write-cache off"
    assert "capacitors make needless" in said.assumed
    assert said.iops > 1.5 * float(result.iops.mean)
