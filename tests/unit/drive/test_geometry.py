"""Block ↔ place by brute force, angles, zone rates, the plot."""

from pathlib import Path

import numpy as np
import pytest

from diskmodel.drive import Hdd, catalogue
from diskmodel.drive.geometry import angle_of, lba_of, mean_seek_ns, place_of, seek_curve, zone_rates
from diskmodel.drive.hdd.plot import plot_drive
from diskmodel.errors import DescriptionError

ZONES = [
    {"cylinders": 3, "sectors_per_track": 10, "track_skew": 3, "cylinder_skew": 4, "spare_sectors_per_cylinder": 5},
    {"cylinders": 4, "sectors_per_track": 7, "track_skew": 2, "cylinder_skew": 3, "start_skew": 5},
    {
        "cylinders": 2,
        "sectors_per_track": 8,
        "track_skew": 3,
        "spare_sectors_per_track": 2,
        "spare_sectors_per_cylinder": 1,
    },
]


def small(actuators: int = 1, unused: int = 4) -> Hdd:
    """A drive of three zones whose last cylinder is partly used; with two actuators, twice that."""
    blocks = (3 * (3 * 10 - 5) + 4 * 3 * 7 + 2 * (3 * 6 - 1) - unused) * actuators
    return Hdd.parse(
        {
            "kind": "hdd",
            "name": "small",
            "capacity_bytes": blocks * 512,
            "rpm": 6000,
            "heads": 3 * actuators,
            "actuators": actuators,
            "zones": ZONES,
            "seek": {"kind": "curve", "a": "1 ms", "b_ns_per_root": 1000},
        }
    )


def walk(drive: Hdd) -> list[tuple[int, int, int, int, int]]:
    """(cylinder, head, sector, angle, sectors per track) of each block, by walking over the platters track by track."""
    places = []
    for actuator in range(drive.actuators):
        half: list[tuple[int, int, int, int, int]] = []
        cylinder = 0
        for zone in ZONES:
            start = zone.get("start_skew", 0)  # angle of the first sector of the track
            per_track = zone["sectors_per_track"]
            for _ in range(zone["cylinders"]):
                on_track = per_track - zone.get("spare_sectors_per_track", 0)
                usable = 3 * on_track - zone.get("spare_sectors_per_cylinder", 0)
                for head in range(3):
                    for sector in range(on_track):
                        if head * on_track + sector < usable:
                            angle = (start + sector) % per_track
                            half.append((cylinder, head + 3 * actuator, sector, angle, per_track))
                    start += zone["track_skew"] if head < 2 else zone.get("cylinder_skew", 0)
                cylinder += 1
        places += half[: drive.tables().n_sectors_per_actuator]
    return places[: drive.tables().n_sectors]


@pytest.mark.parametrize(("actuators", "unused"), [(1, 4), (1, 0), (2, 4), (1, 20)])
def test_every_block_by_brute_force(actuators: int, unused: int) -> None:
    drive = small(actuators, unused)
    tables = drive.tables()
    blocks = np.arange(tables.n_sectors)
    expected = np.array(walk(drive))
    found = np.column_stack([*place_of(tables, blocks), *angle_of(tables, blocks)])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(lba_of(tables, *expected[:, :3].T), blocks)


def test_places_without_a_block() -> None:
    tables = small().tables()
    assert lba_of(tables, 0, 2, 5) == -1, "the first spare sector"
    assert lba_of(tables, 0, 2, 4) == 24
    assert lba_of(tables, 7, 1, 6) == -1, "a spare sector of a track"
    assert lba_of(tables, 7, 1, 5) != -1
    assert lba_of(tables, 8, 2, 1) == -1, "the unused end of the last cylinder"
    assert lba_of(tables, 8, 2, 0) == tables.n_sectors - 1


def test_outside_the_drive() -> None:
    tables = small().tables()
    with pytest.raises(DescriptionError, match=r"lba=189: must be 0 to 188"):
        place_of(tables, [3, 189])
    with pytest.raises(DescriptionError, match="lba=-1"):
        place_of(tables, -1)
    with pytest.raises(DescriptionError, match="cylinder=9"):
        lba_of(tables, 9, 0, 0)
    with pytest.raises(DescriptionError, match="sector: must be on its track"):
        lba_of(tables, 5, 0, 7)


def test_first_track_of_a_zone_begins_at_the_index() -> None:
    drive = catalogue()["md-raid-10k"]
    assert isinstance(drive, Hdd)
    tables = drive.tables()
    angle, per_track = angle_of(tables, tables.zone_first_lba[:-1])
    assert (angle == 0).all()
    np.testing.assert_array_equal(per_track, tables.sectors_per_track)


def test_angle_is_the_formula_of_the_equation_disk() -> None:
    drive = catalogue()["md-raid-10k"]
    assert isinstance(drive, Hdd)
    blocks = np.random.default_rng(7).integers(0, 7630 * 8 * 1010, 5000)
    cylinder, rest = np.divmod(blocks, 8 * 1010)
    head, sector = np.divmod(rest, 1010)
    angle, _ = angle_of(drive.tables(), blocks)
    np.testing.assert_array_equal(angle, (cylinder * (7 * 76 + 88) + head * 76 + sector) % 1010)


def test_sustained_rate_counts_the_skews() -> None:
    rates = zone_rates(small())
    revolution_s = 0.01
    assert rates.media_bytes_per_s == pytest.approx([n * 512 / revolution_s for n in (10, 7, 8)])
    # zone 1: 25 of 30 sectors hold blocks, and a cylinder takes 30 + 3 + 3 + 4 sector times
    assert rates.sustained_bytes_per_s[0] == pytest.approx(25 * 512 / (40 / 10 * revolution_s))
    # zone 3: 17 of 24 sectors, and a cylinder takes 24 + 3 + 3 sector times
    assert rates.sustained_bytes_per_s[2] == pytest.approx(17 * 512 / (30 / 8 * revolution_s))
    assert list(rates.first_byte) == [0, 75 * 512, 159 * 512]


def test_seek_curve_for_plotting_spans_all_distances() -> None:
    drive = catalogue()["generic-15k"]
    assert isinstance(drive, Hdd)
    distance, time_ms = seek_curve(drive)
    assert distance[0] == 1
    assert distance[-1] == drive.tables().n_cylinders - 1
    assert time_ms[0] == pytest.approx(0.2)
    assert time_ms[-1] == pytest.approx(7.0)
    assert mean_seek_ns(drive.tables()) == pytest.approx(3.5e6, rel=1e-6)


@pytest.mark.parametrize("name", ["generic-7k2", "seagate-exos-2x14"])
def test_plot_shows_curve_and_rates(name: str, tmp_path: Path) -> None:
    drive = catalogue()[name]
    assert isinstance(drive, Hdd)
    figure = plot_drive(drive)
    seek, rate = figure.axes
    longest_ms = drive.tables().seek_ns[-1] / 1e6
    assert seek.lines[0].get_ydata()[-1] == pytest.approx(longest_ms)
    assert rate.patches[0].get_data().values[0] == pytest.approx(zone_rates(drive).sustained_bytes_per_s[0] / 1e6)
    figure.savefig(tmp_path / "drive.png")
    assert (tmp_path / "drive.png").stat().st_size > 10_000
