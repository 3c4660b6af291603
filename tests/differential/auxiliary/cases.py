"""Logs, journals, special vdevs and caches on drives of any kind (rules X16, X26, X27, Y13), drawn from a seed."""

from __future__ import annotations

import random
from typing import Any

from diskmodel.drive import load_drive
from tests.differential.cases import Case
from tests.differential.test_cache_devices import cache_device_case

_CACHE = {"size_bytes": 1 << 20, "segments": 1, "read_ahead_bytes": 0, "write_back": True}
#: A disk on which the log comes round after 16 MiB, with a cache that has to be flushed.
SMALL_DISK: dict[str, Any] = {
    "name": "small",
    "kind": "hdd",
    "bus": "SATA",
    "source": "made for tests",
    "capacity_bytes": 40 << 20,
    "rpm": 7200,
    "heads": 2,
    "outer_bytes_per_s": 100e6,
    "inner_bytes_per_s": 60e6,
    "seek": {"kind": "times", "track_to_track_ns": 1_000_000, "average_ns": 8_000_000, "full_stroke_ns": 16_000_000},
    "read_overhead_ns": 100_000,
    "write_overhead_ns": 100_000,
    "cache": _CACHE,
    "queue": {"depth": 32, "scheduler": "sptf"},
}
#: Drives of every kind that they may be on: with volatile caches, with flushes that cost something, and without both.
DRIVES = (
    "generic-15k",
    "generic-7k2",
    "seagate-exos-2x18",
    "micron-7450-pro-1920",
    "intel-d3-s4510-960",
    "samsung-980-pro-1tb",
    "generic-sata-ssd",
    "aws-gp3",
    {"drive": SMALL_DISK},
)


def log_case(seed: int) -> Case:
    """A pool that is written to safely, with processors or without, whose disks may have caches to be flushed, too."""
    rng = random.Random(f"log {seed}")
    pick = rng.choice
    layout: dict[str, Any] = {
        "level": pick(("mirror", "raidz1")),
        "disks": 3,
        "record_bytes": pick((8192, 131072)),
        "member_bytes": 1 << 30,
        "dirty_data_max_bytes": 16 << 20,
        "log": DRIVES[seed % len(DRIVES)],
    }
    array: dict[str, Any] = {"drive": "md-raid-10k", "layout": layout}
    if pick((False, True)):
        array |= {"drive": load_drive("md-raid-10k").to_dict() | {"cache": _CACHE}, "drive_write_cache": True}
    if pick((False, True)):
        array["host"] = {"submission_ns": 10_000, "processors": pick((1, 3))}
    stream: dict[str, Any] = {"span_bytes": 64 << 20, "clients": pick((1, 8, 24))}
    if pick((False, False, True)):
        stream |= {"kind": "commits", "record_bytes": 500, "sync": "fdatasync"}
    else:
        stream |= {"size_bytes": pick((8192, 131072)), "alignment_bytes": 4096, "read_ratio": pick((0.0, 0.3))}
        stream["sync"] = pick(("dsync", "fdatasync"))
    return {"array": array, "workload": {"streams": [stream]}, "n": 160, "seed": seed}


def special_case(seed: int) -> Case:
    """The same with a special vdev on drives, beside a log that is on a drive, too, or on the disks."""
    case = log_case(seed)
    layout = case["array"]["layout"]
    drive = DRIVES[seed * 5 % len(DRIVES)]
    layout["special"] = {"drive": drive, "devices": 2 + seed % 3} if isinstance(drive, str) else drive
    if seed % 2:
        del layout["log"]
    return case


def journal_case(seed: int) -> Case:
    """An array of Linux md whose journal is on a drive, and so small that its room runs out."""
    rng = random.Random(f"journal {seed}")
    pick = rng.choice
    drive = DRIVES[seed % len(DRIVES)]
    log = {"drive": drive} if isinstance(drive, str) else drive
    layout: dict[str, Any] = {
        "level": pick(("raid5", "raid6", "raid4")),
        "disks": pick((4, 5)),
        "strip_bytes": pick((16384, 65536)),
        "stripe_cache_pages": pick((None, 256)),
        "log": log | {"size_bytes": pick((4 << 20, 8 << 20))},
    }
    array: dict[str, Any] = {"drive": pick(("md-raid-10k", "generic-15k", "generic-sata-ssd")), "layout": layout}
    if pick((False, True)):
        layout["failed"] = [1]
    if pick((False, True)):
        array["queue"] = {"write_throttle": "linux"}
    if pick((False, True)):
        array["host"] = {"submission_ns": 10_000}
    stream: dict[str, Any] = {"clients": pick((1, 8, 24)), "size_bytes": pick((4096, 16384, 131072))}
    stream |= {"alignment_bytes": 4096, "read_ratio": pick((0.0, 0.3)), "span_bytes": 64 << 20}
    stream |= pick(({}, {"sync": "fdatasync"}, {"sync": "dsync"}))
    return {"array": array, "workload": {"streams": [stream]}, "n": 120, "seed": seed}


def cache_case(seed: int) -> Case:
    """A pool behind a small ARC with cache devices that are drives, which are fed and read from."""
    case = cache_device_case(seed)
    layout, drive = case["array"]["layout"], DRIVES[seed % len(DRIVES)]
    size = {"size_bytes": layout["cache"]["size_bytes"], "count": layout["cache"]["count"]}
    layout["cache"] = ({"drive": drive} if isinstance(drive, str) else drive) | size
    case["n"] = 200
    return case
