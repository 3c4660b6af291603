"""Random small drives of every kind, as `cases.py` puts them into arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from diskmodel.drive.zones import Zone
from diskmodel.queue.registry import drive_schedulers

Pick = Callable[[Sequence[Any]], Any]

SECTOR = 512


def in_order(first: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """`names`, in the order in which the fixed cases draw them; those that were registered later come last."""
    left = list(names)
    return (*(name for name in first if name in left), *(name for name in left if name not in first))


DRIVE_SCHEDULERS = in_order(
    ("fcfs", "sptf", "sstf", "look", "c-look", "scan", "c-scan", "f-scan", "sptf-aged"), drive_schedulers()
)


def media_cache(pick: Pick, drive: dict[str, Any]) -> None:
    """Give a hard disk a media cache so small that it is filled, cleaned and gone round in a case."""
    arm_sectors = drive["capacity_bytes"] // SECTOR // drive["actuators"]
    band = pick((64, None, 120, 333))
    band = band and min(band, arm_sectors // 3)
    log = min(pick((300, 60, 1000)), arm_sectors // 2)
    run = min(pick((band or 50, 24, 50)), log)
    cache = {
        "size_bytes": log * SECTOR * drive["actuators"],
        "band_bytes": band and band * SECTOR,
        "max_extents": pick((12, 4, 300)),
        "idle_ns": pick((3_000_000, 0, 40_000_000)),
        "run_bytes": run * SECTOR,
        "place_ratio": pick((0, 0.1)),
    }
    drive["media_cache"] = cache
    drive["recording"] = "shingled" if band else "conventional"


def draw_drive(pick: Pick) -> dict[str, Any]:
    return _hdd(pick) if pick(("hdd", "hdd", "solid")) == "hdd" else _flash_or_virtual(pick)


def draw_cloud(pick: Pick) -> dict[str, Any]:
    """A volume whose limits, bursts and counting all matter."""
    burst = pick((None, 40_000))
    return {
        "kind": "cloud",
        "name": "small",
        "sector_bytes": SECTOR,
        "capacity_bytes": pick((4000, 9001, 30_000)) * SECTOR,
        "iops": pick((None if burst is None else 900, 900, 20_000)),
        "burst_iops": burst,
        "credits": 0 if burst is None else pick((0, 40)),
        "throughput_bytes_per_s": pick((None, 20e6, 900e6)),
        "op_bytes": pick((8, 3)) * SECTOR,
        "least_bytes": pick((0, 16 * SECTOR)),
        "merges": pick((True, False)),
        "bucket_ns": pick((0, 1_000_000)),
        "read_p50_ns": pick((400_000, 1_000)),
        "read_p95_ns": 700_000,
        "write_p50_ns": pick((None, 2_000_000)),
        "state": pick(("spent", "full")),
        "is_drained": pick((False, True)),
        "queue_depth": pick((32, 1, 4)),
    }


def _virtual(pick: Pick) -> dict[str, Any]:
    found = {
        "kind": "virtual",
        "name": "small",
        "sector_bytes": SECTOR,
        "capacity_bytes": pick((4000, 9001, 30_000)) * SECTOR,
        # at 1 ns a command, and without wake-up times, many commands end at one instant
        "read_overhead_ns": pick((3_000, 1, 60_000)),
        "write_overhead_ns": pick((7_000, 1)),
        "read_copy_bytes_per_s": pick((1e9, 70e6, None)),
        "write_copy_bytes_per_s": pick((None, 300e6)),
        "read_latency_ns": pick((0, 20_000)),
        "write_latency_ns": pick((0, 9_000)),
        "wake_ns": pick(((), (30_000,), (10_000, 20_000, 70_000))),
        "completion": pick(("each", "batch", "batch")),
        "queue_depth": pick((32, 1, 4)),
    }
    if pick((True, False)):
        return found
    volume = draw_cloud(pick)
    return volume | ({"write_p95_ns": 3_000_000} if volume["write_p50_ns"] else {})


def _flash_or_virtual(pick: Pick) -> dict[str, Any]:
    sectors_per_unit, units_per_page = pick((8, 1, 3)), pick((4, 1, 3))
    unit = sectors_per_unit * SECTOR
    is_folded = pick((False, False, True))
    # here, so that older cases of flash drives keep what they drew
    if pick((False, False, True)):
        return _virtual(pick)
    n_units = pick((4000, 9001)) if is_folded else pick((300, 777, 2000))
    return {
        "kind": "flash",
        "name": "small",
        "sector_bytes": SECTOR,
        "capacity_bytes": n_units * unit - pick((0, SECTOR)) * (sectors_per_unit > 1),
        "channels": pick((1, 2, 3)),
        "dies_per_channel": pick((1, 2)),
        "mapping_bytes": unit,
        "page_bytes": units_per_page * unit,
        # more than 512 blocks or 256 units in a block: garbage collection is followed on a smaller drive
        "pages_per_block": pick((2, 3) if is_folded else (16, 7, 40)),
        "read_ns": pick((50_000, 25_000)),
        "program_ns": pick((500_000, 200_000)),
        "erase_ns": pick((2_000_000, 700_000)),
        # at 1e15 bytes a second a transfer takes 0 ns
        "channel_bytes_per_s": pick((400e6, 40e6, 1e15)),
        "interface_bytes_per_s": pick((800e6, 30e6, 1e15)),
        "read_overhead_ns": pick((0, 3_000)),
        "write_overhead_ns": pick((0, 7_000)),
        "read_latency_ns": pick((0, 20_000)),
        "write_latency_ns": pick((0, 9_000)),
        "write_buffer_bytes": pick((16, 0, 5, 64)) * unit,
        "over_provisioning_ratio": pick((0.07, 0.28)),
        "gc_policy": pick(("greedy", "cost-benefit")),
        "state": pick(("steady", "fresh")),
        "queue_depth": pick((32, 1, 4)),
    }


def _hdd(pick: Pick) -> dict[str, Any]:
    heads, actuators = pick((2, 4)), pick((1, 1, 1, 2))
    zones = []
    for _ in range(pick((1, 2, 3))):
        tracks = pick((24, 63, 100))
        zones.append(
            {
                "cylinders": pick((20, 37, 60)),
                "sectors_per_track": tracks,
                "track_skew": pick((0, 3, 17)),
                "start_skew": pick((0, 0, 11, 90)),
                "cylinder_skew": pick((0, 5, 23)),
                "spare_sectors_per_cylinder": pick((0, 0, 4, tracks + 2)),
            }
        )
    for zone in zones:
        # no draw of its own: other choices would all be others, and what catches each mutant
        zone["spare_sectors_per_track"] = 2 if zone["start_skew"] == 90 else 0
    arm_heads = heads // actuators
    if arm_heads == 1:
        for zone in zones:
            zone["spare_sectors_per_cylinder"] = min(zone["spare_sectors_per_cylinder"], 4)
    blocks = [z["cylinders"] * Zone.parse(z).sectors_per_cylinder(arm_heads) for z in zones]
    missing = pick((0, 0, 7))
    drive: dict[str, Any] = {
        "kind": "hdd",
        "name": "small",
        "capacity_bytes": (sum(blocks) - missing) * actuators * SECTOR,
        "sector_bytes": SECTOR,
        "rpm": pick((15000, 7200, 5400)),
        "heads": heads,
        "actuators": actuators,
        "zones": zones,
        "seek": pick(
            (
                {"track_to_track": "0.3 ms", "average": "2 ms", "full_stroke": "4 ms"},
                {"track_to_track": "0.9 ms", "average": "1 ms", "full_stroke": "1.1 ms"},
            )
        ),
        "head_switch_ns": pick((400_000, 0, 1_500_000)),
        "write_settle_ns": pick((0, 400_000)),
        "read_overhead_ns": pick((0, 50_000, 120_000)),
        "write_overhead_ns": pick((0, 70_000)),
        "completion_overhead_ns": pick((0, 10_000)),
        "write_completion_overhead_ns": pick((None, None, 25_000)),
        "write_prefill_bytes": pick((0, 0, 6 * SECTOR, 64 << 10)),
        "interface_bytes_per_s": pick((320e6, 7e6)),
        "buffer_full_ratio": pick((0.0, 0.0, 0.3, 1.0)),
        "zero_latency": pick((False, False, True)),
        "queue": {
            "depth": pick((1, 4, 32)),
            "scheduler": pick(DRIVE_SCHEDULERS),
            "age_ns": pick((300_000_000, 9_000_000)),
            "weighed": pick((None, None, 1, 3)),
            "weighed_writes": pick((None, 2)),
            "miss_margin_ns": pick((0, 900_000, 2_000_000)),
            "age_weight": (weight := pick((0.2, 0.0, 1.0))),
            # not drawn for itself: cases stay what they were
            "miss_ratio": 0.0 if weight else 0.25,
            "overdue_ns": 20_000_000 if weight == 1.0 else None,
            "committed": pick((0, 1, 3)),
        },
    }
    if pick((False, True)):
        drive["cache"] = {
            "size_bytes": pick((128 << 10, 32 << 10)),
            "segments": pick((1, 2, 4)),
            "read_ahead_bytes": pick((0, 8 << 10, 128 << 10)),
            "write_back": pick((False, True)),
            "read_ahead_to": pick(("limit", "limit", "track", "own-track", "whole-track")),
            "read_on_arrival": pick((False, False, True)),
            "write_drops": pick(("overlap", "overlap", "all")),
            "keeps_writes": pick((False, False, True)),
        }
    return drive | _irregular(pick, drive["zero_latency"])


def _irregular(pick: Pick, zero_latency: bool) -> dict[str, Any]:
    """What makes accesses of some drives differ from each other: direction, operation, chance."""
    drive: dict[str, Any] = {"seek_inward_ns": pick((0, 0, 251_001, -120_000))}
    if pick((False, False, True)):
        drive["write_seek"] = {"kind": "table", "distance": [1, 10, 30], "time_ms": pick(([0.5, 2.0, 1.5], [1, 3, 4]))}
    if zero_latency:
        drive["zero_latency_ratio"] = pick((1.0, 0.6))
    if pick((False, False, True)):
        drive["retries"] = {
            "ratio": pick((0.02, 0.3)),
            "time_ns": pick(([4_000_000], [8_333_333, 8_333_333, 25_000_000])),
        }
    return drive
