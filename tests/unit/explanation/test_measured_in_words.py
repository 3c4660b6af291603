"""What was measured, said in a line: every word is a figure, an assumption that is named, or an error."""

from __future__ import annotations

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.explanation.explain import explain
from diskmodel.explanation.said import measured_in_words
from tests.unit.cli.commands import refusal


@pytest.mark.parametrize(
    ("text", "load", "figures"),
    [
        ("300/s, await 76ms, 100% busy", "8 KiB uniform, 70% reads, 23 outstanding", {"iops": 300}),
        ("45 MB/s, 1M, sync", "1 MiB sequential, 0% reads, 1 outstanding, dsync", {"iops": 45e6 / 2**20}),
        ("300 IOPS 8k random reads iodepth 32", "8 KiB uniform, 100% reads, 32 outstanding", {"iops": 300}),
        (
            "1,200/s, 4k, 70% reads, r_await 9ms, w_await 90ms, 99% util",
            "4 KiB uniform, 70% reads, 59 outstanding",
            {"iops": 1200, "reads.mean": 9e6, "writes.mean": 90e6},
        ),
        ("120 MB/s sequential read, iodepth=4, bs=1m", "1 MiB sequential, 100% reads, 4 outstanding", {"iops": 114.44}),
        ("8k randread at queue depth 32: 300 IOPS", "8 KiB uniform, 100% reads, 32 outstanding", {"iops": 300}),
        ("4k randread qd1 -> 95 iops", "4 KiB uniform, 100% reads, 1 outstanding", {"iops": 95}),
        ("151/s, 8k fsync writes, 1 job", "8 KiB uniform, 0% reads, 1 outstanding, fsync", {"iops": 151}),
        ("300/s reads, await 2ms, 30% busy", "8 KiB uniform, 100% reads, 300/s", {"reads.mean": 2e6}),
        (
            "4k randwrite qd 1 latency 8ms p99 20 ms",
            "4 KiB uniform, 0% reads, 1 outstanding",
            {"iops": 125, "writes.mean": 8e6, "writes.p99": 20e6},
        ),
        ("5 MB/s and 300/s, reads, await 20ms, 100% busy", "16 KiB uniform, 100% reads, 6 outstanding", None),
        (
            "280 tps, aqu-sz 19.6, await 70ms, 8k reads",
            "8 KiB uniform, 100% reads, 20 outstanding",
            {"iops": 280, "reads.mean": 70e6},
        ),
        (
            "20 r/s, 60 w/s, 4k, r_await 5ms, w_await 9ms, 20% util",
            "4 KiB uniform, 25% reads, 80/s",
            {"reads.mean": 5e6, "writes.mean": 9e6},
        ),
        ("80 writes/s, 30% utilization, w_await 4ms, 64k, direct", "64 KiB uniform, 0% reads, 80/s", None),
    ],
)
def test_a_line_is_a_measured_load(text: str, load: str, figures: dict[str, float] | None) -> None:
    found = measured_in_words(text)
    (stream,) = found.workload.streams
    assert stream.in_words() == load
    assert found.name == text
    if figures is not None:
        assert found.figures == pytest.approx(figures, rel=1e-3)
    assert found.n_requests > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bananas", "has 'bananas', which is no figure; write for example"),
        ("300/s, await 76ms, lots busy", "has 'lots"),
        ("", "has neither a rate nor MB/s"),
        ("await 76ms", "has neither a rate nor MB/s"),
        ("120MB/s", "does not say whether it reads or writes"),
        ("120MB/s, 1M reads", "does not say how many requests were outstanding; add iodepth 32"),
        ("5 MB/s, 300/s, 64k, 100% busy, await 20 ms", "which do not agree"),
        ("100/s, w_await 5ms, reads", "has a latency of writes, of which there are none"),
        ("300/s, await 2ms, 30% busy", "has one latency of reads and writes together; give r_await and w_await"),
    ],
)
def test_what_does_not_determine_a_load_is_refused(text: str, said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        measured_in_words(text)
    assert said in str(caught.value)
    assert "--measured=" in str(caught.value)


def test_what_is_assumed_is_named() -> None:
    notes = measured_in_words("300/s, await 76ms, 100% busy").notes
    assert notes == (
        "assumed: requests of 8 KiB; say their size, for example 64k",
        "assumed: 70% reads; say for example 100% reads",
        "22.8 requests were in flight on average: 23 outstanding are compared",
    )
    assert measured_in_words("300/s, 8k random reads, iodepth 4").notes == ()


def test_a_healthy_disk_needs_no_explanation() -> None:
    found = explain(measured_in_words("76/s, 4k random reads, iodepth 1"), "1x generic-7k2")
    assert found.is_as_expected
    assert "nothing to explain" in str(found)


def test_the_command_wants_a_file_or_words() -> None:
    array = ("--array", "8x generic-7k2 raid5")
    assert "RESULT: are missing; name an output of fio, iostat or a trace, or say it: --measured" in refusal(
        "explain", *array
    )
    assert "which is no figure" in refusal("explain", "--measured", "slow", *array)
