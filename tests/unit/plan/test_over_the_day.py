"""Rebuilds over a day of which the load takes a part."""

from __future__ import annotations

import math

import pytest

from diskmodel.plan.question.askers import in_requests, unit_of
from diskmodel.plan.trial.over_the_day import over_the_day
from diskmodel.units import NS_PER_S


@pytest.mark.parametrize(
    ("beside", "alone", "busy", "hours"),
    [
        (500.0, 20.0, 24.0, 500.0),  # beside the load all day
        (20.0, 20.0, 8.0, 20.0),  # the load does not matter
        # every day 12 h at 1/12 and 12 h at 1/120 of a day: 132 / 120 · 12 h a day, whole days apart from the rest
        (2400.0, 240.0, 12.0, 2400 / 5.5),
        (math.inf, 20.0, 8.0, math.inf),
        (30.0, math.nan, 8.0, 30.0),
    ],
)
def test_hours_over_the_day(beside: float, alone: float, busy: float, hours: float) -> None:
    assert over_the_day(beside, alone, busy) == pytest.approx(hours, rel=0.01)


def test_a_rebuild_shorter_than_the_night_depends_on_when_the_disk_fails() -> None:
    """By hand: 4 h of work that only idle hours do, 12 of 24 busy.

    A start in the first 8 idle hours takes 4 h, later 16 h; in the busy half what is left of it, then 4 h.
    """
    expected = (8 * 4 + 4 * 16 + 12 * (6 + 4)) / 24
    assert over_the_day(1e9, 4.0, 12.0) == pytest.approx(expected, rel=0.01)


def test_a_backup_leaves_the_rest_of_the_day_to_a_rebuild() -> None:
    asked = {"backup": 10**13, "window": 8 * 3600 * NS_PER_S}
    unit = unit_of(asked)
    assert unit is not None
    found, note = in_requests(unit, asked)
    assert found["busy_hours"] == pytest.approx(8)
    assert "idle for the rest of the day" in note
    assert in_requests(unit, {**asked, "busy_hours": 24.0})[0]["busy_hours"] == 24
    assert "busy_hours" not in in_requests(unit, {**asked, "window": 30 * 3600 * NS_PER_S})[0]
