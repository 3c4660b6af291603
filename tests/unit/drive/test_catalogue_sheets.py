"""Bundled drives that can be bought: simulated, they reproduce the figures of their data sheets.

Each figure stands with its place in the source that the profile names. The parameters of flash drives that no sheet
prints were set with these figures in view, so that agreement shows that the profile is right, not that the model
predicts. Of hard disks the sustained rate is an input; random reads are predicted from an assumed seek time.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pytest

from diskmodel import Array, Drive, Flash, Workload, catalogue, simulate
from diskmodel.drive.catalogue.kinds import KINDS

KIB128_MB = 131_072 / 1e6


class Sheet(NamedTuple):
    """What a sheet gives of a flash drive: operations per second at a queue depth, MB/s, microseconds."""

    depth: int
    reads: float
    writes: float
    read_mb: float | None = None
    write_mb: float | None = None
    read_us: float | None = None
    write_us: float | None = None


#: SATA commands are queued 32 deep; where a sheet of an NVMe drive does not state a depth, it is 256.
FLASH = {
    "intel-x25-e-64": Sheet(32, 35_000, 3_300, 250, 170),
    "intel-d3-s4510-960": Sheet(32, 95_000, 36_000),
    "intel-d3-s4610-960": Sheet(32, 96_000, 51_000),
    "solidigm-d3-s4520-960": Sheet(32, 90_000, 43_000),
    "samsung-pm893-960": Sheet(32, 98_000, 30_000, read_mb=550),
    "micron-5300-pro-1920": Sheet(32, 95_000, 40_000, 540, 520),
    "micron-5400-pro-1920": Sheet(32, 95_000, 37_000, 540, 520),
    "micron-5400-max-1920": Sheet(32, 95_000, 65_000, 540, 520),
    "intel-dc-s4600-1920": Sheet(32, 72_000, 65_000, 500, 490, 110, 52),
    "kingston-dc600m-480": Sheet(32, 94_000, 41_000, 560, 470),
    "kingston-dc600m-960": Sheet(32, 94_000, 65_000, 560, 530),
    "kingston-dc600m-1920": Sheet(32, 94_000, 78_000, 560, 530),
    "kingston-dc600m-3840": Sheet(32, 94_000, 59_000, 560, 530),
    "kingston-dc600m-7680": Sheet(32, 94_000, 34_000, 560, 530),
    "samsung-pm983-1920": Sheet(256, 540_000, 50_000, read_us=85, write_us=50),
    "samsung-pm9a3-7680": Sheet(256, 900_000, 200_000, 6500, 3500),
    "samsung-pm9a3-960": Sheet(256, 580_000, 70_000, 6500, 1500),
    "samsung-pm9a3-1920": Sheet(256, 850_000, 130_000, 6800, 2700),
    "samsung-pm9a3-3840": Sheet(256, 1_000_000, 180_000, 6900, 4100),
    "solidigm-d7-p5520-1920": Sheet(256, 700_000, 114_000, 5300, 1900, 75, 15),
    "micron-7450-max-800": Sheet(256, 530_000, 145_000, 6800, 1400, 80, 15),
    "samsung-pm1733-3840": Sheet(256, 1_500_000, 135_000, 7000, 3800),
    "samsung-pm1743-7680": Sheet(1024, 2_500_000, 250_000, 13_000, 6600),
    "micron-7450-pro-960": Sheet(256, 530_000, 85_000, 6800, 1400, 80, 15),
    "kioxia-cm7-r-3840": Sheet(1024, 2_700_000, 310_000, 14_000, 6750),
    "sk-hynix-pe8110-960": Sheet(256, 900_000, 70_000, 6500, 1700, 75),
    "intel-dc-p4500-2tb": Sheet(256, 490_000, 38_000, 3200, 1050, 85, 20),
    "intel-dc-p4500-4tb": Sheet(256, 645_000, 62_500, 3200, 1800, 115, 20),
    "intel-dc-p4510-1tb": Sheet(256, 465_000, 70_000, 2850, 1100, 77, 18),
    "intel-dc-p4510-2tb": Sheet(256, 637_000, 81_500, 3200, 2000, 77, 18),
    "intel-d7-p5500-7680": Sheet(256, 1_000_000, 130_000, 7000, 4300),
    "intel-d7-p5600-6400": Sheet(256, 1_000_000, 260_000, 7000, 4300),
    "kioxia-cd6-r-15360": Sheet(256, 1_000_000, 85_000, 6200, 4000),
    "kioxia-cm6-r-30720": Sheet(512, 1_400_000, 170_000, 6900, 4200),
    "solidigm-d7-p5810-800": Sheet(256, 865_000, 495_000, 6400, 4000, write_us=15),
    "micron-7400-pro-7680": Sheet(256, 1_000_000, 190_000, read_mb=6600),
    "micron-9200-max-6400": Sheet(256, 840_000, 285_000, 3500, 3500, 121, 21),
}
#: Capacities of the series, TB, where the sheet gives the best figures of all capacities and not those of this one.
BEST_OF_TB = {
    "micron-5300-pro-1920": (0.24, 0.48, 0.96, 1.92, 3.84, 7.68),
    "micron-5400-pro-1920": (0.24, 0.48, 0.96, 1.92, 3.84, 7.68),
    "micron-5400-max-1920": (0.48, 0.96, 1.92, 3.84),
    "intel-dc-s4600-1920": (0.24, 0.48, 0.96, 1.92),
    "intel-d7-p5500-7680": (1.92, 3.84, 7.68),
    "intel-d7-p5600-6400": (1.6, 3.2, 6.4),
    "micron-7400-pro-7680": (0.96, 1.92, 3.84, 7.68),
    "micron-9200-max-6400": (1.6, 3.2, 6.4),
    "kioxia-cd6-r-15360": (0.96, 1.92, 3.84, 7.68, 15.36),
    "kioxia-cm6-r-30720": (0.96, 1.92, 3.84, 7.68, 15.36, 30.72),
}
#: Sustained rate at the outer edge, MB/s.
OUTER_MB = {
    "seagate-exos-10e2400-2400": 266,
    "seagate-exos-x16": 261,
    "seagate-exos-x18": 270,
    "seagate-exos-x20": 285,
    "seagate-exos-x24": 285,
    "seagate-exos-m-30": 275,
    "toshiba-mg06aca10te": 237 * 2**20 / 1e6,
    "toshiba-mg08aca16te": 262 * 2**20 / 1e6,
    "toshiba-mg10aca20te": 281,
    "toshiba-mg11aca24te": 309,
    "seagate-ironwolf-4": 180,
    "seagate-ironwolf-8": 210,
    "seagate-ironwolf-pro-20": 285,
    "toshiba-n300-8": 262,
    "wd-gold-12": 255,
    "wd-gold-24": 298,
    "wd-ultrastar-hc580": 298,
    "wd-ultrastar-hc620": 255,
}
#: Random reads of 4 KiB per second, at a queue depth.
RANDOM_READS = {
    "seagate-exos-x16": (16, 170),
    "seagate-exos-x18": (16, 168),
    "seagate-exos-x24": (16, 168),
    "seagate-exos-m-30": (16, 170),
    "wd-ultrastar-hc580": (32, 212),
}


def iops(drive: Drive, clients: int, n: int, read_ratio: float = 1.0, size: str = "4 KiB", **more: Any) -> float:
    return rate(drive, {"size": size, "read_ratio": read_ratio, "clients": clients, **more}, n)


def rate(drive: Drive, load: dict[str, Any], n: int, start: Literal["steady", "empty"] = "steady") -> float:
    array = Array.parse({"drive": drive.to_dict(), "layout": {"level": "jbod", "disks": 1}})
    return float(simulate(array, Workload.parse(load), n_requests=n, start=start).iops.mean)


def flash(name: str) -> Flash:
    drive = catalogue()[name]
    assert isinstance(drive, Flash)
    return drive


def sequential_mb(drive: Flash, read_ratio: float) -> float:
    addresses = {"pattern": "sequential"}
    return iops(drive, 32, 6000, read_ratio, "128 KiB", addresses=addresses) * KIB128_MB


def writes_taken(name: str) -> float:
    """Return the share of its sheet's random writes that a profile may have.

    A figure that is the best of a series is not that of every capacity. Random writes rise with the number of dies, so
    that the largest drive may have it; but not beyond 8 TB, where more dies need not help. Others have the least share
    that sheets by capacity show: 45 % (540,000 of 1,200,000 a second, Micron 9550 MAX).
    """
    series, drive_tb = BEST_OF_TB.get(name), flash(name).capacity_bytes / 1e12
    if series is None or (drive_tb <= 8 and drive_tb == pytest.approx(max(series), rel=0.01)):
        return 1.0
    return 0.35 if drive_tb > 8 else 0.45


@pytest.mark.parametrize("name", FLASH)
def test_random_operations_of_a_flash_drive(name: str) -> None:
    sheet, drive = FLASH[name], flash(name)
    assert drive.state == "steady"
    assert iops(drive, sheet.depth, 12_000) == pytest.approx(sheet.reads, rel=0.1)
    writes = iops(drive, sheet.depth, 80_000, read_ratio=0.0)
    assert writes == pytest.approx(sheet.writes * writes_taken(name), rel=0.1)


def test_a_profile_says_where_its_figures_are_the_best_of_all_capacities() -> None:
    """And it says what it takes of the random writes, where that is less than the sheet's figure."""
    assert {name for name in catalogue() if "the best of all capacities" in catalogue()[name].notes} == set(BEST_OF_TB)
    for name in BEST_OF_TB:
        if writes_taken(name) < 1:
            assert f"of the random writes {writes_taken(name):.0%}" in catalogue()[name].notes, name


def test_no_flash_drive_of_the_catalogue_is_as_new() -> None:
    """Sizing by writes that nothing has yet to be collected for would buy too few."""
    assert [name for name, drive in catalogue().items() if isinstance(drive, Flash) and drive.state != "steady"] == []


@pytest.mark.parametrize("name", [name for name, sheet in FLASH.items() if sheet.read_mb])
def test_sequential_reads_of_a_flash_drive(name: str) -> None:
    assert sequential_mb(flash(name), 1.0) == pytest.approx(FLASH[name].read_mb, rel=0.1)


@pytest.mark.parametrize("name", [name for name, sheet in FLASH.items() if sheet.write_mb])
def test_sequential_writes_of_a_flash_drive(name: str) -> None:
    """On a drive filled sequentially, as sheets measure it: nothing has to be collected."""
    fresh = flash(name).model_copy(update={"state": "fresh"})
    assert sequential_mb(fresh, 0.0) == pytest.approx(FLASH[name].write_mb, rel=0.1)


@pytest.mark.parametrize("name", [name for name, sheet in FLASH.items() if sheet.read_us or sheet.write_us])
def test_one_operation_at_a_time(name: str) -> None:
    """A write as sheets print it finds room in the buffer, also where one client writes more than is programmed."""
    sheet, drive = FLASH[name], flash(name)
    if sheet.read_us:
        assert 1e6 / iops(drive, 1, 1000) == pytest.approx(sheet.read_us, rel=0.15)
    if sheet.write_us:
        burst = {"size": "4 KiB", "read_ratio": 0.0, "clients": 1}
        assert 1e6 / rate(drive, burst, 600, start="empty") == pytest.approx(sheet.write_us, rel=0.15)


@pytest.mark.parametrize("name", OUTER_MB)
def test_sustained_rate_of_a_hard_disk(name: str) -> None:
    rate = iops(catalogue()[name], 1, 1500, size="1 MiB", addresses={"pattern": "sequential"}) * 2**20 / 1e6
    assert rate == pytest.approx(OUTER_MB[name], rel=0.02)


@pytest.mark.parametrize("name", RANDOM_READS)
def test_random_reads_of_a_hard_disk(name: str) -> None:
    depth, printed = RANDOM_READS[name]
    assert iops(catalogue()[name], depth, 12_000) == pytest.approx(printed, rel=0.15)


def test_a_figure_of_the_sheets_is_not_called_assumed() -> None:
    for name, sheet in FLASH.items():
        assumed = set(flash(name).provenance["assumed"])
        assert ("interface_bytes_per_s" in assumed) == (sheet.read_mb is None), name
        assert "capacity_bytes" not in assumed
    for name in OUTER_MB:
        assert "outer_bytes_per_s" not in catalogue()[name].provenance["assumed"], name


def test_breadth_of_drives_that_can_be_bought() -> None:
    current = {name: drive for name, drive in catalogue().items() if drive.year is not None and drive.year >= 2017}
    count = {kind: sum(is_of_it(drive) for drive in current.values()) for kind, is_of_it in KINDS.items()}
    assert count["10k"] >= 3
    assert count["nearline"] >= 12
    assert count["sata-ssd"] >= 8
    assert count["nvme"] >= 8
    makers = {drive.name.split()[0] for drive in current.values() if KINDS["nearline"](drive)}
    assert {"Seagate", "Toshiba", "WD"} <= makers
    sizes_tb = [drive.capacity_bytes / 1e12 for drive in current.values() if KINDS["nearline"](drive)]
    assert min(sizes_tb) < 7
    assert max(sizes_tb) >= 24
