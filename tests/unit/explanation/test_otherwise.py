"""What an array leaves unsaid, and the answer of the other case."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.explanation.otherwise import otherwise

WRITES = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate_per_s": 200})


def said_of(words: str, load: Workload = WRITES, **fields: object) -> dict[str, object]:
    array = Array(words) if not fields else Array(words).model_copy(update=fields)
    result = simulate(array, load, n_requests=4000, profile_draws=0)
    return {one.name: one for one in otherwise(array, load, result, seed=0)}


@pytest.mark.parametrize(
    ("words", "is_on"),
    [
        ("8x seagate-exos-x16 raid5", True),
        ("8x generic-15k raid5", False),
        ("2x4 seagate-exos-x16 raidz1", True),
        ("8x seagate-exos-x16 raid5, perc-h730", False),
        ("8x seagate-exos-x16 raid5, 1GiB cache", False),
        ("seagate-exos-x16 jbod", True),
        ("8x seagate-exos-x16 raid5, drive write cache on", True),
        ("8x seagate-exos-x16 raid5, drive caches off", False),
        ("8x generic-15k raid5, drive caches on", True),
        ("8x generic-15k raid5, disk cache enabled", True),
    ],
)
def test_caches_of_drives_by_context(words: str, is_on: bool) -> None:
    assert Array.from_words(words).has_drive_write_cache is is_on


def test_the_other_case_is_what_it_says_simulated() -> None:
    one = said_of("8x seagate-exos-x16 raid5")["drive_write_cache"]
    off = simulate(Array("8x seagate-exos-x16 raid5, drive write cache off"), WRITES, n_requests=4000, profile_draws=0)
    assert (one.mean_ms, one.p99_ms) == (off.mean.mean, off.p99.mean)
    assert one.said_by == "--drive-write-cache off"
    assert "as SATA disks are sold" in one.assumed
    assert 0.7 * one.mean_ms > simulate(Array("8x seagate-exos-x16 raid5"), WRITES, n_requests=4000).mean.mean


@pytest.mark.parametrize(
    ("words", "load"),
    [
        ("8x seagate-exos-x16 raid5, drive caches on", WRITES),  # said
        ("8x seagate-exos-x16 raid5", Workload.parse({"size": "8 KiB", "rate_per_s": 200})),  # reads only
        ("8x micron-5400-pro-1920 raid5", WRITES),  # flash has no such switch
        ("8x generic-15k raid5", WRITES),  # has no write-back cache
    ],
)
def test_what_is_said_or_cannot_matter_is_not_said(words: str, load: Workload) -> None:
    assert "drive_write_cache" not in said_of(words, load)


def test_strips_where_requests_are_longer() -> None:
    long = Workload.parse({"size": "1 MiB", "rate_per_s": 20})
    assert "512KiB" in said_of("8x seagate-exos-x16 raid5", long)["strip"].said_by
    assert "strip" not in said_of("8x seagate-exos-x16 raid5, strip 64KiB", long)


def test_a_load_that_reaches_all_of_a_disk_is_an_assumption() -> None:
    reads = Workload.parse({"size": "8 KiB", "clients": 1})
    one = said_of("seagate-exos-x18 single", reads)["span"]
    part = reads.model_copy(update={"span_ratio": 0.1})
    other = simulate(Array("seagate-exos-x18 single"), part, n_requests=4000, profile_draws=0)
    assert (one.iops, one.mean_ms) == (other.run_iops.value, other.mean)
    assert one.iops > 1.5 * 82
    assert "span" not in said_of("seagate-exos-x18 single", part)  # said
    assert "span" not in said_of("micron-7450-pro-1920 single", reads)  # has no arm
    assert "span" not in said_of("seagate-exos-x18 single", reads.model_copy(update={"span_bytes": 1 << 40}))


def test_an_order_of_commands_that_nobody_measured_is_an_assumption() -> None:
    many = Workload.parse({"size": "8 KiB", "clients": 32})
    one = said_of("4x seagate-exos-x18 raid10", many)["order"]
    assert "NCQ off" in one.said_by
    assert one.iops < 0.8 * simulate(Array("4x seagate-exos-x18 raid10"), many, n_requests=4000).iops
    assert "order" not in said_of("4x seagate-exos-x18 raid10", Workload.parse({"size": "8 KiB", "clients": 2}))


def test_the_bitmap_of_mdadm_is_an_assumption_where_there_are_writes() -> None:
    one = said_of("4x generic-15k raid10")["bitmap"]
    with_it = Array("4x generic-15k raid10, linux-md")
    other = simulate(with_it, WRITES, n_requests=4000, profile_draws=0)
    assert one.mean_ms == other.mean
    assert "bitmap" not in said_of("4x generic-15k raid10", Workload.parse({"size": "8 KiB", "clients": 4}))
    assert "bitmap" not in said_of("4x generic-15k raid10, linux-md")


def test_a_long_run_changes_as_short_ones_do() -> None:
    """A short run may see what memory serves: the other case is not what it shows, but how much it differs from it."""
    array = Array.from_words("8x generic-smr raid10")
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0, "clients": 128, "span": "10 GB"})
    result = simulate(array, load, n_requests=150_000, profile_draws=0, with_angles=False)
    short = simulate(array, load, n_requests=8_000, profile_draws=0, with_angles=False)
    assert short.iops.value > 1.5 * result.iops.value
    (caches,) = otherwise(array, load, result, seed=0, names=("drive_write_cache",))
    off = array.model_copy(update={"drive_write_cache": False})
    other = simulate(off, load, n_requests=8_000, profile_draws=0, with_angles=False)
    assert caches.iops == pytest.approx(result.iops.value * other.iops.value / short.iops.value, rel=0.05)
