"""What a sheet says of latencies, with the host in them, and what a drive on SATA has that it does not say."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel import Array, Flash, Workload, load_drive, simulate
from diskmodel.drive.perturbation import DrivePerturbation
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


def time_us(array: Array, engine: str, read_ratio: float) -> float:
    """Return how long a request takes while there is one at a time."""
    load = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": read_ratio})
    return 1e6 / float(simulate(array, load, n_requests=200, engine=engine, profile_draws=0).iops.mean)


SOLIDIGM = "solidigm-d7-p5520-1920"
#: A host that is described, what it takes, and whether the drive's latency has another one in it.
HOSTS = [
    (f"{SOLIDIGM} jbod", {}, 0.0),
    (f"4x {SOLIDIGM} raid0", {}, 0.0),
    (f"4x {SOLIDIGM} raid0", {"kind": "tuned-2020"}, 2.2 - 5.3),
    (f"{SOLIDIGM} jbod", {"submission": "1 us"}, 1.0 - 5.3),
    ("samsung-870-evo-1tb jbod", {"submission": "1 us"}, 1.0),
    ("4x samsung-870-evo-1tb raid0", {}, 0.0),
]


@pytest.mark.parametrize("engine", ["simpy", "native"])
@pytest.mark.parametrize(("words", "host", "more_us"), HOSTS)
def test_the_host_of_a_sheet_is_taken_out_of_its_latencies(
    engine: str, words: str, host: dict[str, Any], more_us: float
) -> None:
    """Rule F28: sheets print what a host sees, and a run has one host."""
    alone = time_us(Array(words.split()[-2] + " jbod"), engine, 1.0)
    assert time_us(Array(words, host=host), engine, 1.0) == pytest.approx(alone + more_us, abs=0.05)


def test_a_flush_of_a_safe_drive_takes_a_command_or_longer() -> None:
    """As the only one on SATA that was measured with its cache on does."""
    drive = load_drive("samsung-pm893-960")
    assert isinstance(drive, Flash)
    longer, sooner = (drive.perturbed(DrivePerturbation(flush=sign * math.log(3))) for sign in (1, -1))
    assert longer.time_of_flush_ns == pytest.approx(2 * (drive.write_overhead_ns + drive.write_latency_ns), abs=2)
    assert sooner.time_of_flush_ns == 0


def test_exact_drives_and_those_whose_latency_is_less_than_a_host_takes() -> None:
    drive = load_drive(SOLIDIGM)
    exact = drive.model_copy(update={"exact": True})
    assert exact.without_host(5_300, is_assumed=True) is exact
    found = drive.without_host(10**9, is_assumed=False)
    assert isinstance(found, Flash)
    assert found.read_latency_ns == found.write_latency_ns == 0
    fitted = load_drive("samsung-870-evo-1tb")
    assert fitted.without_host(5_300, is_assumed=False) is fitted
