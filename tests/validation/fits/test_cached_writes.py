"""One parameter explains when a full write cache takes the next write, where as many writes as measured wait."""

from __future__ import annotations

import pytest

from tests.validation import firmware
from tests.validation.fits import cached_writes


def test_the_page_has_the_section() -> None:
    assert firmware.PAGE.read_text(encoding="utf-8").endswith(cached_writes.section())


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(
            name,
            marks=[
                pytest.mark.xfail(reason="its writes' own seeks leave groups less to explain: 2.4 times", strict=True)
            ]
            if name == "generic-7k2"
            else [],
        )
        for name in cached_writes.NAMES
    ],
)
def test_groups_explain_small_depths_and_not_large_ones(profile: str) -> None:
    probability = cached_writes.best(profile, "groups")
    assert 0 < probability < max(cached_writes.PROBABILITIES)
    assert cached_writes.misfit(profile, "groups", probability) < cached_writes.misfit(profile, "groups", 0) / 3
    errors = cached_writes.errors(profile, "groups", probability)
    assert all(abs(error) < 0.2 for depth, error in errors.items() if depth <= 4)
    assert errors[16] < -0.1


def test_a_lost_revolution_does_not_explain_writes_that_wait_for_nothing() -> None:
    lost = cached_writes.best("wd-raptor-wd740gd", "lost revolutions")
    assert cached_writes.misfit("wd-raptor-wd740gd", "lost revolutions", lost) > 0.5
