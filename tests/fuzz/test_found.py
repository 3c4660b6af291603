"""What fuzzing has found, each as the smallest input that showed it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.evidence.cells import answered_together
from calibrate.evidence.requests import read_requests
from calibrate.measure import load
from diskmodel import units
from diskmodel.array import Array
from diskmodel.cli.mount import _described
from diskmodel.description import read_toml
from diskmodel.drive import load_drive
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady import Start
from diskmodel.errors import CoverageError, DescriptionError, Fault, FormatError
from diskmodel.formats.arrays.as_array import volume_array
from diskmodel.formats.arrays.mdadm import read_detail, read_mdstat
from diskmodel.formats.arrays.volume import Member, Volume
from diskmodel.formats.fio.command import jobs_of
from diskmodel.formats.fio.latency_log import read_latency_log
from diskmodel.formats.fio.reader import jobs_of_text
from diskmodel.formats.hardware import facts_of_text
from diskmodel.formats.sysstat import loads_of_text
from diskmodel.formats.trace.reader import read_trace
from diskmodel.formats.workloads.find import find_workload
from diskmodel.host.description import Host
from diskmodel.lab.server import _as_data
from diskmodel.plan import PlanDescription
from diskmodel.plan.trial.memory import read_outcomes
from diskmodel.workload import Workload
from tests.calibrate.evidence.test_measurement import DOCUMENT
from tests.fuzz import kernel_calls, seeds

HUGE = 10**400


def changed(document: Any, path: str, value: Any) -> Any:
    """A copy of nested data with another value at a path such as "a.0.b"."""
    copied = json.loads(json.dumps(document))
    parent, *keys = copied, *path.split(".")
    for key in keys[:-1]:
        parent = parent[int(key) if isinstance(parent, list) else key]
    parent[keys[-1]] = value
    return copied


@pytest.mark.parametrize("line", ["R a 99999999999999999999 8 10 1", "R a 1 8 inf 1", "R a 1 8 10 inf"])
def test_a_traced_request_beyond_all_drives_is_refused(line: str, tmp_path: Path) -> None:
    """Was an overflow in NumPy, or a response time without end."""
    path = tmp_path / "a.trace"
    path.write_text(f"R a 1 8 10 1\n{line}\nR a 2 8 10 1\n")
    with pytest.raises(FormatError, match="line 2"):
        read_requests(path)


@pytest.mark.parametrize(
    "junk", ["9" * 60_000 + "x", "1" + " " * 60_000 + "x", "9" * 30_000 + "." + "9" * 30_000 + "e"]
)
@pytest.mark.parametrize("name", ["spc", "drive", "disksim", "msr"])
def test_a_long_cell_is_refused_in_time(name: str, junk: str, tmp_path: Path) -> None:
    """Sixty thousand digits took minutes to refuse: the pattern of a number tried every way to part them."""
    line = seeds.TRACES[name][0].decode().split("\n")[-2]
    path = tmp_path / "trace"
    path.write_text(f"{line}\n" + line.replace(line.split("," if "," in line else None)[-2], junk) + "\n")
    reader = read_trace(path, format=name, errors="count")
    assert sum(map(len, reader)) == 1
    assert reader.n_malformed == 1


def test_a_trace_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(b"R a 1 8 10 1\n\x85\xff\nR a 1 8 10 1\n")
    with pytest.raises(FormatError, match="line 2"):
        read_requests(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_requests(tmp_path / "none")


@pytest.mark.parametrize("value", [HUGE, -5, 1e19])
def test_figures_of_fio_lie_within_what_can_be_calculated_with(value: float) -> None:
    """A whole number of 400 digits was a traceback; requests per second below 0 were taken."""
    document = changed(json.loads(seeds.MIX_JSON), "jobs.0.read.iops", value)
    with pytest.raises(FormatError, match=r"jobs\.0\.read\.iops.*must be a number from 0 to 1e\+18"):
        jobs_of_text(json.dumps(document))


def test_a_block_size_of_400_digits_in_the_text_of_fio_is_passed_over() -> None:
    text = seeds.MIX_TEXT.decode().replace("(R) 8192B-8192B", f"(R) {HUGE}B-8192B")
    assert jobs_of_text(text, kind="fio-text")[0].block_bytes["read"] == 4096  # fio's default
    with pytest.raises(FormatError, match="is not a line of results"):
        jobs_of_text(seeds.MIX_TEXT.decode().replace("IOPS=", f"IOPS={HUGE}"), kind="fio-text")


def test_a_think_time_that_is_none_is_reported(tmp_path: Path) -> None:
    """Was a ValueError when a workload was made of the job."""
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=randread\nbs=4k\nthinktime=5 moments\n")
    with pytest.raises(FormatError, match=r"a\.thinktime='5 moments': must be a time like"):
        find_workload(path)


@pytest.mark.parametrize("value", [HUGE, 1e308])
def test_figures_of_sysstat_stay_finite(value: float) -> None:
    document = changed(json.loads(seeds.SYSSTAT["iostat-json"][0]), "sysstat.hosts.0.statistics.1.disk.0.rkB/s", value)
    with pytest.raises(FormatError, match=r"rkB/s=.*must be a number from 0 to 1e\+15"):
        loads_of_text(json.dumps(document))


def test_an_error_about_half_a_surrogate_pair_can_be_printed() -> None:
    """Was a UnicodeEncodeError instead of the message, or of the lab's answer."""
    said = {"smartctl": {"messages": [{"string": "\ud800", "severity": "error"}]}}
    with pytest.raises(FormatError) as caught:
        facts_of_text(json.dumps(said))
    assert "\\ud800" in str(caught.value)
    str(caught.value).encode("utf-8")
    json.dumps(_as_data(caught.value.faults[0]), ensure_ascii=False).encode("utf-8")


def test_a_long_value_is_not_quoted_whole() -> None:
    """A message of ten thousand characters hid what was wrong."""
    with pytest.raises(DescriptionError) as caught:
        Array.parse({"drive": "a" * 10_000, "layout": {"level": "raid0", "disks": 10**5000}})
    assert len(str(caught.value)) < 3000
    assert "must not be" in str(Fault("disks", 10**5000, "must not be so large"))


LONG_NAME = "x" * 5000


def test_a_name_too_long_for_a_path_is_no_drive(tmp_path: Path) -> None:
    array = tmp_path / "array.toml"
    array.write_text(f'drive = "{LONG_NAME}"\n[layout]\nlevel = "raid0"\ndisks = 2\n')
    with pytest.raises(DescriptionError, match="neither a file nor a drive"):
        Array.load(array)
    with pytest.raises(DescriptionError, match="neither a file nor a drive"):
        _described(LONG_NAME)
    plan = tmp_path / "plan.toml"
    text = (seeds.EXAMPLES / "plan-oltp.toml").read_text()
    plan.write_text(
        text.replace('workload = "', f'workload = "{seeds.EXAMPLES}/').replace("seagate-exos-x24", LONG_NAME)
    )
    with pytest.raises(DescriptionError, match="neither a file nor a drive"):
        PlanDescription.load(plan)


def test_what_has_no_end_is_not_read_to_it() -> None:
    with pytest.raises(DescriptionError, match="is a character device"):
        read_toml("/dev/zero")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("elapsed_s", "64 kib"),
        ("elapsed_s", HUGE),
        ("target.size_bytes", None),
        ("experiments.0.epoch", ",5 GB"),
        ("experiments.0.runs.0.parameters.queue_depth", None),
        ("experiments.0.runs.0.parameters.queue_depth", 0),
        ("experiments.0.runs.0.parameters.read_fraction", "half"),
        ("experiments.0.summary.buffer_bytes", [1]),
        ("experiments.0.samples.latency_ns", [1, 2, 2**62]),
        ("experiments.0.samples.n", False),
        ("target.device", "sda"),
        ("warnings", ["busy"]),
    ],
)
def test_a_measurement_tells_a_wrong_number_when_it_is_read(path: str, value: Any, tmp_path: Path) -> None:
    """Not by a traceback, and not later, when the number is asked for."""
    file = tmp_path / "measurement.json"
    file.write_text(json.dumps(changed(DOCUMENT, path, value)))
    with pytest.raises(FormatError) as caught:
        load(file)
    assert caught.value.faults[0].field.endswith(path.rpartition(".")[2])


def test_a_run_without_a_request_tells_nothing(tmp_path: Path) -> None:
    """Of a measurement that was interrupted; was a ValueError of NumPy."""
    file = tmp_path / "measurement.json"
    file.write_text(json.dumps(changed(DOCUMENT, "experiments.0.runs.1.count", 0)))
    assert answered_together([load(file)]) is None


@pytest.mark.parametrize("outcome", [[], {"iops": 1}, {"iops": [1, 1, 1], "bytes_per_s": [1, 1, 1], "latency_ns": 5}])
def test_a_line_that_is_no_outcome_is_passed_over(outcome: Any, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(json.dumps({"key": "a", "outcome": outcome}) + "\n" + "[" * 50_000 + "\n")
    assert read_outcomes(path) == {}


def test_a_rate_is_written_with_all_its_digits() -> None:
    """Ten digits were cut to nine where the product of two rounded numbers happened to be the same."""
    rate = 294525.10000000003
    assert float(units.parse(units.pretty_rate(rate), units._RATE)) == rate


@pytest.mark.parametrize("tail", ["\nGB", " GB\n.", " " * 100_000 + "\n."])
def test_a_long_number_that_is_none_is_refused_in_time(tail: str) -> None:
    """Five thousand digits and a line's end took minutes to refuse."""
    with pytest.raises(ValueError, match="must be a number with a unit"):
        units.parse("9" * 5000 + tail, units._BYTES)


def test_a_flusher_that_never_sleeps_is_refused() -> None:
    """Waking up every nanosecond, it kept both engines busy for as many events as the run had nanoseconds."""
    cache = {"memory": "4 MiB", "dirty_writeback": "1 ns"}
    with pytest.raises(DescriptionError, match="must be at least 1 ms"):
        Host.parse({"page_cache": cache})


def test_a_separator_beside_a_percentage_of_fio_is_a_blank() -> None:
    """Python takes it for one at the end of a text; it was a ValueError."""
    (job,) = jobs_of("fio --name=mix --rw=randrw --rwmixread=\x1c70")
    assert job.read_fraction == pytest.approx(0.7)


def test_a_seed_below_zero_is_refused() -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    with pytest.raises(DescriptionError, match="seed=-1: must not be negative"):
        resolve(array, -1)


@pytest.mark.parametrize("odd", [{"rate_per_s": 5e-324}, {"rate_per_s": 1.0, "weight": 5e-324}])
def test_a_share_that_vanishes_is_refused(odd: dict[str, float]) -> None:
    """Beside 800 requests a second, a stream of 5e-324 had a share of nothing, and its turns were divided by it."""
    other = {"size": "4 KiB", "rate": "800/s"}
    with pytest.raises(DescriptionError, match=r"must be at least 1e-09"):
        Workload.parse({"streams": [other, {"size": "4 KiB", **odd}]})


def test_a_raised_digit_is_no_offset_of_a_latency_log(tmp_path: Path) -> None:
    log = tmp_path / "job_lat.1.log"
    log.write_text("1, 250, 0, 4096, 0\n2, 260, 0, 4096, 19²\n")
    assert read_latency_log(log).offset_bytes.tolist() == [-1, -1]


def test_a_page_that_begins_dirty_twice_is_refused_by_its_field() -> None:
    """The refusal named "start.pages_dirty (sorted)[1]", which is no field of anything."""
    cache = {"is_buffered": True, "page_cache": {"memory": "4 MiB"}}
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}, "host": cache})
    requests = Workload.parse({"size": "4 KiB", "clients": 1}).requests(capacity_bytes=array.usable_bytes, n=1)
    begun = Start(pages_dirty=np.array([7, 3, 7]))
    with pytest.raises(CoverageError, match=r"start.pages_dirty=7: is given twice"):
        native.run(replace(resolve(array, 0), start=begun), requests)


def test_every_column_of_a_start_has_numbers_to_damage() -> None:
    starts = [vars(scenario.start) for scenario, _, _ in islice(kernel_calls.drawn(), 60)]
    columns = [name for name, value in starts[0].items() if isinstance(value, np.ndarray)]
    # pools, and with them ARCs and cache devices, are not among the arrays: they cannot be served request by request
    columns = [name for name in columns if not name.startswith("l2arc")]
    # engines never get regions that a cache holds as a whole: these become the blocks that a run can reach
    columns.remove("cached_regions")
    assert not [column for column in columns if not any(len(start[column]) for start in starts)]


def test_digits_that_are_no_number_are_refused() -> None:
    """Of 4² the power counts as a digit, too."""
    text = "/dev/md0:\n        Raid Level : raid5\n      Raid Devices : 4²\n"
    with pytest.raises(FormatError, match="Raid Devices"):
        read_detail(text, "md")


def test_a_recovery_beyond_its_end_is_refused() -> None:
    text = (
        "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      1024 blocks [2/1] [U_]\n"
        "      [==>..]  recovery = 926.0% (1/2) finish=1.0min speed=1K/sec\n"
    )
    with pytest.raises(FormatError, match=r"926\.0% is beyond 100 %"):
        read_mdstat(text, "mdstat")


def test_a_name_of_seventy_thousand_letters_is_quoted_short() -> None:
    volume = Volume("\ud800" + "m" * 70_000, "lsblk", "raid5", (Member("sda", "working"),))
    with pytest.raises(DescriptionError) as refused:
        volume_array(volume, load_drive("generic-7k2"))
    assert len(str(refused.value)) < 1_000
    str(refused.value).encode()
