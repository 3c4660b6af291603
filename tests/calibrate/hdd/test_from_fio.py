"""Hard disks fitted to fio's rates and percentiles: one that is known, and a real one with depths held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibrate.calibration import Calibration
from calibrate.fit import calibrate
from calibrate.hdd.from_fio.calibrate import calibrate_hdd_from_fio
from calibrate.hdd.from_fio.conditions import PERCENTILES, Condition, conditions_of
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from calibrate.hdd.from_fio.residuals import MAX_P99_MISFIT
from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.errors import InputError
from diskmodel.formats import read_fio
from diskmodel.workload import Workload

#: fio's figures of a Samsung F1 1 TB: github.com/louwrentius/fio-plot, history of benchmark_data/HPMICROSERVERG10.
SAMSUNG = Path(__file__).parents[2] / "data" / "samsung-f1.fio.json"


def written(path: Path, jobs: list[dict[str, Any]]) -> Path:
    """Return a file of fio with these jobs."""
    path.write_text(json.dumps({"fio version": "fio-3.1", "jobs": jobs}))
    return path


def measured_as_fio_would(
    drive: Hdd, depths: tuple[int, ...], array: Array | None = None, mode: str = "randread"
) -> list[dict[str, Any]]:
    """Return jobs of random requests on a simulated drive or array, from other requests than the fit simulates."""
    jobs = []
    measured = MeasuredArray(array)
    for depth in depths:
        ratio = {"randread": 1.0, "randwrite": 0.0, "randrw": 0.5}[mode]
        workload = Workload.parse({"size_bytes": 4096, "read_ratio": ratio, "clients": depth})
        parts = {}
        for op in ("read", "write"):
            if ratio == (0.0 if op == "read" else 1.0):
                continue
            asked = Condition(op, workload, 1.0, 1.0, dict.fromkeys(PERCENTILES, 1.0))
            seen = measured.predict(drive, asked, seed=77)
            latency = {"min": 0, "max": 10**10, "mean": seen.mean_ns, "stddev": 1.0}
            percentiles = {f"{p:.6f}": round(ns) for p, ns in seen.percentiles_ns.items()}
            parts[op] = {
                "total_ios": 4000,
                "io_bytes": 4000 * 4096,
                "iops": seen.iops,
                "bw": round(seen.iops * 4),
                "runtime": round(4000 / seen.iops * 1000),
                "clat_ns": latency | {"percentile": percentiles},
                "lat_ns": latency,
            }
        options = {"rw": mode, "bs": "4k", "iodepth": str(depth), "ioengine": "libaio", "direct": "1"}
        jobs.append({"jobname": f"d{depth}", "groupid": len(jobs), "error": 0, "job options": options, **parts})
    return jobs


def known() -> Hdd:
    """Return a drive with slower seeks than its class, whose firmware plans three commands ahead."""
    queue = {"depth": 32, "scheduler": "rpo", "miss_margin_ns": 1_000_000, "age_weight": 0.1, "committed": 3}
    seek = {"track_to_track_ns": 1_000_000, "average_ns": 9_800_000, "full_stroke_ns": 19_000_000}
    drive = load_drive("generic-7k2").model_copy(update={"queue": queue, "seek": {"kind": "times", **seek}})
    assert isinstance(drive, Hdd)
    return drive


@pytest.mark.slow
def test_a_known_drive_is_found_again(tmp_path: Path) -> None:
    evidence = written(tmp_path / "known.json", measured_as_fio_would(known(), (1, 4, 8, 16, 32)))
    found = calibrate(evidence, start=load_drive("generic-7k2"))
    assert found.has_converged, found.message
    assert found.parameters["seek.average_ns"].value == pytest.approx(9.8, rel=0.06)
    assert found.parameters["queue.committed"].value == pytest.approx(3, abs=1)
    assert found.parameters["queue.miss_margin_ns"].value == pytest.approx(1.0, abs=0.5)
    assert not found.parameters["rpm"].is_identified  # it was given
    assert found.held_out["what"] == "random reads of 4096 bytes at queue depth 8"
    assert abs(found.held_out["iops_error_ratio"]) < 0.1
    assert abs(found.held_out["p99_error_ratio"]) < 0.2


@pytest.mark.slow
def test_without_deep_queues_the_order_is_not_identified(tmp_path: Path) -> None:
    evidence = written(tmp_path / "shallow.json", measured_as_fio_would(known(), (1, 2)))
    found = calibrate(evidence, start=load_drive("generic-7k2"))
    assert not any(parameter.is_identified for name, parameter in found.parameters.items() if "queue" in name)


@pytest.mark.parametrize("depths", [(4, 16), ()])
def test_reads_one_at_a_time_are_required(tmp_path: Path, depths: tuple[int, ...]) -> None:
    jobs = read_fio(written(tmp_path / "deep.json", measured_as_fio_would(known(), depths))) if depths else []
    with pytest.raises(InputError, match="queue depth 1"):
        calibrate_hdd_from_fio(
            conditions_of(jobs), start=known(), capacity_bytes=None, name="", provenance={}, warnings=[], seed=0
        )


def test_a_start_that_is_no_hard_disk_is_an_error() -> None:
    with pytest.raises(InputError, match="hard disk"):
        calibrate(SAMSUNG, start=load_drive("intel-d3-s4610-960"))


@pytest.fixture(scope="module")
def samsung() -> Calibration:
    return calibrate(SAMSUNG, capacity_bytes=10**12)


@pytest.mark.slow
def test_reads_of_a_real_drive(samsung: Calibration) -> None:
    """Fitted on depths 1, 4, 16 and 64. Required: 10 % of the rate, 20 % of p99."""
    reads = [row for row in samsung.report["residuals"] if "reads" in row["what"]]
    assert len(reads) == 4
    for row in reads:
        assert abs(row["iops_error_ratio"]) < 0.1, row
        assert abs(row["p99_error_ratio"]) < 0.2, row
    assert samsung.drive.to_dict()["rpm"] == 7200
    assert not samsung.parameters["rpm"].is_identified


@pytest.mark.slow
def test_a_depth_between_is_predicted(samsung: Calibration) -> None:
    """The drive is said to serve up to eight commands in their order, so that depth 8 has the rate of depth 4."""
    assert isinstance(samsung.drive, Hdd)
    workload = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": 8})
    at_8 = MeasuredArray().predict(samsung.drive, Condition("read", workload, 1.0, 1.0), seed=5)
    assert at_8.iops == pytest.approx(75.4, rel=0.1)


@pytest.mark.slow
def test_writes_whose_latencies_are_not_described_are_no_success(samsung: Calibration) -> None:
    """The rates of writes are fitted; some take a revolution longer than any model of the cache says."""
    writes = [row for row in samsung.report["residuals"] if "writes" in row["what"]]
    assert all(abs(row["iops_error_ratio"]) < 0.1 for row in writes)
    assert min(row["p99_error_ratio"] for row in writes) < -MAX_P99_MISFIT
    assert not samsung.has_converged
    assert "writes" in samsung.message
