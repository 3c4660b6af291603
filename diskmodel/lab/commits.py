"""What a commit costs: one log on the places where a log may lie, simulated side by side."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import Field

from diskmodel.array import Array
from diskmodel.controller import DESTAGES
from diskmodel.description import Description
from diskmodel.engine import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.curves import in_ms, number
from diskmodel.lab.drives import drive_of
from diskmodel.plan import calculator_disk_iops
from diskmodel.result import Result
from diskmodel.units import Ratio
from diskmodel.workload import LOG_BLOCK_BYTES, Workload, log_of_commits

#: A drive of flash whose cache survives a power cut, for a log on a device of its own.
LOG_DEVICE = "samsung-pm9a3-7680"
#: Write cache of the controller, bytes: that of common controllers. At half or double nothing changes, because the disk
#: behind it writes a log faster than the clients of this page fill it.
CACHE_BYTES = 1 << 30
#: Size of the reads beside the log, bytes: the page of a database.
READ_BYTES = 8192
#: Records that are simulated at each place. At half the intervals are wider by 40 %; at double a slider lags.
N_COMMITS = 4000
#: Records and reads that are simulated at most where there are both. At double a slider lags.
MAX_COMMITS, MAX_READS = 60_000, 20_000
#: Reads that are simulated at least. Where fewer come among so many records, the log does not wait for the disk, and
#: they change nothing. At a third some hundred records wait for a handful of reads; at three times a slider lags.
MIN_READS = 30

#: Where a log may lie, in the order of the page: name, title, meaning.
PLACES = (
    ("off", "Disk, write cache off", "each write waits until it is on the platter"),
    ("on", "Disk, write cache on", "the write is fast, and the flush after it waits for the platter"),
    ("mirror", "Mirror of two, caches on", "the flush waits for the slower of two platters"),
    ("protected", "Behind a protected cache", "1 GiB of a controller that a battery keeps: a write in it is safe"),
    ("device", "On flash of its own", "capacitors make its cache safe, and the reads stay on the disk"),
)


class CommitSettings(Description):
    """The controls of the page.

    Attributes
    ----------
    drive : str
        A hard disk that holds the log.
    clients : int
        Clients that commit, and wait until their record is safe.
    work_ms : float
        Mean time that a client works before its next commit; exponential.
    load_ratio : float in [0, 0.9]
        Random reads on the same disk, as a share of the rate that the rule of thumb gives one disk.
    seed : int
    """

    drive: str = Field(default="seagate-exos-x20", max_length=80)
    clients: int = Field(default=8, ge=1, le=128)
    work_ms: float = Field(default=1.0, ge=1, le=1000)
    load_ratio: Ratio = Field(default=0.0, le=0.9)
    seed: int = Field(default=1, ge=0, le=2**32)


def commit_offers() -> dict[str, Any]:
    """Return the choices of the page, and what its simulation needs to know, as plain data."""
    return {
        "defaults": CommitSettings().to_dict(),
        "places": [{"value": value, "text": text, "meaning": meaning} for value, text, meaning in PLACES],
        "clients": [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128],
        "work_ms": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
        "load_ratio": [round(0.1 * step, 1) for step in range(10)],
        "log_device": LOG_DEVICE,
        "read_bytes": READ_BYTES,
        "n_commits": N_COMMITS,
        "max_commits": MAX_COMMITS,
        "min_reads": MIN_READS,
        "max_reads": MAX_READS,
        "block_bytes": LOG_BLOCK_BYTES,
        "cache": _protected_cache(),
        "destages": DESTAGES,
    } | {key: log_of_commits()[key] for key in ("record_bytes", "span_bytes")}


def _protected_cache() -> dict[str, Any]:
    """Return the tables of the protected cache, whose division of the disk the page makes itself."""
    scenario = resolve(place_of("protected", CommitSettings().drive), 0)
    assert scenario.caches is not None
    return asdict(scenario.caches)


def place_of(place: str, drive: str) -> Array:
    """Return the array that a log lies on.

    Parameters
    ----------
    place : str
        A name of `PLACES`.
    drive : str
        The hard disk.

    Raises
    ------
    DescriptionError
        When the drive is not a hard disk.
    """
    found = drive_of(LOG_DEVICE if place == "device" else drive)
    if place != "device" and not found.has_arms:
        raise DescriptionError(
            Fault("drive", drive, "is not a hard disk", "choose one; a log on flash is in every row")
        )
    layout = {"level": "raid1", "disks": 2} if place == "mirror" else {"level": "jbod", "disks": 1}
    controller = {"write_cache": {"size_bytes": CACHE_BYTES}} if place == "protected" else {}
    is_cached = place in ("on", "mirror")
    return Array.parse({"drive": found, "layout": layout, "controller": controller, "drive_write_cache": is_cached})


def answer_at(settings: CommitSettings, place: str) -> dict[str, Any]:
    """Return commits at one place: `commits_per_s`, and `mean_ms` and `p99_ms` with their intervals; None: unknown.

    `is_stable` is False where the reads beside the log are more than the disk can serve.
    """
    array = place_of(place, settings.drive)
    log = log_of_commits(clients=settings.clients, think=f"{settings.work_ms} ms", think_distribution="exponential")
    found = _simulated(settings, array, [log], N_COMMITS)
    reads_per_s = 0.0 if place == "device" else settings.load_ratio * calculator_disk_iops(array.drive)
    # as many of both as come in the same time while the reads do not slow the commits down
    wanted = max(N_COMMITS / found.commits_per_s, MIN_READS / reads_per_s if reads_per_s else 0.0)
    seconds = min(wanted, MAX_COMMITS / found.commits_per_s, MAX_READS / reads_per_s if reads_per_s else wanted)
    rows = {"log": round(seconds * found.commits_per_s), "reads": round(seconds * reads_per_s)}
    if rows["reads"] >= MIN_READS:
        reads = {"name": "reads", "size_bytes": READ_BYTES, "read_ratio": 1.0, "rate_per_s": reads_per_s}
        streams = [log | {"weight": rows["log"]}, reads | {"weight": rows["reads"]}]
        found = _simulated(settings, array, streams, sum(rows.values()))
    (low, high), mean = found.commits.run_ends_ns["p99"], found.commits.run_mean_ns
    return {
        "place": place,
        "is_stable": found.is_stable,
        "commits_per_s": number(found.commits_per_s),
        "mean_ms": [in_ms(mean.mean), in_ms(mean.low), in_ms(mean.high)],
        "p99_ms": [in_ms(found.commits.quantiles_ns["p99"]), in_ms(low), in_ms(high)],
    }


def _simulated(settings: CommitSettings, array: Array, streams: list[dict[str, Any]], n: int) -> Result:
    return simulate(array, Workload.parse({"streams": streams}), seed=settings.seed, n_requests=n, profile_draws=0)
