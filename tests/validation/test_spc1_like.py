"""Mirrored 15,000 rpm drives under an SPC-1-like load, beside what was published for each drive of systems."""

from __future__ import annotations

import pytest

from diskmodel import simulate
from tests.validation import spc1_like

pytestmark = pytest.mark.slow

N_DRIVES = 16


def mean_ms(load: float, order: str) -> float | None:
    return spc1_like.mean_ms(N_DRIVES, spc1_like.units(N_DRIVES, load), order)


def test_drives_alone_serve_more_than_was_published_of_systems() -> None:
    high = spc1_like.RANGE_PER_DRIVE[1]
    at_high, beyond = mean_ms(high, "as the profile"), mean_ms(1.5 * high, "as the profile")
    assert at_high is not None
    assert at_high < spc1_like.LIMIT_MS
    assert beyond is None or beyond > spc1_like.LIMIT_MS


def test_drives_with_the_margin_of_sata_serve_what_was_published() -> None:
    low, high = (mean_ms(load, "with the margin of SATA drives, 2 ms") for load in spc1_like.RANGE_PER_DRIVE)
    assert low is not None
    assert low < spc1_like.LIMIT_MS
    assert high is None or high > spc1_like.LIMIT_MS


def test_a_part_of_a_sweep_in_which_the_cache_fills_is_not_called_stable() -> None:
    margin = spc1_like.array(N_DRIVES, "with the margin of SATA drives, 2 ms")
    load = spc1_like.spc1_like(spc1_like.units(N_DRIVES, 325))
    # twice as many fill the cache
    n = spc1_like.REQUESTS_PER_DRIVE * N_DRIVES // 2
    found = simulate(margin, load, n_requests=n, seed=1, profile_draws=0)
    assert found.to_dict()["stable"] is None
    assert any("write cache still fills" in message for message in found.messages)


def test_lines_that_hold_more_and_more_are_no_overload() -> None:
    load = spc1_like.spc1_like(spc1_like.units(N_DRIVES, 100))
    found = simulate(spc1_like.array(N_DRIVES, "as the profile"), load, n_requests=40_000, seed=1, profile_draws=0)
    assert found.to_dict()["stable"] is None
    assert any("write cache still fills" in message for message in found.messages)


@pytest.mark.parametrize("load", [100, 200])
def test_a_row_of_the_page_is_what_the_script_writes(load: int) -> None:
    page = spc1_like.PAGE.read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in page if line.startswith(f"| {load} |")]
    n = spc1_like.DRIVES[1]
    found = [spc1_like.mean_ms(n, spc1_like.units(n, load), order) for order in spc1_like.ORDERS]
    assert row == f"| {load} | {' | '.join(f'{mean:.1f} ms' for mean in found)} |"


@pytest.mark.long
def test_the_page_is_what_the_script_writes() -> None:
    assert spc1_like.PAGE.read_text(encoding="utf-8") == spc1_like.page()
