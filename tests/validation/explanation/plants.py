"""The causes that are planted, of several strengths and in several arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.validation.explanation.planted import Plant

_MIB = 1 << 20
_GIB = 1 << 30

#: Cause → subjects → strengths.
PLANTED: dict[str, dict[str, tuple[Any, ...]]] = {
    "drive-write-cache-off": {"disk": (None,)},
    "drive-write-cache-on": {"raid6": (None,)},
    "ncq-off": {"disk": (None,), "raid6": (None,)},
    "look-ahead-off": {"disk": (True,)},
    "emulated-sectors": {"disk": (None,), "raid6": (None,)},
    "shingled": {"disk": (None,)},
    "vibration": {"disk": (0.3, 0.7), "raid10": (0.7,)},
    "thermal-throttling": {"nvme": (3.0, 8.0), "ssd": (3.0,)},
    "flash-fresh": {"ssd": (None,), "nvme": (None,)},
    "flash-full": {"ssd": (0.1,)},
    "other-medium": {"ssd": ("generic-7k2",), "raid6": ("samsung-pm893-960",)},
    "slow-sata-link": {"ssd": (150e6, 300e6)},
    "member-failed": {"raid6": (1, 2), "raid10": (1,), "cached": (1,)},
    "rebuild-running": {"raid6": (30.0, 100.0), "raid10": (100.0,)},
    "resync-running": {"raid6": (30.0, 100.0), "raid10": (100.0,), "cached": (100.0,)},
    "write-intent-bitmap": {"raid6": ({"chunk_bytes": 64 * _MIB},), "raid10": ({"chunk_bytes": 4 * _MIB},)},
    "one-slow-disk": {"raid6": ((4.0, 0), (11.0, 0)), "raid10": ((4.0, 0),)},
    "one-disk-retries": {"raid6": ((0.1, 40, 0), (0.3, 12, 0)), "raid10": ((0.1, 40, 0),)},
    "one-disk-works": {"raid10": (None,), "nvme": (None,)},
    "other-strip": {"raid6": (16 << 10, 1024 << 10)},
    "controller-write-through": {"cached": (None,)},
    "rate-limit": {"disk": (40,), "raid6": (50, 100), "ssd": (1_000, 5_000), "nvme": (3_000, 16_000)},
    "bandwidth-limit": {"raid6": (60e6,), "ssd": (60e6,), "nvme": (250e6,)},
    "slow-network": {"raid6": (117e6,), "nvme": (117e6,)},
    "added-latency": {"ssd": (0.5e6,), "nvme": (0.3e6, 2e6), "raid6": (20e6,)},
    "few-at-once": {"raid6": (1, 4), "cached": (2,), "nvme": (1, 4)},
    "host-processor": {"ssd": (100e3,), "nvme": (50e3, 200e3)},
    "md-lock": {"md5": (50e3, 200e3)},
    "cache-hits": {"disk": ((0.6, 30_000), (0.9, 5_000)), "raid6": ((0.9, 30_000),), "ssd": ((0.9, 3_000),)},
    "flushes": {"ssd": ((1, None),), "disk": ((1, None), (0, None))},
    "journal-commits": {"ssd": (("ext4", "fsync", None),)},
    "depth-lost": {"raid6": (1, 4), "nvme": (1, 4), "ssd": (1,)},
    "other-load": {"disk": ({"times": 1.0},), "raid6": ({"times": 1.0}, {"times": 4.0}), "nvme": ({"times": 4.0},)},
    "larger-records": {"raid10": (128 << 10,), "ssd": (128 << 10,), "nvme": (1024 << 10,)},
    "runs": {"disk": (32.0,), "raid10": (4.0,)},
    "few-blocks": {"raid10": (10 * _GIB,), "disk": (1 * _GIB,)},
    "fragmented": {"raid6": (4.0,), "disk": (1.0,)},
    "several-readers": {"disk": (4,)},
    "inner-tracks": {"disk": (None,), "raid6": (None,)},
    "misaligned": {"ssd": (False,)},
    "pool-record": {"pool8": (128 << 10, 1 << 20)},
    "raidz-width": {"pool8": (None,), "mirrors": ("raidz2",)},
}

#: The same of what only caches, clusters and volumes of clouds may have.
OF_SYSTEMS: dict[str, dict[str, tuple[Any, ...]]] = {
    "credits-spent": {"gp2-full": (None,)},
    "credits-left": {"gp2": (None,)},
    "volume-limit": {"gp3": (None,)},
    "smaller-volume": {"gp3": (0.25,), "gp2": (0.5,)},
    "instance-limit": {"gp3": ("aws-t3.medium",)},
    "cache-cold": {"bcache": (0.0,)},
    "cache-lost": {"bcache": (None,)},
    "cache-write-through": {"bcache": (None,)},
    "cache-dirty": {"bcache": (None,)},
    "cache-room-left": {"bcache": (None,)},
    "cache-crowded": {"bcache": (0.2,)},
    "node-failed": {"ceph": (None,), "ceph-disks": (None,)},
    "node-recovering": {"ceph": (None,), "ceph-disks": (None,)},
    "slow-log-drive": {"ceph-disks": ((64.0, 0.0), (1.0, 3e6))},
    "commits-unprotected": {"ceph": (3e6,)},
    "rocksdb-unoptimized": {"ceph": (None,)},
    "one-slow-osd": {"ceph": (12.0, 40.0), "ceph-disks": (4.0,)},
}

#: Two causes at once.
PAIRED: tuple[Plant, ...] = (
    Plant("raid6", (("member-failed", 1), ("cache-hits", (0.8, 30_000)))),
    Plant("raid6", (("few-at-once", 2), ("inner-tracks", None))),
    Plant("raid6", (("ncq-off", None), ("slow-network", 117e6))),
    Plant("raid6", (("one-slow-disk", (10.0, 0)), ("slow-network", 117e6))),
    Plant("disk", (("ncq-off", None), ("inner-tracks", None))),
    Plant("disk", (("cache-hits", (0.8, 30_000)), ("fragmented", 4.0))),
    Plant("disk", (("few-blocks", _GIB), ("look-ahead-off", False))),
    Plant("raid10", (("resync-running", 100.0), ("few-at-once", 4))),
    Plant("cached", (("controller-write-through", None), ("slow-network", 117e6))),
    Plant("cached", (("member-failed", 1), ("controller-write-through", None))),
    Plant("ssd", (("slow-sata-link", 150e6), ("flushes", (1, None)))),
    Plant("ssd", (("added-latency", 1e6), ("slow-sata-link", 150e6))),
    Plant("nvme", (("few-at-once", 2), ("bandwidth-limit", 500e6))),
    Plant("nvme", (("host-processor", 100e3), ("slow-network", 117e6))),
    Plant("nvme", (("added-latency", 1e6), ("bandwidth-limit", 250e6))),
    Plant("md5", (("md-lock", 100e3), ("added-latency", 1e6))),
    Plant("raid6", (("depth-lost", 4), ("bandwidth-limit", 60e6))),
    Plant("disk", (("vibration", 0.7), ("drive-write-cache-off", None))),
    Plant("disk", (("other-load", {"times": 1.0}), ("cache-hits", (0.6, 30_000)))),
    Plant("ssd", (("thermal-throttling", 3.0), ("rate-limit", 1_000))),
    Plant("ssd", (("larger-records", 128 << 10), ("added-latency", 0.5e6))),
    Plant("nvme", (("thermal-throttling", 8.0), ("few-at-once", 1))),
)


def plants(planted: dict[str, dict[str, tuple[Any, ...]]] = PLANTED) -> Iterator[Plant]:
    """Yield every planted cause, alone."""
    for name, subjects in planted.items():
        for subject, values in subjects.items():
            for value in values:
                yield Plant(subject, ((name, value),))
