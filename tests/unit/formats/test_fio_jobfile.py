"""fio's job files and the suffixes of its options."""

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.fio.options import JobOptions, size_bytes, time_ns
from diskmodel.formats.fio.reader import jobs_of_text, read_fio
from tests.unit.formats.files import DATA


def test_a_job_file_asks_for_what_the_run_of_it_reports():
    for asked, done in zip(read_fio(DATA / "mix.fio"), read_fio(DATA / "mix-fio-3.33.txt"), strict=True):
        same = ("name", "group", "pattern", "read_fraction", "block_bytes", "depth", "n_jobs", "engine", "is_direct")
        assert {name: getattr(asked, name) for name in same} == {name: getattr(done, name) for name in same}
        assert not asked.directions


@pytest.mark.parametrize(
    ("text", "base", "expected"),
    [
        ("4096", 1024, 4096),
        ("4k", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4ki", 1024, 4000),
        ("4KiB", 1000, 4096),
        ("4kB", 1000, 4000),
        ("1M", 1024, 2**20),
        ("2g", 1024, 2**31),
        ("512b", 1024, 512),
    ],
)
def test_sizes_as_fio_takes_them(text, base, expected):
    assert size_bytes(text, base) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("30", 30e9), ("5m", 300e9), ("100ms", 1e8), ("2h", 7200e9), ("7us", 7000)]
)
def test_times_as_fio_takes_them(text, expected):
    assert time_ns(text) == expected


@pytest.mark.parametrize("text", ["", "4x", "-4k", "4k4", "٤k"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="must be a size"):
        size_bytes(text)


def test_block_sizes_of_directions_ranges_and_splits():
    assert JobOptions({"bs": "4k,8k"}).block_bytes == {"read": 4096, "write": 8192, "trim": 8192}
    assert JobOptions({"bs": ",8k"}).block_bytes == {"read": 4096, "write": 8192, "trim": 8192}
    assert JobOptions({"bsrange": "4k-12k"}).block_bytes["read"] == 8192
    assert JobOptions({"bssplit": "4k/75:8k/25"}).block_bytes["read"] == 0.75 * 4096 + 0.25 * 8192
    assert JobOptions({"bssplit": "4k/50:8k/:16k/"}).block_bytes["read"] == 0.5 * 4096 + 0.25 * 8192 + 0.25 * 16384


def test_mixes_and_aliases():
    assert JobOptions({"readwrite": "readwrite", "rwmixwrite": "20"}).read_fraction == pytest.approx(0.8)
    assert JobOptions({"rw": "randread:8"}).pattern == "randread"
    assert JobOptions({"rw": "write"}).read_fraction == 0.0
    assert JobOptions({"buffered": "1"}).is_direct is False


def test_stonewall_opens_a_group_and_later_globals_count_for_later_jobs():
    jobs = jobs_of_text("[global]\nrw=read\n[a]\n[b]\n[global]\nbs=8k\n[c]\nstonewall\n[d]\nstonewall=0\n")
    assert [job.group for job in jobs] == [0, 0, 1, 1]
    assert [job.block_bytes["read"] for job in jobs] == [4096, 4096, 8192, 8192]


def test_a_line_that_is_no_option_is_named():
    with pytest.raises(FormatError, match=r"job.fio: line 3=.*neither a \[section\] nor an option"):
        jobs_of_text("[a]\nrw=read\n= 5\n", "job.fio")
    with pytest.raises(FormatError) as raised:
        jobs_of_text("[a]\nrw=read\niodepth=lots\nbs=4q\n")
    assert {fault.field for fault in raised.value.faults} == {"a.iodepth", "a.bs"}


def test_a_job_file_without_jobs_is_refused():
    with pytest.raises(FormatError, match="describes no job"):
        jobs_of_text("[global]\nrw=read\n")
