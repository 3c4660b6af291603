"""A disk inside an array: known ones are found again, and what the evidence does not show is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.fit import calibrate
from calibrate.hdd.from_fio.conditions import conditions_of
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.errors import InputError
from diskmodel.formats import read_fio
from tests.calibrate.hdd.test_from_fio import known, measured_as_fio_would, written

LAYOUT = {"level": "raid5", "disks": 4, "strip": "64 KiB"}


def array_of(drive: Hdd | str, **fields: Any) -> Array:
    """Return an array of four disks in RAID 5."""
    return Array.parse({"drive": drive, "layout": LAYOUT} | fields)


def evidence(path: Path, array: Array, drive: Hdd, *, reads: tuple[int, ...], writes: tuple[int, ...] = ()) -> Path:
    """Return a file of fio with reads and writes of an array with this drive."""
    jobs = measured_as_fio_would(drive, reads, array)
    jobs += measured_as_fio_would(drive, writes, array, "randwrite")
    jobs += measured_as_fio_would(drive, writes[-1:], array, "randrw")
    for number, job in enumerate(jobs):
        job["groupid"] = number
    return written(path, jobs)


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    """The known drive, cached writes and all, in an array whose file names its class."""
    path = tmp_path_factory.mktemp("inside") / "array.json"
    real = array_of(known(), drive_write_cache=True)
    return calibrate(
        evidence(path, real, known(), reads=(1, 4, 8, 16, 32), writes=(2, 16)), array=array_of("generic-7k2")
    )


@pytest.mark.slow
def test_a_known_drive_in_an_array_is_found_again(through: Calibration) -> None:
    assert through.has_converged, through.message
    assert through.parameters["seek.average_ns"].value == pytest.approx(9.8, rel=0.1)
    assert through.parameters["rpm"].value == 7200
    assert abs(through.held_out["iops_error_ratio"]) < 0.1
    assert abs(through.held_out["p99_error_ratio"]) < 0.2


@pytest.mark.slow
def test_cached_writes_are_recognized(through: Calibration) -> None:
    assert through.parameters["drive_write_cache"].value == 1.0
    assert through.parameters["drive_write_cache"].is_identified
    assert through.array is not None
    assert through.array.drive_write_cache is True
    assert through.array.layout == array_of("generic-7k2").layout


@pytest.mark.slow
def test_mixes_are_held_out(through: Calibration) -> None:
    mixes = through.held_out["mixed_read_write"]
    assert mixes["n_conditions"] == 2
    assert mixes["median_iops_error_ratio"] < 0.1
    assert not any("%" in row["what"] for row in through.report["residuals"])


@pytest.mark.slow
def test_uncached_writes_are_recognized(tmp_path: Path) -> None:
    """How well the settle is found is a matter of the disks with known mechanics (test_through_array.py)."""
    drive, layout = known().model_copy(update={"write_settle_ns": 1_800_000}), {"level": "raid10", "disks": 4}
    real = array_of(drive, layout=layout, drive_write_cache=False)
    path = evidence(tmp_path / "array.json", real, drive, reads=(1, 4, 16), writes=(1, 8))
    found = calibrate(path, array=array_of("generic-7k2", layout=layout))
    assert found.parameters["drive_write_cache"].value == 0.0
    assert found.parameters["drive_write_cache"].is_identified
    writes = [row for row in found.report["residuals"] if "writes" in row["what"]]
    assert max(abs(row["iops_error_ratio"]) for row in writes) < 0.1
    assert found.array is not None
    assert found.array.drive_write_cache is False


@pytest.mark.slow
def test_writes_of_unknown_caches_are_assumed_uncached(tmp_path: Path) -> None:
    found = calibrate(
        evidence(tmp_path / "reads.json", array_of(known()), known(), reads=(1,)), array=array_of("generic-7k2")
    )
    assert any("drive_write_cache" in warning for warning in found.report["warnings"])


def test_a_disk_alone_is_an_array_of_one() -> None:
    condition = conditions_of(read_fio(Path(__file__).parents[2] / "data" / "samsung-f1.fio.json"))[0]
    alone = MeasuredArray().predict(known(), condition, seed=1)
    one = Array.parse({"drive": known(), "layout": {"level": "jbod", "disks": 1}})
    assert MeasuredArray(one).predict(known(), condition, seed=1) == alone


def test_a_file_is_at_the_front_of_the_array(tmp_path: Path) -> None:
    jobs = measured_as_fio_would(known(), (1,), array_of(known()))
    jobs[0]["job options"] |= {"size": "10g", "filename": "test.bin"}
    (condition,) = conditions_of(read_fio(written(tmp_path / "file.json", jobs)))
    assert condition.workload.streams[0].span_bytes == 10 << 30


def test_reads_and_writes_of_a_mix_are_apart(tmp_path: Path) -> None:
    jobs = measured_as_fio_would(known(), (4,), array_of(known()), "randrw")
    found = conditions_of(read_fio(written(tmp_path / "mix.json", jobs)))
    assert [condition.op for condition in found] == ["read", "write"]
    assert all(condition.is_mixed for condition in found)
    array = MeasuredArray(array_of(known()))
    total = sum(array.predict(known(), condition, seed=1).iops for condition in found)
    assert total == pytest.approx(sum(condition.iops for condition in found), rel=0.1)


def test_deep_queues_have_as_many_rounds() -> None:
    """At depth 256 a run of 4,000 requests would be little more than its warm-up."""
    from calibrate.hdd.from_fio.conditions import Condition
    from diskmodel.workload import Workload

    workload = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": 256})
    found = MeasuredArray(array_of(known())).predict(known(), Condition("read", workload, 1.0, 1.0), seed=1)
    assert np.isclose(found.iops * found.mean_ns / 1e9, 256, rtol=0.06)  # Little's law, in spite of the drain


def test_only_hard_disks_are_fitted_through_an_array(tmp_path: Path) -> None:
    path = evidence(tmp_path / "reads.json", array_of(known()), known(), reads=(1,))
    with pytest.raises(InputError, match=r"array\.drive"):
        calibrate(path, array=array_of("intel-d3-s4610-960"))


@pytest.mark.slow
def test_a_model_in_the_array_keeps_its_speed(tmp_path: Path) -> None:
    model = load_drive("seagate-barracuda-xt")
    path = evidence(tmp_path / "reads.json", array_of(known()), known(), reads=(1,))
    found = calibrate(path, array=array_of(model))
    assert not found.parameters["rpm"].is_identified
    assert found.parameters["rpm"].why == "of the drive that the fit started from"


@pytest.mark.slow
def test_a_disk_alone_that_does_not_cache_writes_says_so(tmp_path: Path) -> None:
    uncached = known().model_copy(update={"cache": {"size": "32 MiB", "segments": 32, "write_back": False}})
    jobs = measured_as_fio_would(uncached, (1,)) + measured_as_fio_would(uncached, (1, 4), mode="randwrite")
    for number, job in enumerate(jobs):
        job["groupid"] = number
    found = calibrate(written(tmp_path / "alone.json", jobs), start=load_drive("generic-7k2"))
    assert isinstance(found.drive, Hdd)
    assert found.drive.cache is not None
    assert not found.drive.cache.write_back
    assert found.parameters["drive_write_cache"].why.startswith("off")


def test_a_write_cache_that_the_drive_cannot_have_is_an_error(tmp_path: Path) -> None:
    path = evidence(tmp_path / "reads.json", array_of(known()), known(), reads=(1,))
    bare = known().model_copy(update={"name": "bare", "cache": None})
    with pytest.raises(InputError, match="has no cache"):
        calibrate(path, array=array_of(bare, drive_write_cache=True))
