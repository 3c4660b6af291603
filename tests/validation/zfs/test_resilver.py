"""A resilver of OpenZFS over disks of known mechanics (docs/explanation/validation/pools.md)."""

from __future__ import annotations

import pytest

from tests.validation.zfs import resilver

#: Largest relative difference in time.
TOLERANCE = 0.20


def test_a_mirror_is_resilvered_in_about_the_time_that_was_measured() -> None:
    assert resilver.simulated_s() == pytest.approx(resilver.MEASURED_S, rel=TOLERANCE)


def test_the_page_says_it() -> None:
    page = (resilver.pools.TABLE.parents[2] / "docs/explanation/validation/pools.md").read_text()
    assert f"{resilver.MEASURED_S} s measured" in page
    assert f"{resilver.simulated_s():.1f} s in the model" in page
