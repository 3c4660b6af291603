"""Flash drives described by their sheets alone, against steady states that were measured."""

from __future__ import annotations

import pytest

from tests.validation.flash import steady
from tests.validation.flash.steady import (
    SHEETS,
    below_saturation,
    commits,
    commits_without_protection,
    flash,
    fresh_rows,
    from_fresh,
    n_near_others,
    n_near_their_series,
    reads_beside_writes,
    rows,
    saturated,
    skewed,
    sustained,
    units,
    writes_below_of,
    writes_per_s,
)


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_are_reproduced(name: str) -> None:
    drive = flash(name)
    assert drive.sheet is not None
    assert writes_per_s(name, depth=256) == pytest.approx(drive.sheet.random_writes_per_s, rel=0.03)
    # the fastest need more outstanding than 256 for the rate that is printed
    depth = max(256, round(drive.sheet.random_reads_per_s * 0.35e-3))
    reads = steady.run(drive, {"size": "4 KiB", "clients": depth}).iops
    assert reads == pytest.approx(drive.sheet.random_reads_per_s, rel=0.03)
    in_order = {"size": "128 KiB", "read_ratio": 0.0, "clients": 32, "addresses": {"pattern": "sequential"}}
    written = steady.run(drive, in_order).bytes_per_s
    assert written == pytest.approx(drive.sheet.sequential_write_bytes_per_s, rel=0.05)


#: One of each model.
MODELS = [unit for unit in units() if "second unit" not in unit]


def known(*units: str, reason: str) -> list[object]:
    """Return all models, those units marked with the reason why they miss."""
    missed = pytest.mark.xfail(reason=reason, strict=True)
    return [pytest.param(unit, marks=missed) if unit in units else unit for unit in MODELS]


@pytest.mark.parametrize(
    "unit", known("SK hynix PE8110 960 GB", reason="writes 84,000/s alone where its sheet prints 70,000")
)
def test_steady_writes_beside_reads_are_those_of_the_sheet(unit: str) -> None:
    here, measured = saturated(unit)
    assert here == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize("row", [row for row in rows() if not row.reads_per_s], ids=lambda row: f"{row.used_ratio:.0%}")
def test_writes_against_used_space(row: steady.Row) -> None:
    """The whole drive was measured 11 % above its sheet, and in another run 20 % below it."""
    limit = 0.06 if row.used_ratio < 1 else 0.12
    assert writes_per_s(row.drive, row.used_ratio) == pytest.approx(row.writes_per_s, rel=limit)


def test_skewed_writes_make_a_drive_slower_that_cleans_greedily() -> None:
    found = {(one.pattern, one.exponent): one for one in skewed()}
    assert abs(found["zones", 0].error) < 0.1
    assert found["zones", 0].here < 0.95 * found["uniform", 0].here
    assert abs(found["zipf", 0.6].error) < 0.1


@pytest.mark.parametrize("row", fresh_rows()[::3], ids=lambda row: f"{row.drive}-{row.used_ratio:.0%}")
def test_how_long_drives_stay_fast_and_what_they_program(row: steady.FreshRow) -> None:
    result, found = from_fresh(row)
    assert found.seconds == pytest.approx(row.fast_s, rel=0.25)
    assert found.phases[0].iops == pytest.approx(row.fresh_per_s, rel=0.15)
    assert result.write_amplification_ratio == pytest.approx(row.amplification, rel=0.12)


def test_sustained_writes_of_boot_drives_follow_from_their_series_and_from_no_sheet() -> None:
    near, of_series = n_near_their_series()
    assert near == of_series == 14
    found = [n_near_others(share) for share in (None, "reads_per_s", "write_mb_s", "gigabytes")]
    assert len(sustained()) == 27
    assert max(found) == found[0] == 14


def test_commits_are_inside_their_intervals() -> None:
    """All but two of 23. Of drives with the cache on, flushes are not known, and their intervals are wider."""
    found = list(commits())
    assert [one.drive for one in found if not one.is_inside] == ["Samsung PM963 960 GB"]
    assert sum(commits_without_protection()) == 15 + 16
    assert all(one.middle.high < 2 * one.middle.low for one in found if one.cache != "on")
    off, on = (one.here for cache in ("off", "on") for one in found if one.cache == cache and "PM883" in one.drive)
    assert 1.7 < off / on < 2.5
    without_cache = [one for one in found if one.profile in ("samsung-pm9a3-960", "micron-7450-pro-960")]
    assert all(one.here == pytest.approx(one.measured, rel=0.15) for one in without_cache)


def test_writes_that_batches_of_copies_hold() -> None:
    """Its p99 as measured, which is inside the interval of drives of unknown firmware, and a bad one of ten there."""
    (found,) = writes_below_of("Micron 7450 PRO 960 GB", at_least=0.7)
    assert found.p99_us[0] == pytest.approx(found.p99_us[1], rel=0.2)
    assert found.unknown_ends_us[0] < found.p99_us[1] < found.unknown_ends_us[1]
    assert found.unknown_us[1] > 0.8 * found.p99_us[1]


@pytest.mark.parametrize("unit", ["Samsung PM9A3 960 GB", "Solidigm D7-P5520 1.92 TB (unit i0)"])
def test_writes_at_the_pace_of_cleaning(unit: str) -> None:
    """At the measured rate, which is more of the saturation here; not to see that writes wait is unsafe."""
    *_, found = writes_below_of(unit, at_least=0.7)
    assert found.p99_us[1] > 60
    assert found.p99_us[1] < found.p99_us[0] < 3 * found.p99_us[1]
    assert found.unknown_us[0] < found.p99_us[1] < found.unknown_us[1]


def test_batches_hold_more_than_one_write_in_a_hundred_at_low_load() -> None:
    """At 0.15 of its saturation p99 was measured to be that of a write that waits; not to see it is unsafe."""
    found = next(writes_below_of("Micron 7450 PRO 960 GB"))
    assert found.load < 0.2
    assert found.p99_us[1] < found.p99_us[0] < 2 * found.p99_us[1]
    assert found.p99_us[1] < found.unknown_us[1]


#: By how much percentiles of reads may be off.
LIMITS = {"p50_us": 0.2, "p99_us": 0.35}
IDLE = "reads of a drive that hardly writes take 10 to 20 us less than its sheet prints"
IN_BATCHES = "what reads wait for when batches of copies fill the load program is not modeled"
BOUND = "as soon as more than half of its reads wait, the middle one takes twice as long"
FULL = "writes behind a batch of copies fill a buffer that is larger on the drive"
#: Loads, in hundredths of the saturation, of which percentiles are off by more, and why.
MISSED = {
    ("Samsung PM9A3 960 GB", 13): ({"p50_us"}, IDLE),
    ("Micron 7450 PRO 960 GB", 15): ({"p99_us"}, IDLE),
    ("Micron 7450 PRO 960 GB", 58): ({"p99_us"}, IN_BATCHES),
    ("Micron 7450 PRO 960 GB", 73): ({"p99_us"}, IN_BATCHES),
    ("WD data center NVMe 960 GB, PCIe 3", 64): ({"p50_us"}, BOUND),
    ("SK hynix PE8110 960 GB", 13): ({"p50_us"}, IDLE),
    ("SK hynix PE8110 960 GB", 62): ({"p50_us"}, BOUND),
    ("SK hynix PE8110 960 GB", 75): ({"p50_us"}, BOUND),
    ("Kioxia CM7-R 3.84 TB (unit k4)", 61): ({"p50_us", "p99_us"}, FULL),
    ("Micron 7450 MAX 800 GB", 8): ({"p99_us"}, IDLE),
    ("Micron 7450 MAX 800 GB", 42): ({"p99_us"}, IN_BATCHES),
    ("Micron 7450 MAX 800 GB", 51): ({"p99_us"}, IN_BATCHES),
    ("Micron 7450 MAX 800 GB", 76): ({"p99_us"}, FULL),
}


@pytest.mark.parametrize("unit", MODELS)
def test_reads_beside_writes(unit: str) -> None:
    """All but the named percentiles are within the limits, and those are still beyond them."""
    compared = [*reads_beside_writes(unit, every=2 if len(below_saturation(unit)) > 10 else 1)]
    assert len(compared) >= 3
    missed = {
        round(100 * found.load): {name for name, limit in LIMITS.items() if abs(found.error(name)) > limit}
        for found in compared
    }
    named = {load: names for (of, load), (names, _) in MISSED.items() if of == unit}
    assert {load: names for load, names in missed.items() if names} == named
    if named:
        pytest.xfail("; ".join(sorted({why for (of, _), (_, why) in MISSED.items() if of == unit})))
