"""Skews hide the moves: long transfers run at the sustained rate of the sheet, reads and writes alike."""

import pytest

from diskmodel.drive import Hdd, catalogue
from diskmodel.drive.geometry import zone_rates
from diskmodel.drive.mechanics import Arm, Mechanics, Spindle
from diskmodel.records import Op

DERIVED = {name: drive for name, drive in catalogue().items() if isinstance(drive, Hdd) and drive.zones is None}


@pytest.mark.parametrize("op", Op)
@pytest.mark.parametrize("name", DERIVED)
def test_whole_cylinders_pass_at_the_sustained_rate(name: str, op: Op) -> None:
    drive = DERIVED[name]
    tables = drive.tables()
    mechanics = Mechanics(tables)
    spindle = Spindle(tables.revolution_ns, 0)
    rates = zone_rates(drive).sustained_bytes_per_s
    for zone in range(0, tables.n_zones, 5):
        per_cylinder = int(tables.heads * tables.sectors_per_track[zone])
        first = int(tables.zone_first_lba[zone])
        # the first cylinder brings the arm there, the next five are timed
        lead_in = mechanics.access(Arm(), spindle, op, first, per_cylinder, 12_345)
        arm = Arm(lead_in.cylinder, lead_in.head)
        timed = mechanics.access(arm, spindle, op, first + per_cylinder, 5 * per_cylinder, lead_in.end_ns)
        rate = 5 * per_cylinder * tables.sector_bytes / (timed.end_ns - lead_in.end_ns) * 1e9
        assert rate == pytest.approx(rates[zone], rel=1e-4)


def test_a_skew_too_short_costs_a_revolution_for_each_track() -> None:
    drive = DERIVED["generic-15k"]
    zones = [zone.to_dict() | {"track_skew": zone.track_skew // 6} for zone in drive.zone_list()]
    data = {k: v for k, v in drive.to_dict().items() if k not in ("outer_bytes_per_s", "inner_bytes_per_s")}
    tables = Hdd.parse(data | {"zones": zones}).tables()
    per_cylinder = int(tables.heads * tables.sectors_per_track[0])
    access = Mechanics(tables).access(Arm(), Spindle(tables.revolution_ns, 0), Op.WRITE, 0, per_cylinder, 0)
    assert access.rotation_ns > (tables.heads - 1) * 0.8 * tables.revolution_ns
