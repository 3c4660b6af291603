"""The processor of the host that ran fio is a station of its own: what it limits is not taken for the drive's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.closed_loop import behind, closed_loop, scenario_of
from calibrate.evidence.cells import Key, cells_of_fio
from calibrate.fit import calibrate, validate
from calibrate.flash.model import FlashShape, flash_of, responses_by_simulation
from diskmodel.drive import Flash
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency
from diskmodel.formats.fio.write import write_fio_json

#: A drive of 400,000 reads a second behind a processor that takes 14 µs for each at depth 1, and 19 µs at depth 64.
TRUTH = flash_of(FlashShape(2_000.0, 6_000.0, 60_000.0, 24, 16_384, 2.0), capacity_bytes=1 << 36, name="truth")
HOST_NS = {1: 14_000, 2: 14_000, 4: 14_500, 8: 15_000, 16: 16_000, 32: 17_500, 64: 19_000}


def _job(depth: int, host_ns: int) -> FioJob:
    offset = np.random.default_rng(depth).integers(0, TRUTH.capacity_bytes // 4096, 6_000) * 4096
    run = closed_loop(behind(scenario_of(TRUTH), host_ns), offset, 4096, depth)
    done, response = np.sort(run.done_ns), (run.done_ns - run.issue_ns)[500:].astype(np.float64)
    iops = 5_000 * 1e9 / float(done[5_500] - done[500])
    ranks = (1.0, 10.0, 50.0, 90.0, 99.0)
    latency = FioLatency(
        min_ns=response.min(),
        max_ns=response.max(),
        mean_ns=response.mean(),
        stddev_ns=response.std(),
        n_samples=len(response),
        percentiles=dict(zip(ranks, np.percentile(response, ranks).tolist(), strict=True)),
    )
    return FioJob(
        name=f"depth{depth}",
        group=depth,
        options={"rw": "randread", "bs": "4096", "iodepth": str(depth), "ioengine": "libaio", "size": "64g"},
        pattern="randread",
        depth=depth,
        engine="libaio",
        block_bytes={"read": 4096.0},
        read=FioDirection(100_000, 409_600_000, 10**9, iops, 4096 * iops, clat=latency),
        cpu_ratio=host_ns * iops / 1e9,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fio") / "depths.json"
    write_fio_json(path, [_job(depth, host_ns) for depth, host_ns in HOST_NS.items()])
    return path


@pytest.fixture(scope="module")
def found(results: Path) -> Calibration:
    return calibrate(results, capacity_bytes=TRUTH.capacity_bytes)


@pytest.mark.slow
def test_the_drive_is_found_behind_the_host(found: Calibration) -> None:
    """Without the host, the fit takes its 17 µs for the drive's, whose rate at depth 16 is then a third of the true."""
    assert found.has_converged
    assert isinstance(found.drive, Flash)
    assert all(abs(row["error_ratio"]) < 0.02 for row in found.report["residuals"])
    assert abs(found.held_out["mean_error_ratio"]) < 0.02
    for depth in (1, 2, 4, 8, 16):
        key = Key("read", False, 4096, depth)
        true, ours = (
            responses_by_simulation(drive, key, n_requests=6_000, seed=3).mean() for drive in (TRUTH, found.drive)
        )
        assert ours == pytest.approx(true, rel=0.1)


@pytest.mark.slow
def test_what_the_host_takes_is_reported_and_left_out_of_the_profile(found: Calibration) -> None:
    said = found.report["warnings"]
    assert "fio job 'depth64' used 100 % of a processor: its rate is the host's, not the drive's" in said
    assert any("14 to 19 us for a request" in line and 'submission = "15 us"' in line for line in said)


@pytest.mark.slow
def test_the_comparison_has_the_same_host(found: Calibration, results: Path) -> None:
    """The profile alone would read 200,000 a second at depth 64, where the host submits 52,600."""
    rows = validate(found.drive, results)["conditions"]
    assert len(rows) == len(HOST_NS)
    assert all(abs(row["mean_error_ratio"]) < 0.05 for row in rows)


def test_a_host_that_limits_nothing_is_part_of_the_responses() -> None:
    cells = cells_of_fio([replace(_job(depth, 14_000), cpu_ratio=0.5) for depth in (1, 2)])
    assert cells.host_ns(cells).tolist() == [0.0, 0.0]
