"""What programs see on a mounted drive is what `simulate` says: rates at several queue depths, within two per cent and
the sampling error of the measurement."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from calibrate.closed_loop import mean_response, scenario_of
from calibrate.measure import find_program
from diskmodel.drive import Hdd, load_drive
from tests.mount.mounting import Mount, mounted, undisturbed
from tests.unit.cli.commands import write

# one at a time: they use the same processor
pytestmark = [pytest.mark.slow, pytest.mark.real_time]

DEPTHS = (1, 8, 32)
SECONDS = 5
PAGE = 4096
#: Of single responses, relative to their mean; the rate over n requests is known to this over the root of n.
_SPREAD = 0.35
#: A machine that is busy with something else delays answers: measured again, at most so often.
_ATTEMPTS = 4
DRIVE = """
kind = "hdd"
name = "fast and small"
source = "made up"
capacity = "4 GB"
rpm = 15000
heads = 4
outer = "90 MB/s"
inner = "60 MB/s"
read_overhead = "80 us"
write_overhead = "80 us"
interface = "320 MB/s"
[seek]
track_to_track = "0.3 ms"
average = "3.6 ms"
full_stroke = "7.5 ms"
[queue]
depth = 32
scheduler = "sptf"
"""


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("drive") / "small.toml", DRIVE)


@pytest.fixture(scope="module")
def mount(drive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    with undisturbed(), mounted(drive, tmp_path_factory.mktemp("m"), "--data", "zero") as found:
        yield found


def _by_the_bench(file: Path, depth: int, seed: int, seconds: int = SECONDS) -> tuple[float, int]:
    command = [
        str(find_program()),
        "raw",
        str(file),
        "--out",
        "-",
        "--no-samples",
        "--progress",
        "none",
        "--depth",
        str(depth),
        "--seconds",
        str(seconds),
        "--seed",
        str(seed),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)["experiments"][0]["runs"][0]
    return float(run["summary"]["iops"]), int(run["count"])


def _by_fio(file: Path, depth: int, seed: int) -> tuple[float, int]:
    fio = shutil.which("fio")
    if fio is None:
        pytest.skip("fio is not installed")
    command = [
        fio,
        "--name=random",
        f"--filename={file}",
        "--direct=1",
        "--ioengine=libaio",
        "--rw=randread",
        "--bs=4k",
        f"--iodepth={depth}",
        "--time_based",
        f"--runtime={SECONDS}",
        f"--randseed={seed}",
        "--output-format=json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    read = json.loads(done.stdout)["jobs"][0]["read"]
    # those that complete after the end, while the queue runs empty, are counted by fio but not by us
    return float(read["total_ios"] - depth) / SECONDS, int(read["total_ios"])


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("program", [_by_the_bench, _by_fio])
def test_rates_are_the_models(
    mount: Mount, drive: Path, program: Callable[[Path, int, int], tuple[float, int]], depth: int
) -> None:
    truth = load_drive(drive)
    assert isinstance(truth, Hdd)
    span = truth.capacity_bytes // PAGE * PAGE
    response = mean_response(scenario_of(truth), length=PAGE, queue_depth=depth, n=40_000, seed=1, span_bytes=span)
    expected = depth * 1e9 / response
    deviations = []
    for attempt in range(_ATTEMPTS):
        rate, n = program(mount.file, depth, 7 + attempt)
        allowed = 0.02 + 2.0 * _SPREAD / math.sqrt(n)
        deviations.append(
            f"{rate:.1f} instead of {expected:.1f} a second ({rate / expected - 1:+.1%} of ±{allowed:.1%})"
        )
        if abs(rate / expected - 1.0) < allowed:
            break
    else:
        pytest.fail("; ".join(deviations))


def test_answers_leave_on_time(drive: Path, tmp_path: Path) -> None:
    """Half of the answers within 50 µs of the model's time: else the server waits wrongly, not only a busy machine."""
    with mounted(drive, tmp_path / "m", "--data", "zero") as found:
        _by_the_bench(found.file, 1, 3, seconds=2)
        found.end()
    assert found.statistics["n_reads"] > 300
    assert found.statistics["most_outstanding"] == 1
    assert 0 < found.statistics["late_p50_ns"] < 50_000


def test_the_queue_of_the_kernel_does_not_cap_the_depth(drive: Path, tmp_path: Path) -> None:
    """Two hundred requests are in the drive at once, not the twelve that FUSE usually lets through."""
    with mounted(drive, tmp_path / "m", "--data", "zero", "--time-scale", "0.2") as found:
        _by_the_bench(found.file, 200, 3, seconds=1)
        found.end()
    assert found.statistics["most_outstanding"] == 200
