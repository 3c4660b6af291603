"""Pools that draw all of their features beside each other: the cases of single rules keep some of them apart."""

from __future__ import annotations

import random
from typing import Any

from diskmodel.drive import load_drive
from diskmodel.layout.levels import POOLS
from tests.differential.cases import Case

#: Kinds of vdevs whose records are spread over all of their disks; dRAID has cases of its own (`test_draid.py`).
KINDS = tuple(level for level, kind in POOLS.items() if not kind.is_distributed)
_MIB = 1 << 20


def pair_case(seed: int) -> Case:
    """Return a small pool with any features together, drawn from a seed."""
    rng = random.Random(f"pairs {seed}")
    pick = rng.choice
    level = pick(KINDS)
    parity = POOLS[level].n_parity or 0
    width = pick((2, 3)) if level == "mirror" else parity + pick((1, 2, 4))
    vdevs = pick((1, 1, 2))
    layout: dict[str, Any] = {
        "level": level,
        "disks": width * vdevs,
        "vdevs": vdevs,
        "record_bytes": pick((4096, 8192, 131072, 1 << 20)),
        "ashift": pick((12, 12, 9)),
        "member_bytes": 1 << 30,
        "dirty_data_max_bytes": pick((16 * _MIB, 64 * _MIB)),
    }
    array: dict[str, Any] = {
        "drive": pick(("md-raid-10k", "generic-sas-ssd", "micron-7450-pro-1920")),
        "layout": layout,
    }
    _lost_and_scanned(rng, layout, width, parity)
    if pick((False, True)):
        layout["record_work_ns"] = pick((30_000, 300_000))
    layout |= pick(({}, {"log": {"write_ns": 50_000, "bytes_per_s": 100e6}}))
    layout |= pick(({}, {"special": {"write_ns": 2_000_000, "bytes_per_s": 5e6}}))
    layout |= pick(({}, {}, {"sync": "disabled"}))
    if pick((False, True)):
        array["host"] = {"submission_ns": pick((10_000, 80_000)), "processors": pick((1, 3))}
    if pick((False, True)):
        array["controller"] = {"read_cache": {"size_bytes": layout["record_bytes"] * pick((3, 40))}}
        if pick((False, True)):
            layout["cache"] = _cache_device(rng, layout["record_bytes"])
    if array["drive"] == "md-raid-10k" and pick((False, True)):
        cache = {"size_bytes": _MIB, "segments": 1, "read_ahead_bytes": 0, "write_back": True}
        array |= {"drive": load_drive("md-raid-10k").to_dict() | {"cache": cache}, "drive_write_cache": True}
        array["drive_fua"] = pick((False, True))
    return {
        "array": array,
        "workload": {"streams": _streams(rng)},
        "n": 200,
        "seed": seed,
        "start": pick((0, 0, 1)),
    }


def _lost_and_scanned(rng: random.Random, layout: dict[str, Any], width: int, parity: int) -> None:
    """Take disks out of the pool, and let some of these be resilvered, or let a whole pool be scrubbed."""
    if rng.choice((False, True)):
        layout["failed"] = sorted(rng.sample(range(width), min(width - 1, rng.choice((1, parity or 1)))))
    if rng.choice((False, False, True)):
        rebuild: dict[str, Any] = {"used_ratio": 0.004}
        if "failed" in layout:
            layout["spares"] = 1
            rebuild["disk"] = rng.choice(layout["failed"])
        else:
            rebuild["action"] = "check"
        layout["rebuild"] = rebuild


def _cache_device(rng: random.Random, record_bytes: int) -> dict[str, Any]:
    return {
        "size_bytes": record_bytes * rng.choice((8, 60)),
        "count": rng.choice((1, 3)),
        "page_bytes": 4096,
        "dies": 4,
        "read_ns": 60_000,
        "command_ns": 2_000,
        "latency_ns": 12_000,
        "bytes_per_s": 1e9,
    }


def _streams(rng: random.Random) -> list[dict[str, Any]]:
    """Draw requests or commits, and in some cases flushes of nothing of their own beside them."""
    pick = rng.choice
    first: dict[str, Any] = {"span_bytes": pick((8 * _MIB, 64 * _MIB))}
    first |= pick(({"clients": 1}, {"clients": 16}, {"rate_per_s": 400.0}, {"rate_per_s": 2000.0}))
    is_of_commits = pick((False,) * 4 + (True,))
    sync = pick(({}, {"sync": "dsync"}, {"sync": "fdatasync"}))
    if is_of_commits:
        first |= {"kind": "commits", "record_bytes": 500, "sync": sync.get("sync", "fdatasync")}
    else:
        first |= {
            "size_bytes": pick((4096, 65536, 131072)),
            "alignment_bytes": 4096,
            "read_ratio": pick((0.5, 0.0, 1.0)),
        }
        first |= sync if first["read_ratio"] < 1 else {}
        if pick((False, False, True)):
            first["addresses"] = {"pattern": "sequential", "n_readers": pick((1, 3))}
    beside = pick(({}, {"rate_per_s": 200.0}, {"clients": 2}))
    return [first, {"kind": "flushes", **beside}] if beside else [first]
