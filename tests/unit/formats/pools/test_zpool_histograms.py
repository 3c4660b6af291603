"""Sizes and times of zpool iostat -r and -w, worked out by hand."""

import math

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.explanation.read import read_results
from diskmodel.formats import detect_evidence, find_workload
from diskmodel.formats.recorders import loads_of_text
from diskmodel.formats.time_classes import mean_ns, quantile_ns
from tests.unit.formats.pools.tables import SIZES, TIMES, sizes_table, times_table

KIND = "zpool-histograms"
#: 100 reads of 8 KiB, 20 joined ones of 64 KiB and more; 30 log writes of 4 KiB, 10 of groups; a scrub of 5.
SMALL = {
    "4K": {"sync_write ind": 30},
    "8K": {"sync_read ind": 100},
    "64K": {"async_read agg": 20, "async_write agg": 10, "scrub ind": 5},
}
#: Reads on the disks: half from 4.2 to 8.4 ms, half up to 16.8 ms; writes up to 1 ms. In the queues twice as long.
WAITS = {
    "1ms": {"disk_wait write": 40},
    "2ms": {"total_wait write": 40},
    "8ms": {"disk_wait read": 60},
    "16ms": {"disk_wait read": 60, "total_wait read": 60},
    "33ms": {"total_wait read": 60},
}
SINCE_IMPORT = {"4K": {"sync_read ind": "1.17M"}}


def both(*, scale: int = 1) -> str:
    """Return reports since the import, then of an interval, of sizes and of times."""
    rows = {label: {column: scale * n for column, n in row.items()} for label, row in SMALL.items()}
    return (
        sizes_table("tank", SINCE_IMPORT)
        + sizes_table("tank", rows)
        + times_table("tank", {"1s": {"disk_wait read": "1.17M"}})
        + times_table("tank", WAITS)
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sizes_of_an_interval(end, tmp_path):
    path = tmp_path / "recording"
    path.write_bytes(both().replace("\n", end).encode())
    assert detect_evidence(path) == KIND
    found = find_workload(path, level=100)
    reads, writes = found.workload["streams"]
    assert (reads["arrival"]["rate_per_s"], writes["arrival"]["rate_per_s"]) == (120, 40)
    assert {one["size_bytes"]: one["weight"] for one in reads["sizes"]} == {
        8192: pytest.approx(5 / 6, abs=1e-6),
        96 << 10: pytest.approx(1 / 6, abs=1e-6),
    }
    assert {one["size_bytes"]: one["weight"] for one in writes["sizes"]} == {4096: 0.75, 96 << 10: 0.25}
    said = "\n".join(found.notes)
    assert "the first report of -r is left out" in said
    assert "83 % of the reads are synchronous" in said
    assert "75 % of the writes are synchronous (of the intent log)" in said
    assert "5 commands/s of scrub and resilver are left out" in said
    assert "means are recorded" not in said


def test_times_are_compared_by_explain(tmp_path):
    """Mean and percentiles on the disks; each class is spread evenly over the logarithm of time."""
    path = tmp_path / "recording"
    path.write_text(both())
    (one,), _ = read_results([path])
    assert one.figures["reads.mean"] == pytest.approx((2**22 + 2**23) / 2 / math.log(2))
    assert one.figures["reads.p50"] == pytest.approx(2**23)
    assert one.figures["reads.p99"] == pytest.approx(2**23.98)
    assert one.figures["writes.mean"] == pytest.approx(2**19 / math.log(2))
    assert any("reads took 9.08 ms on the disks, which is compared, and 18.2 ms" in note for note in one.notes)


def test_reports_of_several_intervals_are_samples():
    text = sizes_table("tank", SINCE_IMPORT) + sizes_table("tank", SMALL) + sizes_table("tank", {})
    (load,) = loads_of_text(text, "", KIND)
    assert load.reads_per_s.tolist() == [120, 0]
    assert load.read_request_bytes[0] == pytest.approx((100 * 8192 + 20 * 98304) / 120)
    assert np.isnan(load.read_await_ns).all()


def test_the_commands_line_says_that_the_first_report_counts():
    text = "root@nas:~# zpool iostat -ry tank 60 1\n" + sizes_table("tank", SMALL)
    (load,) = loads_of_text(text, "", KIND)
    assert load.reads_per_s.tolist() == [120]
    with pytest.raises(FormatError, match="counts since the pool was imported, without rates"):
        loads_of_text(text.replace("-ry", "-r"), "", KIND)


@pytest.mark.parametrize("middle", ["mirror-0", "raidz2-0", "draid1:3d:5c:1s-0"])
def test_disks_without_the_vdevs_above_them(middle):
    report = "".join(sizes_table(name, SMALL) for name in ("tank", middle, "sda", "sdb"))
    assert {load.device for load in loads_of_text(report * 2, "", KIND)} == {"sda", "sdb"}


def test_a_pool_of_single_disks_is_known_by_its_sum():
    whole = {label: {column: 2 * n for column, n in row.items()} for label, row in SMALL.items()}
    report = "".join(sizes_table(name, rows) for name, rows in (("tank", whole), ("a", SMALL), ("b", SMALL)))
    assert {load.device for load in loads_of_text(report * 2, "", KIND)} == {"a", "b"}
    others = "".join(sizes_table(name, rows) for name, rows in (("tank", SMALL), ("backup", whole)))
    assert {load.device for load in loads_of_text(others * 2, "", KIND)} == {"tank", "backup"}


def test_older_versions_have_fewer_columns():
    ways = ("sync_read", "sync_write", "async_read", "async_write", "scrub")
    (load,) = loads_of_text(sizes_table("my tank", SMALL, ways) * 2, "", KIND)
    assert (load.device, load.reads_per_s.tolist()) == ("my tank", [120])


def test_times_of_the_clock_stand_above_reports():
    text = "1790000000\n" + sizes_table("tank", SMALL) + "Fri Nov 27 03:27:37 UTC 2026\n" + sizes_table("tank", SMALL)
    (load,) = loads_of_text(text, "", KIND)
    assert load.reads_per_s.tolist() == [120]


def test_a_last_table_that_is_cut_short_is_left_out():
    text = sizes_table("tank", SMALL) * 3
    for cut in (150, 400, 1500):
        (load,) = loads_of_text(text[:-cut], "", KIND)
        assert load.reads_per_s.tolist() == [120]
        assert any("cut short" in note for note in load.notes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("16M ", "32M ", "is no line of zpool iostat -r or -w"),
        ("  100", "  1OO", "is no figure of zpool iostat"),
        ("  100", "     ", "has 13 figures instead of 14"),
        ("16K       ", "8K        ", "comes twice"),
        ("ind    agg\n", "ind\n", "does not fit the line above it"),
        ("\n2K ", "\npool: tank\n2K ", "is no line of zpool iostat -r or -w"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(old, new, message):
    text = sizes_table("tank", SMALL)
    assert old in text
    with pytest.raises(FormatError, match=message):
        loads_of_text(text.replace(old, new, 1) + sizes_table("tank", SMALL) * 2, "recording", KIND)


def test_a_table_without_a_class_is_refused():
    text = sizes_table("tank", SMALL).replace(SIZES[4], "", 1)
    lines = [line for line in sizes_table("tank", SMALL).split("\n") if not line.startswith("8K ")]
    with pytest.raises(FormatError, match="without its class 8K"):
        loads_of_text("\n".join(lines) + text.partition(SIZES[0])[0] + sizes_table("tank", SMALL) * 2, "", KIND)


def test_times_alone_are_no_load():
    with pytest.raises(FormatError, match="zpool iostat -w: it has times of commands, and no sizes"):
        loads_of_text(times_table("tank", WAITS) * 2, "", KIND)


def test_a_comma_of_a_locale_is_read():
    text = sizes_table("tank", {"8K": {"sync_read ind": "1,50K"}}) * 2
    (load,) = loads_of_text(text, "", KIND)
    assert load.reads_per_s.tolist() == [1536]


def test_times_in_classes():
    assert len(TIMES) == 37
    assert mean_ns({}) is None
    assert quantile_ns({3: 0.0}, 0.5) is None
    assert quantile_ns({10: 3.0, 20: 1.0}, 0.75) == 2.0**11
    assert quantile_ns({10: 3.0, 20: 1.0}, 1.0) == 2.0**21
