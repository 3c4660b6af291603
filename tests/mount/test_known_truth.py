"""The whole loop: a drive of known parameters is mounted, measured in real time, calibrated, and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.evidence.measurement import load
from calibrate.fit import calibrate
from calibrate.measure import measure
from diskmodel.drive import Hdd, load_drive
from tests.mount.mounting import mounted, undisturbed
from tests.mount.truth import errors
from tests.unit.cli.commands import write

# one at a time: they use the same processor
pytestmark = pytest.mark.real_time

_FRAME = """
kind = "hdd"
name = "{name}"
source = "made up"
capacity = "{capacity}"
rpm = {rpm}
heads = {heads}
write_settle = "{settle}"
outer = "{outer}"
inner = "{inner}"
read_overhead = "{overhead}"
write_overhead = "{overhead}"
interface = "{interface}"
seek = {{ track_to_track = "{near}", average = "{average}", full_stroke = "{far}" }}
cache = {cache}
queue = {queue}
"""
#: Different in speed, mechanics, cache and order of the queue.
DRIVES = {
    "10k": _FRAME.format(
        name="10k",
        capacity="9 GB",
        rpm=10025,
        heads=6,
        settle="487 us",
        outer="25 MB/s",
        inner="16 MB/s",
        overhead="300 us",
        interface="80 MB/s",
        near="0.8 ms",
        average="5 ms",
        far="10.5 ms",
        cache='{ size = "2 MiB", segments = 10, write_back = true }',
        queue='{ depth = 64, scheduler = "sptf" }',
    ),
    "7k2": _FRAME.format(
        name="7k2",
        capacity="40 GB",
        rpm=7200,
        heads=2,
        settle="800 us",
        outer="60 MB/s",
        inner="33 MB/s",
        overhead="150 us",
        interface="150 MB/s",
        near="1 ms",
        average="8.9 ms",
        far="18 ms",
        cache='{ size = "8 MiB", segments = 16, write_back = false }',
        queue='{ depth = 1, scheduler = "fcfs" }',
    ),
    "15k": _FRAME.format(
        name="15k",
        capacity="36 GB",
        rpm=15000,
        heads=4,
        settle="200 us",
        outer="90 MB/s",
        inner="60 MB/s",
        overhead="80 us",
        interface="320 MB/s",
        near="0.3 ms",
        average="3.6 ms",
        far="7.5 ms",
        cache='{ size = "8 MiB", segments = 8 }',
        queue='{ depth = 16, scheduler = "look" }',
    ),
}


#: What the tolerances below rest on; in less than a minute there is no time for more.
READ_ONLY = ("cache_hit", "rotation_period", "seek_profile", "random_reads", "zones", "track_boundaries")


#: A virtual drive that answers one of a hundred requests later than this is not the one that its profile describes. On
#: a quiet machine it is 20 µs; at 400 µs, beside another program, 50 to 140 µs may move from the seeks to the overhead.
MAX_LATE_P99_NS = 100_000


def _close_the_loop(name: str, folder: Path, seconds: float | None, *, is_written: bool) -> None:
    profile = write(folder / "truth.toml", DRIVES[name])
    with undisturbed(), mounted(profile, folder / "m", "--data", "zero") as mount:
        allowed = str(mount.file) if is_written else None
        options = {"mode": "quick", "seconds": seconds, "write": is_written, "allow_target": allowed}
        options["experiments"] = () if is_written else READ_ONLY
        measure(mount.file, folder / "measured.json", **options)  # type: ignore[arg-type]
        mount.end()
    found = calibrate(folder / "measured.json", out=folder / "fitted.toml")
    truth = load_drive(profile)
    assert isinstance(truth, Hdd)
    assert isinstance(found.drive, Hdd)
    off = errors(truth, found.drive)
    late = {key: value for key, value in mount.statistics.items() if key.startswith("late")}
    host_ns = _added_by_the_host_ns(folder / "measured.json", truth)
    print(f"{name}: {off}\nserver: {late}, host adds {host_ns / 1e3:.0f} µs to a hit")  # what a failure shows
    assert found.has_converged, found.message
    assert abs(off.rotation_ratio) < 0.0005
    zones = [abs(got / true - 1.0) for _, true, got in off.zone_rows]
    # three minutes settle every zone and every distance; less than a minute leaves some with hardly a read
    everywhere = 1.0 if is_written else 0.9
    assert np.quantile(zones, everywhere) < 0.02
    # as fast as the drive at most, and as slow as the drive and the host at most
    assert max(off.iops_ratio.values()) < 0.03
    hosted = truth.model_copy(update={"read_overhead_ns": truth.read_overhead_ns + round(host_ns)})
    assert min(errors(hosted, found.drive).iops_ratio.values()) > -0.03
    true, found_ns = np.array([row[1:] for row in off.seek_rows]).T
    allowed_ns = np.maximum(0.05 * true, 100_000.0)
    # until the head is ready: overhead and seek together, and between nothing and all that the host adds
    ready_ns = found_ns + off.overhead_ns - true
    wrong_ns = np.where(ready_ns > 0, np.maximum(ready_ns - host_ns, 0.0), -ready_ns)
    assert np.quantile(wrong_ns / allowed_ns, everywhere) < 1.0
    if mount.statistics["late_p99_ns"] <= MAX_LATE_P99_NS:
        assert abs(off.overhead_ns - host_ns) < 50_000
        assert np.quantile(np.abs(found_ns - true) / allowed_ns, everywhere) < 1.0
    if is_written:
        _cache_and_writes_are_right(truth, found)


def _added_by_the_host_ns(measured: Path, truth: Hdd) -> float:
    """What a read of the drive's cache takes beyond the drive's own time, at the median and at least 0, ns.

    Between the two programs are the kernel's file system and the scheduler: 20 µs on a quiet machine, 150 µs on a
    virtual one with busy neighbors.
    """
    hits = load(measured).experiment("cache_hit")
    assert hits is not None
    added = [
        run.samples.latency_ns[1:]
        - truth.read_overhead_ns
        - run.samples.length_bytes[1:] / truth.interface_bytes_per_s * 1e9
        for run in hits.runs
    ]
    return max(float(np.median(np.concatenate(added))), 0.0)


def _cache_and_writes_are_right(truth: Hdd, found: Calibration) -> None:
    assert truth.cache is not None
    assert isinstance(found.drive, Hdd)
    assert found.drive.cache is not None
    assert found.drive.heads == truth.heads
    assert found.drive.cache.write_back == truth.cache.write_back
    # the experiment tries so many streams: 1, 2, 3, 4, 6, 8, 12, 16 ...
    assert found.drive.cache.segments == pytest.approx(truth.cache.segments, rel=0.25)
    assert found.parameters["write_settle"].value == pytest.approx(truth.tables().write_settle_ns, abs=100_000)


@pytest.mark.slow
def test_one_drive_in_less_than_a_minute(tmp_path: Path) -> None:
    try:
        _close_the_loop("10k", tmp_path, 45.0, is_written=False)
    except AssertionError as off:
        # whatever else runs on the host can slow a virtual machine for that time, by 0.1 ms a request; a fault in
        # measuring or fitting is there the second time, too
        print(f"once more, because of: {off}")
        (tmp_path / "again").mkdir()
        _close_the_loop("10k", tmp_path / "again", 45.0, is_written=False)


@pytest.mark.long
@pytest.mark.parametrize("name", DRIVES)
def test_three_drives_in_three_minutes_each(name: str, tmp_path: Path) -> None:
    _close_the_loop(name, tmp_path, 180.0, is_written=True)
