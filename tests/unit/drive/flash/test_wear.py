"""Years until flash drives have been written what their makers rate them for."""

import math

import pytest

from diskmodel import Array, Flash, Workload, catalogue, load_drive
from diskmodel.drive.flash.wear import wear, wear_years
from diskmodel.plan import find_capacity
from diskmodel.plan.show.capacity import capacity_rows


def test_one_write_a_day_is_five_years() -> None:
    drive = load_drive("micron-7450-pro-960")
    assert wear_years(drive, drive.capacity_bytes / 86_400) == pytest.approx(5, rel=0.01)
    assert wear_years(drive, 0) == math.inf
    assert math.isnan(wear_years(drive, math.nan))
    assert math.isnan(wear_years(load_drive("generic-7k2"), 1e6))
    assert "which is 5 years" in wear(drive, drive.capacity_bytes / 86_400)


def test_endurance_of_the_catalogue_is_that_of_a_class() -> None:
    """Consumer drives 0.2 (MX500: 360 TB of 1 TB) to 0.7 writes a day over five years, drives of servers 0.5 to 3."""
    rated = [one for one in catalogue().values() if isinstance(one, Flash) and one.endurance_bytes]
    assert len(rated) >= 13
    for one in rated:
        per_day = (one.endurance_bytes or 0) / one.capacity_bytes / (5 * 365)
        assert (0.19 < per_day < 0.7) if not one.power_loss_protected else (0.5 <= per_day < 3.1), one.name


def test_capacity_shows_the_years_at_the_knee() -> None:
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "1/s"})
    found = find_capacity(Array("2x samsung-870-evo-1tb raid1"), load, n_draws=0, n_requests=2000)
    written = 0.3 * found.knee.offered * 8192
    assert found.wear_years == pytest.approx(600e12 / written / (365 * 86_400), rel=0.05)
    (shown,) = [text for name, text in capacity_rows(found) if name.startswith("drives worn out")]
    assert shown.endswith(" years")
