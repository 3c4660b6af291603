"""Members, jobs and times compared with each other."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.errors import FormatError
from diskmodel.explanation.equals import differences, equals_of_devices, equals_of_jobs, step_of
from diskmodel.explanation.explain import explain
from diskmodel.explanation.read import read_results
from diskmodel.formats.device_load import DeviceLoad, loads_of
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency

MS = 1e6
HEADER = "Device r/s rkB/s r_await rareq-sz w/s wkB/s w_await wareq-sz aqu-sz %util"


def device(name: str, rate: float, read_ms: float, write_ms: float = 0.0, n: int = 20) -> DeviceLoad:
    """Return a disk with reads, and as many writes where they have a time."""
    writes = rate if write_ms else 0.0
    row = {
        "reads_per_s": rate,
        "writes_per_s": writes,
        "ios_per_s": rate + writes,
        "read_await_ns": read_ms * MS,
        "write_await_ns": write_ms * MS,
        "await_ns": (read_ms + write_ms) / (2 if write_ms else 1) * MS,
    }
    return loads_of([{name: row}] * n, 1.0)[0]


def named(*loads: DeviceLoad) -> list[tuple[str, str]]:
    return [(one.cause, one.who) for one in differences(equals_of_devices(loads))]


def eight(*others: DeviceLoad, rate: float = 30.0) -> list[DeviceLoad]:
    """Return eight disks that differ as sound ones do, some of them replaced by others."""
    times = (10.2, 11.5, 10.9, 11.1, 12.0, 10.5, 11.3, 10.8)
    found = {f"sd{letter}": device(f"sd{letter}", rate, ms) for letter, ms in zip("abcdefgh", times, strict=True)}
    return list((found | {one.device: one for one in others}).values())


def test_one_of_eight_that_answers_late_is_named_with_its_ratio() -> None:
    found = differences(equals_of_devices(eight(device("sdf", 30, 128))))
    assert [(one.cause, one.who) for one in found] == [("one-slow-disk", "sdf")]
    assert found[0].ratio == pytest.approx(128 / 11.1)
    assert found[0].title.startswith("sdf answers 12 times later than the others: reads take 128 ms, theirs 11.1 ms")
    assert "smartctl -x /dev/sdf" in found[0].check


def test_sound_disks_that_differ_by_a_fifth_are_alike() -> None:
    assert named(*eight()) == []
    assert named(*eight(device("sdf", 30, 13.5))) == []


def test_of_two_one_has_to_take_twice_as_long() -> None:
    assert named(device("sda", 30, 10), device("sdb", 30, 17)) == []
    assert named(device("sda", 30, 10), device("sdb", 30, 25)) == [("one-slow-disk", "sdb")]


def test_few_requests_say_nothing() -> None:
    assert named(*eight(device("sdf", 1, 128, n=20))) == []


def test_writes_alone_that_take_long_point_at_the_write_cache() -> None:
    others = [device(name, 30, 10, 1.5) for name in ("sda", "sdb", "sdc")]
    found = differences(equals_of_devices([*others, device("sdd", 30, 10.5, 9.0)]))
    assert [one.who for one in found] == ["sdd"]
    assert "its reads take as long as theirs" in found[0].title
    assert found[0].check.startswith("hdparm -W /dev/sdd /dev/sda")


def test_one_with_more_to_do_is_no_slow_disk() -> None:
    assert named(*eight(device("sdf", 90, 50))) == [("uneven-load", "sdf")]


def test_one_that_does_nothing_while_others_work_is_named() -> None:
    assert named(*eight(device("sdf", 0, 0))) == [("member-failed", "sdf")]


def job(name: str, iops: float, ms: float) -> FioJob:
    lat = FioLatency(ms * MS, ms * MS, ms * MS, 0.0)
    return FioJob(name, pattern="randread", depth=4, read=FioDirection(5_000, 0, 10**10, iops, 0.0, lat=lat))


def test_jobs_that_were_asked_for_the_same_are_compared() -> None:
    jobs = [job("a", 400, 10), job("b", 390, 10.2), job("c", 80, 50), job("d", 410, 9.8)]
    assert [(one.cause, one.who) for one in differences(equals_of_jobs(jobs), "job")] == [("one-slow-job", "c")]
    assert equals_of_jobs([*jobs, replace(jobs[0], depth=1)]) == []
    assert equals_of_jobs([replace(one, rates_per_s={"read": 100.0}) for one in jobs]) == []


def test_a_step_in_a_recording_is_found_where_no_more_is_asked_for() -> None:
    rng = np.random.default_rng(3)
    before, after = (mean * np.exp(0.1 * rng.standard_normal(20)) for mean in (10.0, 40.0))

    def recorded(times: np.ndarray, rates: np.ndarray) -> DeviceLoad:
        rows = [
            {"sda": {"ios_per_s": rate, "reads_per_s": rate, "await_ns": ms * MS}}
            for ms, rate in zip(times, rates, strict=True)
        ]
        return loads_of(rows, 2.0)[0]

    same = np.full(40, 30.0)
    step = step_of([recorded(np.concatenate([before, after]), same)])
    assert step is not None
    assert step.at == 20
    assert step.ratio == pytest.approx(4, rel=0.2)
    assert "from sample 21 of 40 on, 40 s after the beginning" in str(step)
    busier = np.concatenate([same[:20], 2 * same[20:]])
    assert step_of([recorded(np.concatenate([before, after]), busier)]) is None
    assert step_of([recorded(np.concatenate([before, before]), same)]) is None


def iostat(path: Path, rows: dict[str, tuple[float, float, float, float]], n: int = 4) -> Path:
    """Write a recording: of each device reads/s, their time in ms, writes/s, their time."""
    report = [HEADER]
    for name, (reads, read_ms, writes, write_ms) in rows.items():
        queue = (reads * read_ms + writes * write_ms) / 1e3
        cells = (reads, reads * 8, read_ms, 8, writes, writes * 8, write_ms, 8, queue, min(100 * queue, 100))
        report.append(" ".join([name, *(f"{cell:.2f}" for cell in cells)]))
    path.write_text("Linux 6.1.0 (a)\t11/20/2026\t_x86_64_\t(8 CPU)\n\n" + "\n\n".join(["\n".join(report)] * n) + "\n")
    return path


RAID6 = Array.from_words("8x generic-7k2 raid6")


def test_of_a_recording_the_slow_member_is_the_first_cause(tmp_path: Path) -> None:
    rows = {f"sd{letter}": (31.0, 11.0, 0.0, 0.0) for letter in "abcdefgh"} | {"sdf": (31.0, 128.0, 0.0, 0.0)}
    path = iostat(tmp_path / "iostat.txt", rows | {"md0": (248.0, 26.0, 0.0, 0.0)})
    found = explain(path, RAID6)
    assert not found.is_as_expected
    assert found.causes[0].names == ("one-slow-disk",)
    assert found.causes[0].predicts is None
    assert found.to_dict()["causes"][0]["title"].startswith("sdf answers 12 times later than the others")
    assert str(found).startswith("one is not like the others: sdf answers")
    # the volume is what was asked, and not its members
    assert found.compared[0].measured == pytest.approx(248)


def test_a_disk_that_is_no_member_has_to_be_told_apart(tmp_path: Path) -> None:
    rows = {f"sd{letter}": (31.0, 11.0, 0.0, 0.0) for letter in "abcdefghi"}
    path = iostat(tmp_path / "iostat.txt", rows)
    with pytest.raises(FormatError, match="9 disks are busy, and the array has 8"):
        read_results([path], None, RAID6)
    (one,), _ = read_results([path], ",".join(f"sd{letter}" for letter in "abcdefgh"), RAID6)
    assert not one.is_of_member
    assert one.differences == ()


def test_members_that_write_parity_are_compared_as_single_drives(tmp_path: Path) -> None:
    rows = {f"sd{letter}": (20.0, 11.0, 20.0, 12.0) for letter in "abcdefgh"}
    (one,), _ = read_results([iostat(tmp_path / "iostat.txt", rows)], None, RAID6)
    assert one.is_of_member
    assert one.workload.offered_rate_per_s == pytest.approx(40, rel=0.01)
