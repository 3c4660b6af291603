"""Hard disk descriptions and the tables derived from them."""

import pickle
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskmodel.drive import Flash, Hdd, HddCache, Zone, catalogue, load_drive, parse_drive, read_seek_file
from diskmodel.drive.geometry import mean_seek_ns, place_of, zone_rates
from diskmodel.errors import DescriptionError

COARSE: dict[str, Any] = {
    "kind": "hdd",
    "name": "coarse",
    "capacity": "1 TB",
    "rpm": "7200 rpm",
    "heads": 4,
    "outer": "150 MB/s",
    "inner": "75 MB/s",
    "seek": {"track_to_track": "0.8 ms", "average": "8.5 ms", "average_write": "9.5 ms", "full_stroke": "18 ms"},
}


def coarse(**changes: Any) -> Hdd:
    return Hdd.parse(COARSE | changes)


def test_derived_geometry_holds_exactly_the_capacity() -> None:
    tables = coarse().tables()
    assert tables.n_sectors * tables.sector_bytes == 10**12
    assert tables.zone_first_lba[-1] == tables.n_sectors
    held = np.diff(tables.zone_first_cylinder) * tables.heads * tables.sectors_per_track
    assert 0 <= held.sum() - tables.n_sectors < tables.heads * tables.sectors_per_track[-1]


def test_derived_rates_are_the_sustained_ones() -> None:
    rates = zone_rates(coarse()).sustained_bytes_per_s
    assert rates[0] == pytest.approx(150e6, rel=2e-3)
    assert rates[-1] == pytest.approx(75e6, rel=2e-3)
    assert (np.diff(rates) < 0).all()


def test_skews_hide_switches_of_reads_and_writes() -> None:
    tables = coarse().tables()
    sector_ns = tables.revolution_ns / tables.sectors_per_track
    # with a whole sector to spare, against rounding
    assert ((tables.track_skew - 1) * sector_ns >= tables.head_switch_ns + tables.write_settle_ns).all()
    step = tables.seek_ns[1] + 1_000_000
    assert ((tables.cylinder_skew - 1) * sector_ns >= step).all()
    assert (tables.cylinder_skew * sector_ns < step + 2 * sector_ns).all()


def test_defaults_of_what_a_sheet_leaves_out() -> None:
    tables = coarse().tables()
    assert tables.revolution_ns == 8_333_333
    assert tables.write_settle_ns == 0
    assert tables.head_switch_ns == 640_000
    assert tables.cache_segments == tables.dirty_sectors == tables.read_ahead_sectors == 0
    assert tables.queue_depth == 1
    assert mean_seek_ns(tables) == pytest.approx(8.5e6, rel=1e-6)


def test_cylinders_instead_of_the_inner_rate() -> None:
    known = coarse().tables()
    data = {key: value for key, value in COARSE.items() if key != "inner"} | {"cylinders": known.n_cylinders}
    tables = Hdd.parse(data).tables()
    assert tables.n_cylinders == pytest.approx(known.n_cylinders, abs=16)
    assert tables.sectors_per_track[-1] == pytest.approx(known.sectors_per_track[-1], abs=1)


def test_cache_segments_and_read_ahead() -> None:
    cache = {"size": "8 MiB", "segments": 12}
    tables = coarse(cache=cache).tables()
    assert tables.segment_sectors == 8 * 2**20 // 12 // 512
    assert tables.read_ahead_sectors == tables.segment_sectors
    assert coarse(cache=cache | {"read_ahead": "0 B"}).tables().read_ahead_sectors == 0
    assert coarse(cache=cache | {"read_ahead": "64 KiB"}).tables().read_ahead_sectors == 128


def test_two_actuators_halve_heads_and_blocks() -> None:
    tables = coarse(actuators=2, capacity=f"{(2**31 + 1) * 512} B").tables()
    assert tables.heads == 2
    assert tables.n_sectors == 2**31 + 1
    assert tables.n_sectors_per_actuator == 2**30 + 1
    assert tables.zone_first_lba[-1] == tables.n_sectors_per_actuator


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"outer": None}, "give zones, or outer_bytes_per_s and one of"),
        ({"inner": None}, "give zones, or outer_bytes_per_s and one of"),
        ({"cylinders": 5000}, "give zones, or outer_bytes_per_s and one of"),
        ({"inner": "160 MB/s"}, "must not exceed outer_bytes_per_s"),
        ({"zones": [{"cylinders": 10, "sectors_per_track": 10}]}, "keep one of the two"),
        ({"inner": None, "cylinders": 1000}, "the inner ones would have"),
        ({"actuators": 2, "heads": 3}, "multiple of actuators"),
        ({"capacity": "1000000000001 B"}, "must be a multiple of sector_bytes=512; try 1000000000000"),
        ({"capacity": "1000 TiB"}, "check capacity, rates, rpm, heads"),
        ({"capacity": "20 MiB"}, "exceeds the number of cylinders"),
        ({"seek": {"track_to_track": "1 ms", "average": "4 ms", "full_stroke": "20 ms"}}, "use an average from"),
        ({"cache": {"size": "1 KiB", "segments": 16}}, "smaller than a sector"),
        ({"rpm": "fast"}, "must be a number"),
        ({"color": "blue"}, "not a known field"),
    ],
)
def test_faults_are_reported_with_rule_and_fix(changes: dict[str, Any], rule: str) -> None:
    data = {key: value for key, value in (COARSE | changes).items() if value is not None}
    with pytest.raises(DescriptionError, match=rule):
        Hdd.parse(data)


def test_zones_must_hold_the_capacity_and_not_more() -> None:
    zones = [{"cylinders": 100, "sectors_per_track": 50}, {"cylinders": 100, "sectors_per_track": 40}]
    data = {key: value for key, value in COARSE.items() if key not in ("outer", "inner")} | {"zones": zones}
    whole = 4 * 100 * 90 * 512
    for capacity, fits in ((whole, True), (whole - 512, True), (whole + 512, False), (4 * 100 * 50 * 512, False)):
        described = {key: value for key, value in data.items() if key != "capacity"} | {"capacity_bytes": capacity}
        if fits:
            assert Hdd.parse(described).tables().zone_first_lba[-1] == capacity // 512
        else:
            with pytest.raises(DescriptionError, match="must end in the last zone"):
                Hdd.parse(described)


def test_spare_sectors_hold_no_blocks() -> None:
    zone = Zone(cylinders=10, sectors_per_track=50, spare_sectors_per_cylinder=20)
    assert zone.sectors_per_cylinder(4) == 180
    data = {key: value for key, value in COARSE.items() if key not in ("outer", "inner", "capacity")}
    spare = {"cylinders": 10, "sectors_per_track": 50, "spare_sectors_per_cylinder": 200}
    with pytest.raises(DescriptionError, match="leaves no block"):
        Hdd.parse(data | {"capacity_bytes": 512, "zones": [spare]})


@pytest.mark.parametrize("name", list(catalogue()))
def test_round_trip_through_toml_and_data(name: str) -> None:
    drive = catalogue()[name]
    again = parse_drive(tomllib.loads(drive.to_toml()))
    assert again == drive
    assert parse_drive(drive.to_dict()) == drive


def test_copies_recompute_and_pickles_stay_small() -> None:
    drive = coarse()
    other = drive.model_copy(update={"rpm": 5400.0})
    assert other.tables().revolution_ns == 11_111_111
    assert drive.tables().revolution_ns == 8_333_333
    stored = pickle.dumps(drive)
    assert len(stored) < 20_000
    assert pickle.loads(stored) == drive
    np.testing.assert_array_equal(pickle.loads(stored).tables().seek_ns, drive.tables().seek_ns)


def test_tables_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        coarse().tables().seek_ns[1] = 0


def test_load_by_name_by_file_and_by_mistake(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    coarse().save(path)
    assert load_drive(path) == load_drive(str(path)) == coarse()
    assert load_drive("generic-7k2") is catalogue()["generic-7k2"]
    assert load_drive("cheetah-15k5") is catalogue()["seagate-cheetah-15k5"]
    with pytest.raises(DescriptionError, match=r"did you mean .*seagate-cheetah-15k5"):
        load_drive("cheetah-15k4")
    with pytest.raises(DescriptionError, match="no such file"):
        load_drive("missing.toml")
    with pytest.raises(DescriptionError, match='must be "hdd", "flash", "virtual", "cloud", "cluster" or "cached"'):
        parse_drive({"name": "x"})


def test_uncertainty_is_checked() -> None:
    good = {"names": ["rpm", "seek.average_ns"], "covariance": [[1.0, 0.5], [0.5, 2.0]]}
    assert coarse(uncertainty=good).uncertainty is not None
    for covariance, rule in (
        ([[1.0, 0.5]], "2 rows of 2"),
        ([[1.0, 0.5], [0.4, 2.0]], "symmetric"),
        ([[1.0, 5.0], [5.0, 2.0]], "exceeds the square root of its variances' product"),
    ):
        with pytest.raises(DescriptionError, match=rule):
            coarse(uncertainty=good | {"covariance": covariance})
    draws = [[7200.0, 8e6], [7201.0, 9e6]]
    result = coarse(uncertainty=good | {"draws": draws}).uncertainty
    assert result is not None
    assert result.draws == ((7200.0, 8e6), (7201.0, 9e6))
    for wrong, rule in (
        ([[7200.0, 8e6], [7201.0]], "rows of 2 numbers, one for each name, but row 1 has 1"),
        ([[7200.0, 8e6], [7201.0, float("nan")]], "finite number"),
        ([[7200.0, 8e6]], "at least 2"),
    ):
        with pytest.raises(DescriptionError, match=rule):
            coarse(uncertainty=good | {"draws": wrong})


def test_flash_tables_hold_capacity_and_spare() -> None:
    drive = catalogue()["intel-x25-m-g2-160"]
    assert isinstance(drive, Flash)
    tables = drive.tables()
    physical = tables.n_dies * tables.blocks_per_die * tables.pages_per_block * tables.page_bytes
    assert tables.n_dies == 40
    assert physical / drive.capacity_bytes - 1 == pytest.approx(drive.over_provisioning_ratio, rel=2e-2)
    with pytest.raises(DescriptionError, match="multiple of mapping_bytes"):
        Flash.parse(drive.to_dict() | {"page_bytes": 6000})


@pytest.mark.parametrize(
    ("field", "value"),
    [("wake_ns", [30_000]), ("completion", "batch"), ("read_copy_bytes_per_s", 1e9), ("write_copy", "1 GB/s")],
)
def test_a_virtual_disk_described_as_flash_is_refused_with_its_kind(field: str, value: Any) -> None:
    drive = load_drive("intel-x25-m-g2-160").to_dict()
    with pytest.raises(
        DescriptionError, match=r'calibrate again, or describe the disk with kind = "virtual"'
    ) as caught:
        parse_drive(drive | {field: value})
    assert field in str(caught.value)


def test_a_flash_profile_of_an_earlier_version_is_read() -> None:
    """Earlier versions wrote the fields of virtual disks, unset, into the profiles of flash drives."""
    drive = load_drive("intel-x25-m-g2-160")
    assert parse_drive(drive.to_dict() | {"wake_ns": [], "completion": "each"}) == drive


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["atlas10k", "barracuda", "cheetah4LP", "dec_rz26", "hp_c3323a"])
def test_measured_seek_curves_load_as_drives(name: str, evidence: Path) -> None:
    base = {
        "atlas10k": "quantum-atlas-10k",
        "barracuda": "seagate-st32171w",
        "cheetah4LP": "seagate-st34501n",
        "dec_rz26": "dec-rz26",
        "hp_c3323a": "hp-c3323a",
    }[name]
    table = read_seek_file(evidence / "traces" / f"{name}.seek")
    drive = load_drive(base)
    assert isinstance(drive, Hdd)
    measured = drive.model_copy(update={"seek": table.to_dict(), "write_settle_ns": drive.settle_ns}).tables()
    for distance, time_ms in zip(table.distance, table.time_ms, strict=True):
        if distance < measured.n_cylinders:
            assert measured.seek_ns[distance] == round(time_ms * 1e6)
    assert (measured.seek_ns[1:] > 0).all()


def test_cache_defaults() -> None:
    assert HddCache.parse({"size": "16 MB"}).segments == 16


def test_the_example_of_the_how_to_is_a_drive() -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-drive.md"
    text = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    drive = parse_drive(tomllib.loads(text))
    assert isinstance(drive, Hdd)
    assert mean_seek_ns(drive.tables()) == pytest.approx(3.5e6, rel=1e-6)


@pytest.mark.evidence
def test_atlas_10k_with_its_measured_seeks_does_105_random_reads_a_second(evidence: Path) -> None:
    drive = load_drive("quantum-atlas-10k")
    assert isinstance(drive, Hdd)
    table = read_seek_file(evidence / "traces" / "atlas10k.seek")
    tables = drive.model_copy(update={"seek": table.to_dict(), "write_settle_ns": drive.settle_ns}).tables()
    blocks = np.random.default_rng(1).integers(0, tables.n_sectors - 16, 100_000)
    seek = tables.seek_ns[np.abs(np.diff(place_of(tables, blocks).cylinder))].mean()
    transfer = 16 / tables.sectors_per_track.mean() * tables.revolution_ns
    reads_per_s = 1e9 / (tables.read_overhead_ns + seek + tables.revolution_ns / 2 + transfer)
    assert reads_per_s == pytest.approx(105, rel=0.05)
